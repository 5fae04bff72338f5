! SPDX-License-Identifier: BSD-3-Clause
! Products of each type through the Fortran module, in memory of the device, beside Fortran's own
! matmul: one, a batch by strides, a batch by addresses; and the sentence of a call that fails.
program fortran
  use, intrinsic :: iso_c_binding
  use xgemm
  implicit none
  integer(c_int64_t), parameter :: m = 5, n = 3, k = 7, batch = 2
  complex(c_double), parameter :: alpha = (2, -1), beta = (3, 0.5)
  ! What is multiplied, whatever the type; B is given as its conjugate transpose.
  complex(c_double) :: a(m * k * batch), b(n * k * batch), c(m * n * batch), want(m * n * batch)
  type(c_ptr) :: handle, da, db, dc, lists, list(3)
  integer :: i

  call check(xgemm_create(handle, XGEMM_DEVICE_AUTO), c_null_ptr)
  do i = 1, 4
    call products('sdcz' (i:i))
  end do
  if (xgemm_set_kernel(handle, 'none' // c_null_char) == XGEMM_OK) error stop 'there is a kernel none'
  if (index(xgemm_error_text(handle), '"none"') == 0) error stop 'no sentence for an unknown kernel'
  call xgemm_destroy(handle)
  print '(a)', 'right'

contains

  subroutine products(type)
    character, intent(in) :: type
    integer :: i
    call random(a, type)
    call random(b, type)
    call random(c, type)
    do i = 0, batch - 1
      want(i * m * n + 1:(i + 1) * m * n) = product_of(a(i * m * k + 1:), b(i * n * k + 1:), c(i * m * n + 1:), type)
    end do
    da = on_device(a, type)
    db = on_device(b, type)
    dc = on_device(c, type)
    call make_lists(type)

    select case (type)
    case ('s')
      call check(xgemm_sgemm(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        real(alpha, c_float), da, m, db, n, real(beta, c_float), dc, m), handle)
      call compare('xgemm_sgemm', type, 1)
      call check(xgemm_sgemm_strided_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        real(alpha, c_float), da, m, m * k, db, n, n * k, real(beta, c_float), dc, m, m * n, batch), handle)
      call compare('xgemm_sgemm_strided_batched', type, 2)
      call check(xgemm_sgemm_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        real(alpha, c_float), list(1), m, list(2), n, real(beta, c_float), list(3), m, batch), handle)
    case ('d')
      call check(xgemm_dgemm(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        real(alpha), da, m, db, n, real(beta), dc, m), handle)
      call compare('xgemm_dgemm', type, 1)
      call check(xgemm_dgemm_strided_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        real(alpha), da, m, m * k, db, n, n * k, real(beta), dc, m, m * n, batch), handle)
      call compare('xgemm_dgemm_strided_batched', type, 2)
      call check(xgemm_dgemm_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        real(alpha), list(1), m, list(2), n, real(beta), list(3), m, batch), handle)
    case ('c')
      call check(xgemm_cgemm(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        cmplx(alpha, kind=c_float), da, m, db, n, cmplx(beta, kind=c_float), dc, m), handle)
      call compare('xgemm_cgemm', type, 1)
      call check(xgemm_cgemm_strided_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        cmplx(alpha, kind=c_float), da, m, m * k, db, n, n * k, cmplx(beta, kind=c_float), dc, m, m * n, batch), &
        handle)
      call compare('xgemm_cgemm_strided_batched', type, 2)
      call check(xgemm_cgemm_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        cmplx(alpha, kind=c_float), list(1), m, list(2), n, cmplx(beta, kind=c_float), list(3), m, batch), handle)
    case ('z')
      call check(xgemm_zgemm(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, alpha, da, m, &
        db, n, beta, dc, m), handle)
      call compare('xgemm_zgemm', type, 1)
      call check(xgemm_zgemm_strided_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        alpha, da, m, m * k, db, n, n * k, beta, dc, m, m * n, batch), handle)
      call compare('xgemm_zgemm_strided_batched', type, 2)
      call check(xgemm_zgemm_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_CONJ_TRANS, m, n, k, &
        alpha, list(1), m, list(2), n, beta, list(3), m, batch), handle)
    end select
    call compare('xgemm_' // type // 'gemm_batched', type, 2)
    call check(xgemm_free(handle, da), handle)
    call check(xgemm_free(handle, db), handle)
    call check(xgemm_free(handle, dc), handle)
    call check(xgemm_free(handle, lists), handle)
  end subroutine

  subroutine check(status, of)
    integer(c_int), intent(in) :: status
    type(c_ptr), intent(in) :: of
    if (status == XGEMM_OK) return
    print '(a)', xgemm_error_text(of)
    error stop
  end subroutine

  ! Values that the type has.
  subroutine random(values, type)
    complex(c_double), intent(out) :: values(:)
    character, intent(in) :: type
    real(c_double) :: parts(size(values), 2)
    call random_number(parts)
    if (scan(type, 'sc') > 0) parts = real(real(parts, c_float), c_double)
    if (scan(type, 'sd') > 0) parts(:, 2) = 0
    values = cmplx(parts(:, 1), parts(:, 2), c_double)
  end subroutine

  function product_of(x, y, before, type) result(values)
    complex(c_double), intent(in) :: x(m, k), y(n, k), before(m, n)
    character, intent(in) :: type
    complex(c_double) :: values(m * n), sums(m, n)
    if (scan(type, 'sd') > 0) then
      sums = real(alpha) * matmul(x, transpose(y)) + real(beta) * before
    else
      sums = alpha * matmul(x, conjg(transpose(y))) + beta * before
    end if
    values = reshape(sums, [m * n])
  end function

  ! The values as elements of the type, in bytes.
  function elements(values, type) result(bytes)
    complex(c_double), intent(in) :: values(:)
    character, intent(in) :: type
    integer(c_int8_t), allocatable :: bytes(:)
    select case (type)
    case ('s')
      bytes = transfer(real(values, c_float), [0_c_int8_t])
    case ('d')
      bytes = transfer(real(values), [0_c_int8_t])
    case ('c')
      bytes = transfer(cmplx(values, kind=c_float), [0_c_int8_t])
    case default
      bytes = transfer(values, [0_c_int8_t])
    end select
  end function

  function values_of(bytes, type) result(values)
    integer(c_int8_t), intent(in) :: bytes(:)
    character, intent(in) :: type
    complex(c_double), allocatable :: values(:)
    select case (type)
    case ('s')
      values = transfer(bytes, [0.0_c_float])
    case ('d')
      values = transfer(bytes, [0.0_c_double])
    case ('c')
      values = transfer(bytes, [(0.0_c_float, 0.0_c_float)])
    case default
      values = transfer(bytes, [(0.0_c_double, 0.0_c_double)])
    end select
  end function

  function on_device(values, type) result(memory)
    complex(c_double), intent(in) :: values(:)
    character, intent(in) :: type
    type(c_ptr) :: memory
    integer(c_int8_t), allocatable, target :: bytes(:)
    allocate (bytes, source=elements(values, type))
    call check(xgemm_malloc(handle, size(bytes, kind=c_size_t), memory), handle)
    call check(xgemm_upload(handle, memory, c_loc(bytes), size(bytes, kind=c_size_t)), handle)
  end function

  ! Addresses of the batch's matrices of A, B and C, in the device's memory.
  subroutine make_lists(type)
    character, intent(in) :: type
    integer(c_intptr_t), target :: addresses(batch, 3)
    integer(c_size_t) :: bytes
    integer :: i
    bytes = size(elements([alpha], type), kind=c_size_t)
    do i = 1, batch
      addresses(i, :) = [transfer(da, 0_c_intptr_t), transfer(db, 0_c_intptr_t), transfer(dc, 0_c_intptr_t)] + &
        (i - 1) * bytes * [m * k, n * k, m * n]
    end do
    call check(xgemm_malloc(handle, c_sizeof(addresses), lists), handle)
    call check(xgemm_upload(handle, lists, c_loc(addresses), c_sizeof(addresses)), handle)
    do i = 1, 3
      list(i) = transfer(transfer(lists, 0_c_intptr_t) + (i - 1) * batch * c_sizeof(lists), list(i))
    end do
  end subroutine

  ! So many products are as wanted, the others as before; then C is as before.
  subroutine compare(what, type, products)
    character(*), intent(in) :: what
    character, intent(in) :: type
    integer, intent(in) :: products
    complex(c_double) :: expected(size(c))
    real(c_double) :: tolerance
    integer(c_int8_t), allocatable, target :: bytes(:)
    expected = c
    expected(:products * m * n) = want(:products * m * n)
    tolerance = merge(1e-4_c_double, 1e-12_c_double, scan(type, 'sc') > 0)
    allocate (bytes, source=elements(c, type))
    call check(xgemm_download(handle, c_loc(bytes), dc, size(bytes, kind=c_size_t)), handle)
    if (any(abs(values_of(bytes, type) - expected) > tolerance)) then
      print '(2a)', what, ': wrong'
      error stop
    end if
    bytes = elements(c, type)
    call check(xgemm_upload(handle, dc, c_loc(bytes), size(bytes, kind=c_size_t)), handle)
  end subroutine
end program
