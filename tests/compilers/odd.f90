! Procedures whose arrays fold, or must not: what they print is the same.
module odd
  implicit none
  integer, parameter :: n = 120
contains
  subroutine sized(n, image, result)  ! sizes that are known when it runs; also zero and negative ones
    integer, intent(in) :: n
    real(8), intent(in) :: image(n, n)
    real(8), intent(inout) :: result(n, n)
    real(8), allocatable :: rows(:, :)
    integer :: x, y
    allocate (rows(n, n))
    do y = 1, n
      do x = 1, n
        rows(x, y) = image(x, y) * 2
        if (y >= 4) result(x, y) = rows(x, y - 3) + rows(x, y - 1)
      end do
    end do
  end subroutine

  subroutine automatic(n, image, result)  ! the same on the stack, with bounds that do not begin at 1
    integer, intent(in) :: n
    real(8), intent(in) :: image(n, n)
    real(8), intent(inout) :: result(n, n)
    real(8) :: rows(0:n - 1, -2:n - 3)
    integer :: x, y
    do y = 1, n
      do x = 1, n
        rows(x - 1, y - 3) = image(x, y) + 1
        if (y >= 2) result(x, y) = result(x, y) + rows(x - 1, y - 4) * rows(x - 1, y - 3)
      end do
    end do
  end subroutine

  subroutine shaped(image, result)  ! assumed shapes, with strides that the caller chooses
    real(8), intent(in) :: image(:, :)
    real(8), intent(inout) :: result(:, :)
    real(8) :: rows(n, n)
    integer :: x, y
    do y = 1, n
      do x = 1, n
        rows(x, y) = image(x, y) - 3
        if (y >= 2) result(x, y) = result(x, y) + rows(x, y - 1) * rows(x, y)
      end do
    end do
  end subroutine

  subroutine backwards(image, result)
    real(8), intent(in) :: image(n, n)
    real(8), intent(inout) :: result(n, n)
    real(8) :: rows(n, n)
    integer :: x, y
    do y = n, 1, -1
      do x = n, 1, -1
        rows(x, y) = image(x, y) * y
        if (y <= n - 2) result(x, y) = result(x, y) + rows(x, y + 2) - rows(x, y + 1)
      end do
    end do
  end subroutine

  subroutine kept_values(image, result)  ! a saved array, whose values the next call reads
    real(8), intent(in) :: image(n)
    real(8), intent(inout) :: result(n)
    real(8), save :: last(n) = 1
    integer :: i
    do i = 1, n
      result(i) = result(i) + last(i)
      last(i) = image(i)
    end do
  end subroutine

  subroutine guarded(image, result)  ! a value that need not be written
    real(8), intent(in) :: image(n, n)
    real(8), intent(inout) :: result(n, n)
    real(8), allocatable :: rows(:, :)
    integer :: x, y
    allocate (rows(n, n))
    rows = 0
    do y = 1, n
      do x = 1, n
        if (image(x, y) > 3) rows(x, y) = image(x, y)
        if (y >= 2) result(x, y) = result(x, y) + rows(x, y - 1) + rows(x, y)
      end do
    end do
  end subroutine

  subroutine gathered(places, image, result)
    integer, intent(in) :: places(n)
    real(8), intent(in) :: image(n)
    real(8), intent(inout) :: result(n)
    real(8) :: values(n)
    integer :: i
    do i = 1, n
      values(i) = image(i) * 2
    end do
    do i = 1, n
      result(i) = result(i) + values(places(i))
    end do
  end subroutine

  function passed_on(image) result(total)  ! another procedure sees the array
    real(8), intent(in) :: image(n, n)
    real(8) :: total
    real(8), allocatable :: rows(:, :)
    integer :: y
    allocate (rows(n, n))
    total = 0
    do y = 1, n
      rows(:, y) = image(:, y)
      total = total + rows(7, y)
    end do
    call look(rows, total)
  end function

  subroutine look(rows, total)
    !dir$ noinline
    real(8), intent(in) :: rows(:, :)
    real(8), intent(inout) :: total
    total = total + sum(rows(:, 2)) + rows(5, 5)
    if (total < 0) print *, rows
  end subroutine
end module

program main
  use odd
  implicit none
  real(8) :: image(n, n), result(n, n), sums(n)
  integer :: places(n), i, x, y
  do y = 1, n
    places(y) = mod(y * 37, n) + 1
    do x = 1, n
      image(x, y) = mod(x * 7 + y * 3, 11)
    end do
  end do
  result = 0
  sums = 0
  do i = -1, 6
    call sized(i, image, result)
    call automatic(i, image, result)
  end do
  call sized(n, image, result)
  call automatic(n, image, result)
  call shaped(image, result)
  call shaped(image(n:1:-1, :), result(n:1:-1, :))
  call backwards(image, result)
  call kept_values(image(:, 1), sums)
  call kept_values(image(:, 2), sums)
  call guarded(image, result)
  call gathered(places, image(:, 3), sums)
  print '(4f20.6)', sum(result), result(5, 9), sum(sums), passed_on(image)
  do y = 1, n, 7
    print '(f20.6)', sum(result(:, y) * image(:, 3))
  end do
end program
