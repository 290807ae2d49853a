! An allocatable array that holds all time steps.
module heat
  implicit none
  integer, parameter :: steps = 1500, n = 4000
contains
  subroutine jacobi(first, last)
    real(8), intent(in) :: first(n)
    real(8), intent(out) :: last(n)
    real(8), allocatable :: u(:, :)
    integer :: i, t
    allocate (u(n, steps))
    u(:, 1) = first
    do t = 2, steps
      u(1, t) = u(1, t - 1)
      u(n, t) = u(n, t - 1)
      do i = 2, n - 1
        u(i, t) = (u(i - 1, t - 1) + u(i, t - 1) + u(i + 1, t - 1)) * 0.25
      end do
    end do
    last = u(:, steps)
    deallocate (u)
  end subroutine
end module

program main
  use heat
  implicit none
  real(8) :: first(n), last(n)
  integer :: i
  do i = 1, n
    first(i) = mod(i * 7, 11)
  end do
  call jacobi(first, last)
  print '(es12.6)', sum(last)
end program
