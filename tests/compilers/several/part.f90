module parts
  implicit none
  integer, parameter :: n = 300
contains
  subroutine part(image, result)
    real(8), intent(in) :: image(n, n)
    real(8), intent(inout) :: result(n, n)
    real(8) :: rows(n, n)
    integer :: x, y
    do y = 1, n
      do x = 1, n
        rows(x, y) = image(x, y) * 2
        if (y >= 2) result(x, y) = rows(x, y - 1) + rows(x, y)
      end do
    end do
  end subroutine
end module
