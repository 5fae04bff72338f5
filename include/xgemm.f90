! SPDX-License-Identifier: BSD-3-Clause
!
! libxgemm from Fortran 2003: matrix multiplication on NVIDIA GPUs. Compile this file with your
! program's compiler (module files differ between them) and link with libxgemm:
!
!   gfortran -c $(pkg-config --variable=includedir xgemm)/xgemm.f90
!   gfortran product.f90 xgemm.o $(pkg-config --libs xgemm)
!
! Each function is the C function of its name, with the same arguments, results, ownership and
! rules of threads: see its manual page, xgemm_sgemm(3) and so on. Sizes and leading dimensions are
! 64-bit integers, in elements, bytes where C has size_t. Matrices are addresses in the memory of
! the handle's device (xgemm_malloc, or a CUDA runtime's), of type c_ptr: for the CPU and the
! simulator c_loc() of an array with the attribute target serves. Fortran's arrays are in column
! order: XGEMM_COL_MAJOR. Functions return XGEMM_OK = 0 or a negative status, of which
! xgemm_error_text() has the sentence.
module xgemm
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_double_complex, c_f_pointer, &
    c_float, c_float_complex, c_int, c_int64_t, c_null_char, c_ptr, c_size_t
  implicit none
  private :: c_associated, c_char, c_double, c_double_complex, c_f_pointer, c_float, c_float_complex, &
    c_int, c_int64_t, c_null_char, c_ptr, c_size_t

  integer(c_int), parameter :: XGEMM_OK = 0
  integer(c_int), parameter :: XGEMM_DEVICE_AUTO = -1
  integer(c_int), parameter :: XGEMM_DEVICE_CPU = -2
  integer(c_int), parameter :: XGEMM_DEVICE_SIM = -3
  integer(c_int), parameter :: XGEMM_ROW_MAJOR = 101
  integer(c_int), parameter :: XGEMM_COL_MAJOR = 102
  integer(c_int), parameter :: XGEMM_NO_TRANS = 111
  integer(c_int), parameter :: XGEMM_TRANS = 112
  integer(c_int), parameter :: XGEMM_CONJ_TRANS = 113
  integer(c_int), parameter :: XGEMM_REPRODUCIBLE_NONE = -1
  integer(c_int), parameter :: XGEMM_REPRODUCIBLE_RUN = 0
  integer(c_int), parameter :: XGEMM_REPRODUCIBLE_ELEMENT = 1
  integer(c_int), parameter :: XGEMM_MATH_DEFAULT = 0
  integer(c_int), parameter :: XGEMM_MATH_STRICT = 1
  integer(c_int), parameter :: XGEMM_MATH_TF32 = 2

  interface
    ! ---- Handles ----
    function xgemm_create(handle, device) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: handle
      integer(c_int), value :: device
      integer(c_int) :: status
    end function
    subroutine xgemm_destroy(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
    function xgemm_set_stream(handle, stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle, stream
      integer(c_int) :: status
    end function
    function xgemm_set_math(handle, math) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: math
      integer(c_int) :: status
    end function
    function xgemm_set_reproducible(handle, reproducible) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: reproducible
      integer(c_int) :: status
    end function
    ! name ends with c_null_char: "naive" // c_null_char
    function xgemm_set_kernel(handle, name) bind(c) result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: status
    end function
    function xgemm_set_workspace(handle, memory, bytes) bind(c) result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle, memory
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function
    function xgemm_get_device(handle) bind(c) result(device)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int) :: device
    end function
    function xgemm_synchronize(handle) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int) :: status
    end function
    function xgemm_device_count() bind(c) result(count)
      import :: c_int
      integer(c_int) :: count
    end function
    ! Addresses of C strings: xgemm_error_text() has the first as text.
    function xgemm_last_error(handle) bind(c) result(text)
      import :: c_ptr
      type(c_ptr), value :: handle
      type(c_ptr) :: text
    end function
    function xgemm_last_kernel(handle) bind(c) result(text)
      import :: c_ptr
      type(c_ptr), value :: handle
      type(c_ptr) :: text
    end function

    ! ---- Memory of the device ----
    function xgemm_malloc(handle, bytes, memory) bind(c) result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(out) :: memory
      integer(c_int) :: status
    end function
    function xgemm_free(handle, memory) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle, memory
      integer(c_int) :: status
    end function
    function xgemm_upload(handle, device_memory, host_memory, bytes) bind(c) result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle, device_memory, host_memory
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function
    function xgemm_download(handle, host_memory, device_memory, bytes) bind(c) result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle, host_memory, device_memory
      integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function

    ! ---- Products: C = alpha op(A) op(B) + beta C ----
    ! Single precision, then double, then complex numbers of both. Of the batches without strides a, b and
    ! c are addresses of arrays of addresses, in the device's memory.
    function xgemm_sgemm(handle, order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) &
      bind(c) result(status)
      import :: c_float, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_float), value :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_sgemm_strided_batched(handle, order, transa, transb, m, n, k, alpha, a, lda, stride_a, &
      b, ldb, stride_b, beta, c, ldc, stride_c, batch_count) bind(c) result(status)
      import :: c_float, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, batch_count
      real(c_float), value :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_sgemm_batched(handle, order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
      batch_count) bind(c) result(status)
      import :: c_float, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc, batch_count
      real(c_float), value :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_dgemm(handle, order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) &
      bind(c) result(status)
      import :: c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      real(c_double), value :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_dgemm_strided_batched(handle, order, transa, transb, m, n, k, alpha, a, lda, stride_a, &
      b, ldb, stride_b, beta, c, ldc, stride_c, batch_count) bind(c) result(status)
      import :: c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, batch_count
      real(c_double), value :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_dgemm_batched(handle, order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
      batch_count) bind(c) result(status)
      import :: c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc, batch_count
      real(c_double), value :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_cgemm(handle, order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) &
      bind(c) result(status)
      import :: c_float_complex, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_cgemm_strided_batched(handle, order, transa, transb, m, n, k, alpha, a, lda, stride_a, &
      b, ldb, stride_b, beta, c, ldc, stride_c, batch_count) bind(c) result(status)
      import :: c_float_complex, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, batch_count
      complex(c_float_complex), intent(in) :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_cgemm_batched(handle, order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
      batch_count) bind(c) result(status)
      import :: c_float_complex, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc, batch_count
      complex(c_float_complex), intent(in) :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_zgemm(handle, order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) &
      bind(c) result(status)
      import :: c_double_complex, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_zgemm_strided_batched(handle, order, transa, transb, m, n, k, alpha, a, lda, stride_a, &
      b, ldb, stride_b, beta, c, ldc, stride_c, batch_count) bind(c) result(status)
      import :: c_double_complex, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, batch_count
      complex(c_double_complex), intent(in) :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
    function xgemm_zgemm_batched(handle, order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, &
      batch_count) bind(c) result(status)
      import :: c_double_complex, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: order, transa, transb
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc, batch_count
      complex(c_double_complex), intent(in) :: alpha, beta
      type(c_ptr), value :: a, b, c
      integer(c_int) :: status
    end function
  end interface

contains

  ! The sentence of the last call that failed: of the handle, or for c_null_ptr of the thread.
  function xgemm_error_text(handle) result(text)
    type(c_ptr), intent(in) :: handle
    character(:), allocatable :: text
    text = xgemm_text(xgemm_last_error(handle))
  end function

  ! A C string as text; empty for c_null_ptr.
  function xgemm_text(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: length, i
    length = 0
    if (c_associated(address)) then
      call c_f_pointer(address, characters, [huge(length)])
      do while (characters(length + 1) /= c_null_char)
        length = length + 1
      end do
    end if
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function
end module xgemm
