dnl SPDX-License-Identifier: BSD-3-Clause
dnl
dnl XGEMM_COMPLETION(SHELL, FOLDER)
dnl
dnl --with-SHELL-completion-dir=DIR: where the completion for SHELL is installed; "no" leaves it
dnl out, and so does --disable-utility. FOLDER, below DATADIR, is where the shell itself looks. Sets SHELLcompletiondir and the
dnl conditional WITH_SHELL_COMPLETION, the shell's name in capitals there.

AC_DEFUN([XGEMM_COMPLETION], [
AC_ARG_WITH([$1-completion-dir],
  [AS_HELP_STRING([--with-$1-completion-dir=DIR],
    [where the completion for $1 goes; "no" leaves it out @<:@DATADIR/$2@:>@])],
  [AS_IF([test "x$withval" = xyes], [with_$1_completion_dir='${datadir}/$2'])],
  [with_$1_completion_dir='${datadir}/$2'])
AS_IF([test "x$enable_utility" = xno], [with_$1_completion_dir=no])
AC_SUBST([$1completiondir], [$with_$1_completion_dir])
AM_CONDITIONAL([WITH_]m4_toupper([$1])[_COMPLETION], [test "x$with_$1_completion_dir" != xno])
])
