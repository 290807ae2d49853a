! Local arrays on the stack, and loops over whole rows.
program main
  implicit none
  integer, parameter :: h = 900, w = 1000
  real(4) :: image(w, h), result(w, h)
  integer :: x, y
  do y = 1, h
    do x = 1, w
      image(x, y) = mod(y * 7 + x * 3, 11)
    end do
  end do
  result = 0
  call unsharp(image, result)
  print '(f0.3)', sum(real(result, 8))
contains
  subroutine unsharp(image, result)
    real(4), intent(in) :: image(w, h)
    real(4), intent(inout) :: result(w, h)
    real(4) :: rows(w, h), blurred(w, h)
    integer :: y
    do y = 1, h
      rows(:, y) = image(:, y) * 0.25
      if (y >= 3) then
        blurred(:, y - 1) = rows(:, y - 2) + 2 * rows(:, y - 1) + rows(:, y)
        result(:, y - 1) = image(:, y - 1) * 2 - blurred(:, y - 1)
      end if
    end do
  end subroutine
end program
