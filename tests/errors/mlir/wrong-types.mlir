func.func @f(%a: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = "affine.load"(%a, %i) <{map = affine_map<(d0) -> (d0)>}> : (memref<8xf32>, index) -> f64
  }
  return
}
