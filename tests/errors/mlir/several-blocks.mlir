func.func @f(%a: memref<8xf32>, %c: i1) {
  "cf.cond_br"(%c)[^one, ^two] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
^one:
  return
^two:
  return
}
