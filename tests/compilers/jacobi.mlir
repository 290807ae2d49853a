// A Jacobi iteration whose time steps have a row each, for any number of steps.
func.func private @printF64(f64)
func.func private @printNewline()

func.func @jacobi(%in: memref<4000xf64>, %out: memref<4000xf64>, %steps: index) {
  %third = arith.constant 0.3333 : f64
  %all = memref.alloc(%steps) : memref<?x4000xf64>
  affine.for %i = 0 to 4000 {
    %v = affine.load %in[%i] : memref<4000xf64>
    affine.store %v, %all[0, %i] : memref<?x4000xf64>
  }
  affine.for %t = 1 to %steps {
    affine.for %i = 1 to 3999 {
      %a = affine.load %all[%t - 1, %i - 1] : memref<?x4000xf64>
      %b = affine.load %all[%t - 1, %i] : memref<?x4000xf64>
      %c = affine.load %all[%t - 1, %i + 1] : memref<?x4000xf64>
      %d = arith.addf %a, %b : f64
      %e = arith.addf %d, %c : f64
      %f = arith.mulf %e, %third : f64
      affine.store %f, %all[%t, %i] : memref<?x4000xf64>
    }
    %left = affine.load %all[%t - 1, 0] : memref<?x4000xf64>
    affine.store %left, %all[%t, 0] : memref<?x4000xf64>
    %right = affine.load %all[%t - 1, 3999] : memref<?x4000xf64>
    affine.store %right, %all[%t, 3999] : memref<?x4000xf64>
  }
  affine.for %i = 0 to 4000 {
    %v = affine.load %all[%steps - 1, %i] : memref<?x4000xf64>
    affine.store %v, %out[%i] : memref<4000xf64>
  }
  memref.dealloc %all : memref<?x4000xf64>
  return
}

func.func @main() {
  %in = memref.alloc() : memref<4000xf64>
  %out = memref.alloc() : memref<4000xf64>
  affine.for %i0 = 0 to 4000 {
    %r = affine.apply affine_map<(d0) -> (d0 * 3 mod 7)>(%i0)
    %n = arith.index_cast %r : index to i64
    %v = arith.sitofp %n : i64 to f64
    affine.store %v, %in[%i0] : memref<4000xf64>
  }
  affine.for %i0 = 0 to 4000 {
    %r = affine.apply affine_map<(d0) -> (d0 * 3 mod 7)>(%i0)
    %n = arith.index_cast %r : index to i64
    %v = arith.sitofp %n : i64 to f64
    affine.store %v, %out[%i0] : memref<4000xf64>
  }
  %steps = arith.constant 1500 : index
  func.call @jacobi(%in, %out, %steps) : (memref<4000xf64>, memref<4000xf64>, index) -> ()
  %weight = arith.constant 0.99 : f64
  %zero = arith.constant 0.0 : f64
  %sum = affine.for %j0 = 0 to 4000 iter_args(%s = %zero) -> (f64) {
    %v = affine.load %out[%j0] : memref<4000xf64>
    %w = arith.mulf %s, %weight : f64
    %q = arith.addf %w, %v : f64
    affine.yield %q : f64
  }
  func.call @printF64(%sum) : (f64) -> ()
  func.call @printNewline() : () -> ()
  memref.dealloc %in : memref<4000xf64>
  memref.dealloc %out : memref<4000xf64>
  return
}
