func.func @f(%a: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%i) {
      %x = affine.load %a[%i] : memref<8xf32>
    }
  }
  return
}
