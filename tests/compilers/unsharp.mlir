// An image that is sharpened by its difference to a blur, row by row.
func.func private @printF64(f64)
func.func private @printNewline()

func.func @unsharp(%in: memref<1400x1800xf64>, %out: memref<1400x1800xf64>) {
  %across = memref.alloc() : memref<1400x1800xf64>
  %both = memref.alloc() : memref<1400x1800xf64>
  affine.for %y = 0 to 1400 {
    affine.for %x = 1 to 1799 {
      %a = affine.load %in[%y, %x - 1] : memref<1400x1800xf64>
      %b = affine.load %in[%y, %x] : memref<1400x1800xf64>
      %c = affine.load %in[%y, %x + 1] : memref<1400x1800xf64>
      %d = arith.addf %a, %b : f64
      %e = arith.addf %d, %c : f64
      affine.store %e, %across[%y, %x] : memref<1400x1800xf64>
    }
    "affine.if"(%y) <{condition = affine_set<(d0) : (d0 - 2 >= 0)>}> ({
      affine.for %x = 1 to 1799 {
        %a = affine.load %across[%y - 2, %x] : memref<1400x1800xf64>
        %b = affine.load %across[%y - 1, %x] : memref<1400x1800xf64>
        %c = affine.load %across[%y, %x] : memref<1400x1800xf64>
        %d = arith.addf %a, %b : f64
        %e = arith.addf %d, %c : f64
        affine.store %e, %both[%y, %x] : memref<1400x1800xf64>
      }
      affine.for %x = 1 to 1799 {
        %a = affine.load %in[%y - 1, %x] : memref<1400x1800xf64>
        %b = affine.load %both[%y, %x] : memref<1400x1800xf64>
        %c = arith.addf %a, %a : f64
        %d = arith.subf %c, %b : f64
        affine.store %d, %out[%y, %x] : memref<1400x1800xf64>
      }
      "affine.yield"() : () -> ()
    }, {}) : (index) -> ()
  }
  memref.dealloc %across : memref<1400x1800xf64>
  memref.dealloc %both : memref<1400x1800xf64>
  return
}

func.func @main() {
  %in = memref.alloc() : memref<1400x1800xf64>
  %out = memref.alloc() : memref<1400x1800xf64>
  affine.for %i0 = 0 to 1400 {
    affine.for %i1 = 0 to 1800 {
      %r = affine.apply affine_map<(d0, d1) -> ((d0 * 3 + d1 * 5) mod 7)>(%i0, %i1)
      %n = arith.index_cast %r : index to i64
      %v = arith.sitofp %n : i64 to f64
      affine.store %v, %in[%i0, %i1] : memref<1400x1800xf64>
    }
  }
  affine.for %i0 = 0 to 1400 {
    affine.for %i1 = 0 to 1800 {
      %r = affine.apply affine_map<(d0, d1) -> ((d0 * 3 + d1 * 5) mod 7)>(%i0, %i1)
      %n = arith.index_cast %r : index to i64
      %v = arith.sitofp %n : i64 to f64
      affine.store %v, %out[%i0, %i1] : memref<1400x1800xf64>
    }
  }
  func.call @unsharp(%in, %out) : (memref<1400x1800xf64>, memref<1400x1800xf64>) -> ()
  %weight = arith.constant 0.99 : f64
  %zero = arith.constant 0.0 : f64
  %sum = affine.for %j0 = 0 to 1400 iter_args(%s = %zero) -> (f64) {
    %row = affine.for %j1 = 0 to 1800 iter_args(%p = %s) -> (f64) {
      %v = affine.load %out[%j0, %j1] : memref<1400x1800xf64>
      %w = arith.mulf %p, %weight : f64
      %q = arith.addf %w, %v : f64
      affine.yield %q : f64
    }
    affine.yield %row : f64
  }
  func.call @printF64(%sum) : (f64) -> ()
  func.call @printNewline() : () -> ()
  memref.dealloc %in : memref<1400x1800xf64>
  memref.dealloc %out : memref<1400x1800xf64>
  return
}
