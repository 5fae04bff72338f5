! SPDX-License-Identifier: BSD-3-Clause
! Products through the Fortran module, in memory of the device, beside Fortran's own matmul: one,
! a batch by strides, a batch by addresses; and the sentence of a call that fails.
program fortran
  use, intrinsic :: iso_c_binding
  use xgemm
  implicit none
  integer(c_int64_t), parameter :: m = 5, n = 3, k = 7, batch = 2
  real(c_float), target :: a(m, k, batch), b(k, n, batch), c(m, n, batch)
  real(c_float) :: want(m, n, batch)
  type(c_ptr), target :: lists(batch, 3)
  type(c_ptr) :: handle, da, db, dc, dlists, list(3)
  integer(c_size_t) :: bytes_of_lists
  integer :: i

  call random_number(a)
  call random_number(b)
  c = 1
  do i = 1, batch
    want(:, :, i) = 2 * matmul(a(:, :, i), b(:, :, i)) + 3 * c(:, :, i)
  end do

  call check(xgemm_create(handle, XGEMM_DEVICE_AUTO), c_null_ptr)
  da = on_device(c_loc(a), size(a))
  db = on_device(c_loc(b), size(b))
  dc = on_device(c_loc(c), size(c))

  call check(xgemm_sgemm(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, n, k, 2.0, da, m, db, k, &
    3.0, dc, m), handle)
  call compare('xgemm_sgemm', 1)

  call check(xgemm_sgemm_strided_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, n, k, 2.0, &
    da, m, m * k, db, k, k * n, 3.0, dc, m, m * n, batch), handle)
  call compare('xgemm_sgemm_strided_batched', 2)

  do i = 1, batch
    lists(i, 1) = advanced(da, int((i - 1) * 4 * m * k))
    lists(i, 2) = advanced(db, int((i - 1) * 4 * k * n))
    lists(i, 3) = advanced(dc, int((i - 1) * 4 * m * n))
  end do
  bytes_of_lists = c_sizeof(handle) * size(lists)
  call check(xgemm_malloc(handle, bytes_of_lists, dlists), handle)
  call check(xgemm_upload(handle, dlists, c_loc(lists), bytes_of_lists), handle)
  do i = 1, 3
    list(i) = advanced(dlists, (i - 1) * int(batch * c_sizeof(handle)))
  end do
  call check(xgemm_sgemm_batched(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, n, k, 2.0, list(1), &
    m, list(2), k, 3.0, list(3), m, batch), handle)
  call compare('xgemm_sgemm_batched', 2)

  if (xgemm_set_kernel(handle, 'none' // c_null_char) == XGEMM_OK) error stop 'there is a kernel none'
  if (index(xgemm_error_text(handle), '"none"') == 0) error stop 'no sentence for an unknown kernel'
  call check(xgemm_free(handle, da), handle)
  call check(xgemm_free(handle, db), handle)
  call check(xgemm_free(handle, dc), handle)
  call check(xgemm_free(handle, dlists), handle)
  call xgemm_destroy(handle)
  print '(a)', 'right'

contains

  subroutine check(status, of)
    integer(c_int), intent(in) :: status
    type(c_ptr), intent(in) :: of
    if (status == XGEMM_OK) return
    print '(a)', xgemm_error_text(of)
    error stop
  end subroutine

  function on_device(values, count) result(memory)
    type(c_ptr), intent(in) :: values
    integer, intent(in) :: count
    type(c_ptr) :: memory
    call check(xgemm_malloc(handle, int(4 * count, c_size_t), memory), handle)
    call check(xgemm_upload(handle, memory, values, int(4 * count, c_size_t)), handle)
  end function

  function advanced(address, bytes) result(later)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: bytes
    type(c_ptr) :: later
    later = transfer(transfer(address, 0_c_intptr_t) + bytes, later)
  end function

  ! So many products are as wanted; then C is as before.
  subroutine compare(what, products)
    character(*), intent(in) :: what
    integer, intent(in) :: products
    call check(xgemm_download(handle, c_loc(c), dc, int(4 * size(c), c_size_t)), handle)
    if (any(abs(c(:, :, :products) - want(:, :, :products)) > 1e-5 * want(:, :, :products))) then
      print '(2a)', what, ': wrong'
      error stop
    end if
    c = 1
    call check(xgemm_upload(handle, dc, c_loc(c), int(4 * size(c), c_size_t)), handle)
  end subroutine
end program
