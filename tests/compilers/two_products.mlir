// Two products of matrices, one row after the other.
func.func private @printF64(f64)
func.func private @printNewline()

func.func @products(%a: memref<2000x16xf64>, %b: memref<16x2000xf64>, %d: memref<2000x16xf64>, %e: memref<2000x16xf64>) {
  %zero = arith.constant 0.0 : f64
  %c = memref.alloc() : memref<2000x2000xf64>
  affine.for %i = 0 to 2000 {
    affine.for %j = 0 to 2000 {
      affine.store %zero, %c[%i, %j] : memref<2000x2000xf64>
      affine.for %k = 0 to 16 {
        %x = affine.load %a[%i, %k] : memref<2000x16xf64>
        %y = affine.load %b[%k, %j] : memref<16x2000xf64>
        %z = affine.load %c[%i, %j] : memref<2000x2000xf64>
        %p = arith.mulf %x, %y : f64
        %s = arith.addf %z, %p : f64
        affine.store %s, %c[%i, %j] : memref<2000x2000xf64>
      }
    }
    affine.for %l = 0 to 16 {
      affine.store %zero, %e[%i, %l] : memref<2000x16xf64>
      affine.for %j = 0 to 2000 {
        %x = affine.load %c[%i, %j] : memref<2000x2000xf64>
        %y = affine.load %d[%j, %l] : memref<2000x16xf64>
        %z = affine.load %e[%i, %l] : memref<2000x16xf64>
        %p = arith.mulf %x, %y : f64
        %s = arith.addf %z, %p : f64
        affine.store %s, %e[%i, %l] : memref<2000x16xf64>
      }
    }
  }
  memref.dealloc %c : memref<2000x2000xf64>
  return
}

func.func @main() {
  %a = memref.alloc() : memref<2000x16xf64>
  %b = memref.alloc() : memref<16x2000xf64>
  %d = memref.alloc() : memref<2000x16xf64>
  %e = memref.alloc() : memref<2000x16xf64>
  affine.for %i0 = 0 to 2000 {
    affine.for %i1 = 0 to 16 {
      %r = affine.apply affine_map<(d0, d1) -> ((d0 * 3 + d1 * 5) mod 7)>(%i0, %i1)
      %n = arith.index_cast %r : index to i64
      %v = arith.sitofp %n : i64 to f64
      affine.store %v, %a[%i0, %i1] : memref<2000x16xf64>
    }
  }
  affine.for %i0 = 0 to 16 {
    affine.for %i1 = 0 to 2000 {
      %r = affine.apply affine_map<(d0, d1) -> ((d0 * 3 + d1 * 5) mod 7)>(%i0, %i1)
      %n = arith.index_cast %r : index to i64
      %v = arith.sitofp %n : i64 to f64
      affine.store %v, %b[%i0, %i1] : memref<16x2000xf64>
    }
  }
  affine.for %i0 = 0 to 2000 {
    affine.for %i1 = 0 to 16 {
      %r = affine.apply affine_map<(d0, d1) -> ((d0 * 3 + d1 * 5) mod 7)>(%i0, %i1)
      %n = arith.index_cast %r : index to i64
      %v = arith.sitofp %n : i64 to f64
      affine.store %v, %d[%i0, %i1] : memref<2000x16xf64>
    }
  }
  affine.for %i0 = 0 to 2000 {
    affine.for %i1 = 0 to 16 {
      %r = affine.apply affine_map<(d0, d1) -> ((d0 * 3 + d1 * 5) mod 7)>(%i0, %i1)
      %n = arith.index_cast %r : index to i64
      %v = arith.sitofp %n : i64 to f64
      affine.store %v, %e[%i0, %i1] : memref<2000x16xf64>
    }
  }
  func.call @products(%a, %b, %d, %e) : (memref<2000x16xf64>, memref<16x2000xf64>, memref<2000x16xf64>, memref<2000x16xf64>) -> ()
  %weight = arith.constant 0.99 : f64
  %zero = arith.constant 0.0 : f64
  %sum = affine.for %j0 = 0 to 2000 iter_args(%s = %zero) -> (f64) {
    %row = affine.for %j1 = 0 to 16 iter_args(%p = %s) -> (f64) {
      %v = affine.load %e[%j0, %j1] : memref<2000x16xf64>
      %w = arith.mulf %p, %weight : f64
      %q = arith.addf %w, %v : f64
      affine.yield %q : f64
    }
    affine.yield %row : f64
  }
  func.call @printF64(%sum) : (f64) -> ()
  func.call @printNewline() : () -> ()
  memref.dealloc %a : memref<2000x16xf64>
  memref.dealloc %b : memref<16x2000xf64>
  memref.dealloc %d : memref<2000x16xf64>
  memref.dealloc %e : memref<2000x16xf64>
  return
}
