dnl SPDX-License-Identifier: BSD-3-Clause
dnl
dnl XGEMM_BLAS
dnl
dnl --with-blas=check|openblas|blis|cblas|no: the BLAS behind the kernel "blas".
dnl Sets BLAS_CFLAGS, BLAS_LIBS, blas_name and have_blas (yes or no), and of xgemm.pc PC_LIBS_STATIC,
dnl PC_REQUIRES_PRIVATE and PC_LIBS_PRIVATE.

AC_DEFUN([XGEMM_BLAS], [
AC_ARG_WITH([blas],
  [AS_HELP_STRING([--with-blas=check|openblas|blis|cblas|no],
    [the CPU's BLAS, through its CBLAS interface; cblas is any other @<:@check@:>@])],
  [], [with_blas=check])
AC_ARG_VAR([BLAS_CFLAGS], [compiler flags for the BLAS, in place of what pkg-config says])
AC_ARG_VAR([BLAS_LIBS], [linker flags for the BLAS, in place of what pkg-config says])
AS_CASE([$with_blas],
  [check|yes], [blas_tries="openblas blis cblas"],
  [openblas|blis|cblas], [blas_tries=$with_blas],
  [no], [blas_tries=],
  [AC_MSG_ERROR([--with-blas=$with_blas: it takes check, openblas, blis, cblas or no])])

have_blas=no
blas_name=none
blas_module=
for blas in $blas_tries; do
  AS_IF([test "x$have_blas" = xno], [XGEMM_BLAS_TRY])
done
AS_IF([test "x$have_blas" = xno && test "x$with_blas" != xno && test "x$with_blas" != xcheck],
  [AC_MSG_ERROR([--with-blas=$with_blas: no such library with cblas.h and cblas_sgemm was found.
Install it (Debian: libopenblas-dev, libblis-dev or libblas-dev), or name it with BLAS_CFLAGS and
BLAS_LIBS, or use --with-blas=no, which leaves plain C to the CPU.])])
dnl What a link with the static library needs; with no other, each link. A BLAS that pkg-config knows
dnl is required by its name, whose file --exists and --cflags then want, too; another one, or one that
dnl BLAS_LIBS names, is in flags.
PC_LIBS_STATIC= PC_REQUIRES_PRIVATE= PC_LIBS_PRIVATE=
AS_IF([test "x$enable_static" = xyes],
  [PC_REQUIRES_PRIVATE=$blas_module PC_LIBS_PRIVATE=$LIBS
   AS_IF([test -z "$blas_module"], [PC_LIBS_PRIVATE="$BLAS_LIBS $LIBS"])])
AS_IF([test "x$enable_shared" = xno], [PC_LIBS_STATIC="$BLAS_LIBS $LIBS"])
AC_SUBST([PC_LIBS_STATIC])
AC_SUBST([PC_REQUIRES_PRIVATE])
AC_SUBST([PC_LIBS_PRIVATE])
AC_SUBST([BLAS_CFLAGS])
AC_SUBST([BLAS_LIBS])
])

dnl BLAS_CFLAGS and BLAS_LIBS if the caller set them, else pkg-config's, else the plain name.
AC_DEFUN([XGEMM_BLAS_TRY], [
  AC_MSG_CHECKING([for $blas])
  blas_known=
  AS_IF([test -n "$BLAS_LIBS"], [blas_cflags=$BLAS_CFLAGS blas_libs=$BLAS_LIBS],
    [test -n "$PKG_CONFIG" && $PKG_CONFIG --exists $blas 2>/dev/null],
    [blas_cflags=`$PKG_CONFIG --cflags $blas` blas_libs=`$PKG_CONFIG --libs $blas`
     blas_known=$blas],
    [blas_cflags= blas_libs=-l$blas])
  blas_save_cppflags=$CPPFLAGS blas_save_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $blas_cflags" LIBS="$blas_libs $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cblas.h>]],
      [[float x = 0.0f;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, x, &x, 1, &x, 1, x, &x, 1);]])],
    [AC_MSG_RESULT([yes])
     have_blas=yes blas_name=$blas BLAS_CFLAGS=$blas_cflags BLAS_LIBS=$blas_libs
     blas_module=$blas_known],
    [AC_MSG_RESULT([no])])
  CPPFLAGS=$blas_save_cppflags LIBS=$blas_save_libs
])
