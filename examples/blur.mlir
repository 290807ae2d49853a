// Two stages of a blur in the loops of one: rows of %rows are needed for two more rows.
func.func @blur(%in: memref<1024x1024xf32>, %out: memref<1024x1024xf32>) {
  %rows = memref.alloc() : memref<1024x1024xf32>
  affine.for %y = 0 to 1024 {
    affine.for %x = 0 to 1024 {
      %a = affine.load %in[%y, %x] : memref<1024x1024xf32>
      %b = arith.mulf %a, %a : f32
      affine.store %b, %rows[%y, %x] : memref<1024x1024xf32>
      "affine.if"(%y) <{condition = affine_set<(d0) : (d0 - 2 >= 0)>}> ({
        %c = affine.load %rows[%y - 2, %x] : memref<1024x1024xf32>
        %d = affine.load %rows[%y - 1, %x] : memref<1024x1024xf32>
        %e = affine.load %rows[%y, %x] : memref<1024x1024xf32>
        %f = arith.addf %c, %d : f32
        %g = arith.addf %f, %e : f32
        affine.store %g, %out[%y, %x] : memref<1024x1024xf32>
        "affine.yield"() : () -> ()
      }, {}) : (index) -> ()
    }
  }
  memref.dealloc %rows : memref<1024x1024xf32>
  return
}
