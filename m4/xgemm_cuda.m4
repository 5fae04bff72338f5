dnl SPDX-License-Identifier: BSD-3-Clause
dnl
dnl XGEMM_CUDA
dnl
dnl --with-cuda=check|yes|no|DIR: whether nvcc compiles the kernels.
dnl --with-cuda-arch=LIST: for which architectures ("80 90"); each is tried.
dnl Honours NVCC and NVCCFLAGS. Sets NVCC, NVCC_GENCODE, CUDA_OLDEST (the
dnl lowest compute capability), cuda_archs, have_cuda (yes or no).

AC_DEFUN([XGEMM_CUDA], [
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags])
AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda@<:@=check|yes|no|DIR@:>@],
    [compile the GPU kernels with nvcc, of the CUDA toolkit in DIR @<:@check@:>@])],
  [], [with_cuda=check])
AC_ARG_WITH([cuda-arch],
  [AS_HELP_STRING([--with-cuda-arch=LIST],
    [compute capabilities to compile for, such as "80 90" @<:@all of 80 90 that nvcc knows@:>@])],
  [], [with_cuda_arch=])

have_cuda=no
have_sm90a=no
NVCC_GENCODE_SM90=
cuda_why=
AS_CASE([$with_cuda],
  [no], [cuda_why="switched off"],
  [xgemm_cuda_find_nvcc
   xgemm_cuda_try_archs])

AS_IF([test "x$have_cuda" = xno && test "x$with_cuda" != xno && test "x$with_cuda" != xcheck],
  [AC_MSG_ERROR([--with-cuda=$with_cuda: $cuda_why. Install the CUDA toolkit (package
nvidia-cuda-toolkit or cuda-nvcc), or name its compiler: ./configure NVCC=/path/to/nvcc; or
leave the GPU out: --without-cuda. config.log has the details.])])
AS_IF([test "x$have_cuda" = xno], [CUDA_OLDEST=0])
AC_SUBST([NVCC_GENCODE])
AC_SUBST([NVCC_GENCODE_SM90])
AM_CONDITIONAL([WITH_SM90A], [test "x$have_sm90a" = xyes])
AC_SUBST([CUDA_OLDEST])
AM_CONDITIONAL([WITH_CUDA], [test "x$have_cuda" = xyes])
])

dnl Shell functions of XGEMM_CUDA, defined before it.
AC_DEFUN([XGEMM_CUDA_FUNCTIONS], [
xgemm_cuda_find_nvcc () {
  cuda_dirs="/usr/local/cuda/bin:/opt/cuda/bin"
  AS_CASE([$with_cuda],
    [check|yes], [cuda_path="$PATH:$cuda_dirs"],
    [cuda_path="$with_cuda/bin"])
  AC_PATH_PROG([NVCC], [nvcc], [], [$cuda_path])
}

# One architecture, by compiling for it: nvcc's own list leaves some out.
xgemm_cuda_compiles () {
  cat > conftest.cu <<_XGEMM
extern "C" __global__ void probe(float *x) { x@<:@threadIdx.x@:>@ += 1.0f; }
_XGEMM
  echo "$NVCC $NVCCFLAGS -gencode arch=compute_$[]1,code=sm_$[]1 -fatbin conftest.cu" >&AS_MESSAGE_LOG_FD
  $NVCC $NVCCFLAGS -gencode arch=compute_$[]1,code=sm_$[]1 -fatbin -o conftest.fatbin conftest.cu \
    >&AS_MESSAGE_LOG_FD 2>&1
  cuda_status=$?
  rm -f conftest.cu conftest.fatbin
  return $cuda_status
}

# The instructions of compute capability 9.0 that no later one has.
xgemm_cuda_try_sm90a () {
  AS_CASE([" $cuda_archs "], [*" 90"*], [], [return 0])
  AC_MSG_CHECKING([whether $NVCC compiles for sm_90a])
  AS_IF([xgemm_cuda_compiles 90a],
    [AC_MSG_RESULT([yes])
     have_sm90a=yes
     NVCC_GENCODE_SM90="-gencode arch=compute_90a,code=sm_90a"],
    [AC_MSG_RESULT([no])])
}

xgemm_cuda_try_archs () {
  AS_IF([test -z "$NVCC"], [cuda_why="nvcc was not found"; return 0])
  cuda_archs=
  NVCC_GENCODE=
  CUDA_OLDEST=
  for arch in `echo "${with_cuda_arch:-80 90}" | tr ',' ' '`; do
    arch=`echo "$arch" | sed 's/^sm_//'`
    AC_MSG_CHECKING([whether $NVCC compiles for sm_$arch])
    AS_IF([xgemm_cuda_compiles "$arch"],
      [AC_MSG_RESULT([yes])
       cuda_archs="$cuda_archs${cuda_archs:+ }$arch"
       NVCC_GENCODE="$NVCC_GENCODE${NVCC_GENCODE:+ }-gencode arch=compute_$arch,code=sm_$arch"
       arch=`echo "$arch" | tr -d 'a-z'`
       AS_IF([test -z "$CUDA_OLDEST" || test "$arch" -lt "$CUDA_OLDEST"], [CUDA_OLDEST=$arch])],
      [AC_MSG_RESULT([no])
       AS_IF([test -n "$with_cuda_arch"],
         [AC_MSG_ERROR([--with-cuda-arch: $NVCC cannot compile for sm_$arch; config.log says why])])])
  done
  AS_IF([test -z "$cuda_archs"],
    [cuda_why="$NVCC compiles for none of the architectures tried"],
    [have_cuda=yes
     xgemm_cuda_try_sm90a
     # Code for later cards, which the driver compiles when a kernel is loaded.
     NVCC_GENCODE="$NVCC_GENCODE -gencode arch=compute_$CUDA_OLDEST,code=compute_$CUDA_OLDEST"])
}
])
