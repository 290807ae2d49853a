program main
  use parts
  implicit none
  real(8) :: image(n, n), result(n, n)
  integer :: i
  image = reshape([(real(mod(i, 17), 8), i = 1, n * n)], [n, n])
  result = 0
  call part(image, result)
  print '(f0.6)', sum(result)
end program
