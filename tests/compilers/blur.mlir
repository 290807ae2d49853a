// Two stages of a blur in the loops of one.
func.func private @printF64(f64)
func.func private @printNewline()

func.func @blur(%in: memref<1024x1024xf64>, %out: memref<1024x1024xf64>) {
  %rows = memref.alloc() : memref<1024x1024xf64>
  affine.for %y = 0 to 1024 {
    affine.for %x = 0 to 1024 {
      %a = affine.load %in[%y, %x] : memref<1024x1024xf64>
      %b = arith.mulf %a, %a : f64
      affine.store %b, %rows[%y, %x] : memref<1024x1024xf64>
      "affine.if"(%y) <{condition = affine_set<(d0) : (d0 - 2 >= 0)>}> ({
        %c = affine.load %rows[%y - 2, %x] : memref<1024x1024xf64>
        %d = affine.load %rows[%y - 1, %x] : memref<1024x1024xf64>
        %e = affine.load %rows[%y, %x] : memref<1024x1024xf64>
        %f = arith.addf %c, %d : f64
        %g = arith.addf %f, %e : f64
        affine.store %g, %out[%y, %x] : memref<1024x1024xf64>
        "affine.yield"() : () -> ()
      }, {}) : (index) -> ()
    }
  }
  memref.dealloc %rows : memref<1024x1024xf64>
  return
}

func.func @main() {
  %in = memref.alloc() : memref<1024x1024xf64>
  %out = memref.alloc() : memref<1024x1024xf64>
  affine.for %i0 = 0 to 1024 {
    affine.for %i1 = 0 to 1024 {
      %r = affine.apply affine_map<(d0, d1) -> ((d0 * 3 + d1 * 5) mod 7)>(%i0, %i1)
      %n = arith.index_cast %r : index to i64
      %v = arith.sitofp %n : i64 to f64
      affine.store %v, %in[%i0, %i1] : memref<1024x1024xf64>
    }
  }
  affine.for %i0 = 0 to 1024 {
    affine.for %i1 = 0 to 1024 {
      %r = affine.apply affine_map<(d0, d1) -> ((d0 * 3 + d1 * 5) mod 7)>(%i0, %i1)
      %n = arith.index_cast %r : index to i64
      %v = arith.sitofp %n : i64 to f64
      affine.store %v, %out[%i0, %i1] : memref<1024x1024xf64>
    }
  }
  func.call @blur(%in, %out) : (memref<1024x1024xf64>, memref<1024x1024xf64>) -> ()
  %weight = arith.constant 0.99 : f64
  %zero = arith.constant 0.0 : f64
  %sum = affine.for %j0 = 0 to 1024 iter_args(%s = %zero) -> (f64) {
    %row = affine.for %j1 = 0 to 1024 iter_args(%p = %s) -> (f64) {
      %v = affine.load %out[%j0, %j1] : memref<1024x1024xf64>
      %w = arith.mulf %p, %weight : f64
      %q = arith.addf %w, %v : f64
      affine.yield %q : f64
    }
    affine.yield %row : f64
  }
  func.call @printF64(%sum) : (f64) -> ()
  func.call @printNewline() : () -> ()
  memref.dealloc %in : memref<1024x1024xf64>
  memref.dealloc %out : memref<1024x1024xf64>
  return
}
