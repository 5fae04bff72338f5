dnl SPDX-License-Identifier: BSD-3-Clause
dnl
dnl XGEMM_CUDA
dnl
dnl --with-cuda=check|nvcc|clang|yes|no|DIR: which compiler compiles the kernels.
dnl --with-cuda-arch=LIST: for which architectures ("80 90"); each is tried.
dnl Honours NVCC, NVCCFLAGS, CLANG, CLANGFLAGS and PTXAS. Sets have_cuda (yes or no), CUDA_OLDEST
dnl (the lowest compute capability), cuda_archs, cuda_compiler (nvcc or clang), cuda_line (for the
dnl summary); NVCC, NVCC_GENCODE; CLANG, CLANG_DEVICE_FLAGS, CLANG_TENSOR_FLAGS, PTX_ARCHS,
dnl PTXAS.

AC_DEFUN([XGEMM_CUDA], [
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags])
AC_ARG_VAR([CLANG], [clang, for kernels that nvcc does not compile])
AC_ARG_VAR([CLANGFLAGS], [flags of clang for kernels])
AC_ARG_VAR([PTXAS], [NVIDIA's assembler, which checks and measures what clang compiles; no: none])
AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda@<:@=check|nvcc|clang|yes|no|DIR@:>@],
    [compile the GPU kernels with nvcc (in DIR: of that CUDA toolkit), or with clang and no toolkit;
     yes: with the first of these that there is; check: with none where neither is @<:@check@:>@])],
  [], [with_cuda=check])
AC_ARG_WITH([cuda-arch],
  [AS_HELP_STRING([--with-cuda-arch=LIST],
    [compute capabilities to compile for, 80 or later, such as "80 90" @<:@all of 80 90 that the compiler knows@:>@])],
  [], [with_cuda_arch=])

for arch in `echo "$with_cuda_arch" | tr ',' ' '`; do
  AS_CASE([`echo "$arch" | tr -cd '0-9'`],
    [@<:@89@:>@@<:@0-9@:>@|1@<:@0-9@:>@@<:@0-9@:>@], [],
    [AC_MSG_ERROR([--with-cuda-arch: $arch; the kernels need a compute capability of 80 (8.0) or later])])
done
have_cuda=no
have_sm90a=no
cuda_compiler=
NVCC_GENCODE=
NVCC_GENCODE_SM90=
PTX_ARCHS=
CLANG_DEVICE_FLAGS=
CLANG_TENSOR_FLAGS=
cuda_why=
AS_CASE([$with_cuda],
  [no], [cuda_why="switched off"],
  [clang], [xgemm_cuda_try_clang],
  [check|yes],
    [xgemm_cuda_find_nvcc
     xgemm_cuda_try_archs
     AS_IF([test "x$have_cuda" = xno], [cuda_nvcc_why=$cuda_why
       xgemm_cuda_try_clang
       cuda_why="$cuda_nvcc_why, and $cuda_why"])],
  [xgemm_cuda_find_nvcc
   xgemm_cuda_try_archs])

AS_IF([test "x$have_cuda" = xno && test "x$with_cuda" != xno && test "x$with_cuda" != xcheck],
  [AC_MSG_ERROR([--with-cuda=$with_cuda: $cuda_why. Install clang 18 or later (package clang-19), or
the CUDA toolkit (package nvidia-cuda-toolkit or cuda-nvcc); or name a compiler: ./configure
CLANG=/path/to/clang or NVCC=/path/to/nvcc; or leave the GPU out: --without-cuda. config.log has
the details.])])
AS_IF([test "x$have_cuda" = xno], [CUDA_OLDEST=0])
AC_SUBST([NVCC_GENCODE])
AC_SUBST([NVCC_GENCODE_SM90])
AC_SUBST([CLANG_DEVICE_FLAGS])
AC_SUBST([CLANG_TENSOR_FLAGS])
AC_SUBST([PTX_ARCHS])
AM_CONDITIONAL([WITH_SM90A], [test "x$have_sm90a" = xyes])
AC_SUBST([CUDA_OLDEST])
AM_CONDITIONAL([WITH_CUDA], [test "x$have_cuda" = xyes])
AM_CONDITIONAL([WITH_PTX], [test "x$cuda_compiler" = xclang])
AM_CONDITIONAL([WITH_RECORDS], [test "x$cuda_compiler" = xnvcc || test "x$PTXAS" != x])
cuda_list="sm_`echo $cuda_archs | sed 's/ / sm_/g'`"
AS_CASE([$have_cuda,$cuda_compiler],
  [yes,nvcc], [cuda_line="yes ($NVCC; $cuda_list, PTX for later cards)"],
  [yes,clang],
    [cuda_line="yes ($CLANG; PTX for $cuda_list and later, which the driver translates)"
     AS_IF([test "x$PTXAS" != x], [cuda_line="$cuda_line; checked by $PTXAS"])],
  [cuda_line="no ($cuda_why); the kernels run on the simulator only"])
])

dnl Shell functions of XGEMM_CUDA, defined before it.
AC_DEFUN([XGEMM_CUDA_FUNCTIONS], [
xgemm_cuda_find_nvcc () {
  cuda_dirs="/usr/local/cuda/bin:/opt/cuda/bin"
  AS_CASE([$with_cuda],
    [check|yes|nvcc], [cuda_path="$PATH:$cuda_dirs"],
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
     cuda_compiler=nvcc
     xgemm_cuda_try_sm90a
     # Code for later cards, which the driver compiles when a kernel is loaded.
     NVCC_GENCODE="$NVCC_GENCODE -gencode arch=compute_$CUDA_OLDEST,code=compute_$CUDA_OLDEST"
     xgemm_cuda_compress])
}

# nvcc 13's images of kernels are read by the same drivers however hard they are compressed. Those
# of compute capability 9.0 alone, which are in one image, are left at the default: they load sooner.
xgemm_cuda_compress () {
  AS_CASE([`$NVCC --version 2>&AS_MESSAGE_LOG_FD`], [*"release 1"@<:@3-9@:>@*],
    [NVCC_GENCODE="$NVCC_GENCODE --compress-mode=size"])
}

# A kernel by clang for one architecture, with more flags: as lib/backend/cuda/ptx.sh compiles it.
xgemm_clang_compiles () {
  clang_arch=$[]1
  shift
  clang_command="$clang $clang_flags $CLANGFLAGS -I$srcdir/lib -include backend/cuda/clang_shim.h \
    --cuda-gpu-arch=sm_$clang_arch -Xclang -target-feature -Xclang +ptx80 $[]* -S -o conftest.ptx \
    $srcdir/lib/families/simt/$clang_probe"
  echo "$clang_command" >&AS_MESSAGE_LOG_FD
  $clang_command >&AS_MESSAGE_LOG_FD 2>&1
  clang_status=$?
  rm -f conftest.ptx
  return $clang_status
}

# The first clang that compiles for sm_90a: version 18 is the oldest that knows it.
xgemm_cuda_find_clang () {
  # No installed CUDA toolkit is looked at; every array in a register if its loop can be unrolled;
  # what a wgmma takes but does not read has a value (else it is live from the kernel's start on).
  clang_flags="-x cuda -std=gnu++17 --cuda-device-only --cuda-path=/dev/null -nocudainc -nocudalib \
-O3 -ffp-contract=fast -ftrivial-auto-var-init=zero"
  clang_probe=tma_128x128.cu
  for clang in ${CLANG:-clang clang-22 clang-21 clang-20 clang-19 clang-18}; do
    AC_MSG_CHECKING([whether $clang compiles kernels for sm_90a])
    AS_IF([xgemm_clang_compiles 90a], [AC_MSG_RESULT([yes]); CLANG=$clang; return 0],
      [AC_MSG_RESULT([no])])
  done
  return 1
}

# Options of its optimiser that are not part of its interface: those that it has. Sinking moves the
# additions of accumulators behind the next products, which doubles the registers. A loop without a
# pragma that is unrolled for a number of steps not yet known ends by a comparison that NVIDIA's
# assembler takes wrong (ptx.awk); the assembler unrolls such loops by itself. Addresses of shared
# memory of 64 bits take two registers each, and two instructions to add to. Where accumulators take
# most registers (the family tensor), values that are computed once and kept spill.
xgemm_cuda_tune_clang () {
  xgemm_cuda_take_options "-mllvm -unroll-runtime=false" "-mllvm -pragma-unroll-threshold=200000" \
    "-mllvm -disable-machine-sink" "-mllvm -instcombine-code-sinking=false" \
    "-fcuda-short-ptr -mllvm -nvptx-short-ptr"
  clang_flags=$clang_flags$clang_taken
  CLANG_DEVICE_FLAGS=$clang_flags
  xgemm_cuda_take_options "-mllvm -disable-machine-cse -mllvm -disable-machine-licm"
  CLANG_TENSOR_FLAGS=$clang_taken
}

# Sets clang_taken to those options that it takes.
xgemm_cuda_take_options () {
  clang_taken=
  for option in "$[]@"; do
    AC_MSG_CHECKING([whether $CLANG takes $option])
    AS_IF([xgemm_clang_compiles 90a $clang_taken $option],
      [AC_MSG_RESULT([yes]); clang_taken="$clang_taken $option"], [AC_MSG_RESULT([no])])
  done
}

# NVIDIA's assembler; with PTXAS=no, none.
xgemm_cuda_find_ptxas () {
  AS_CASE([$PTXAS], [no], [PTXAS=],
    [AC_PATH_PROG([PTXAS], [ptxas], [], [$PATH:/usr/local/cuda/bin:/opt/cuda/bin])])
}

xgemm_cuda_try_clang () {
  AS_IF([xgemm_cuda_find_clang], [],
    [cuda_why="no clang was found that compiles for sm_90a"; return 0])
  xgemm_cuda_tune_clang
  have_sm90a=yes
  cuda_archs=
  CUDA_OLDEST=
  clang_probe=pipelined_128x128.cu
  for arch in `echo "${with_cuda_arch:-80 90}" | tr ', ' '\n\n' | sed 's/^sm_//' | sort -n`; do
    AC_MSG_CHECKING([whether $CLANG compiles for sm_$arch])
    AS_IF([xgemm_clang_compiles "$arch"], [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       AC_MSG_ERROR([--with-cuda-arch: $CLANG cannot compile for sm_$arch; config.log says why])])
    cuda_archs="$cuda_archs${cuda_archs:+ }$arch"
    AS_IF([test -z "$CUDA_OLDEST"], [CUDA_OLDEST=`echo "$arch" | tr -d 'a-z'`])
  done
  AS_CASE([" $cuda_archs "], [*" 90"*], [], [have_sm90a=no])
  PTX_ARCHS=$cuda_archs
  have_cuda=yes
  cuda_compiler=clang
  xgemm_cuda_find_ptxas
}
])
