! An allocatable array, in a module; the size of everything is a number.
module images
  implicit none
  integer, parameter :: n = 1024
contains
  subroutine blur(image, result)
    real(8), intent(in) :: image(n, n)
    real(8), intent(inout) :: result(n, n)
    real(8), allocatable :: rows(:, :)
    integer :: x, y
    allocate (rows(n, n))
    do y = 1, n
      do x = 1, n
        rows(x, y) = image(x, y) * 2
        if (y >= 3) result(x, y) = rows(x, y - 2) + rows(x, y - 1) + rows(x, y)
      end do
    end do
  end subroutine
end module

program main
  use images
  implicit none
  real(8), allocatable :: image(:, :), result(:, :)
  integer :: x, y
  allocate (image(n, n), result(n, n))
  do y = 1, n
    do x = 1, n
      image(x, y) = mod(x * y, 7) * 0.5d0
    end do
  end do
  result = 0
  call blur(image, result)
  print '(f0.6)', sum(result) + result(9, 9)
end program
