#map = affine_map<(d0) -> (d0 floordiv 2)>
#map1 = affine_map<(d0) -> (d0 * 2)>
module {
  func.func @domain(%arg0: memref<32xf64>, %arg1: memref<32xf64>) {
    %alloc = memref.alloc() : memref<1xf64>
    affine.for %arg2 = 0 to 16 {
      %0 = affine.apply #map(%arg2)
      %1 = affine.load %arg0[%0] : memref<32xf64>
      %2 = arith.addf %1, %1 : f64
      %3 = affine.apply #map1(%0)
      affine.store %2, %alloc[0] : memref<1xf64>
      %4 = affine.load %alloc[%arg2 mod 2] : memref<1xf64>
      %5 = arith.addf %4, %4 : f64
      affine.store %5, %arg1[%arg2] : memref<32xf64>
    }
    return
  }
}
