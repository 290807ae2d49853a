func.func @f(%a: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %a[%i + 1] : memref<8xf32>
    affine.store %x, %a[%i] : memref<8xf32>
  }
  return
}
