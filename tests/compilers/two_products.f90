! An array of the main program, which is static.
program main
  implicit none
  integer, parameter :: n = 2000, m = 4
  real(8) :: a(m, n), b(n, m), c(n, m), d(m, n), t(n, n)
  integer :: i, j, k
  do i = 1, n
    do k = 1, m
      a(k, i) = mod(i * 3 + k, 7)
      b(i, k) = mod(i + k * 5, 9)
      c(i, k) = mod(i * k, 4)
    end do
  end do
  d = 0
  do i = 1, n
    do j = 1, n
      t(j, i) = 0
      do k = 1, m
        t(j, i) = t(j, i) + a(k, i) * b(j, k)
      end do
    end do
    do j = 1, m
      do k = 1, n
        d(j, i) = d(j, i) + t(k, i) * c(k, j)
      end do
    end do
  end do
  print '(f0.3)', sum(d)
end program
