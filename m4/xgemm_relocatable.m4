dnl SPDX-License-Identifier: BSD-3-Clause
dnl
dnl XGEMM_RELOCATABLE
dnl
dnl What xgemm.pc and xgemmConfig.cmake say of folders, so that both are right after the tree was
dnl moved: the prefix as the way up from where they are installed, the others below it. A folder that
dnl is not below the prefix is named as it is. Sets PC_PREFIX, PC_LIBDIR, PC_INCLUDEDIR, cmakedir,
dnl CMAKE_UP, CMAKE_LIBDIR and CMAKE_INCLUDEDIR. After all that may change folders.

AC_DEFUN([XGEMM_RELOCATABLE], [
xgemm_save_prefix=$prefix xgemm_save_exec_prefix=$exec_prefix
test "x$prefix" = xNONE && prefix=$ac_default_prefix
test "x$exec_prefix" = xNONE && exec_prefix=$prefix

# expand NAME DIRECTORY: its variables replaced, until none is left
xgemm_expand ()
{
  xgemm_value=$[2]
  while :; do
    case $xgemm_value in
    *\$[]*) eval "xgemm_value=\"$xgemm_value\"" ;;
    *) break ;;
    esac
  done
  eval "$[1]=\$xgemm_value"
}
# below NAME DIRECTORY: its path below the prefix, empty where it is elsewhere
xgemm_below ()
{
  case $[2] in
  "$prefix"/*) eval "$[1]=\${[2]#\"\$prefix\"/}" ;;
  *) eval "$[1]=" ;;
  esac
}
AC_SUBST([cmakedir], ['${libdir}/cmake/xgemm'])
xgemm_expand xgemm_libdir "$libdir"
xgemm_expand xgemm_includedir "$includedir"
xgemm_expand xgemm_pkgconfigdir "$pkgconfigdir"
xgemm_below xgemm_lib "$xgemm_libdir"
xgemm_below xgemm_include "$xgemm_includedir"
xgemm_below xgemm_pc "$xgemm_pkgconfigdir"

PC_PREFIX=$prefix
test -n "$xgemm_pc" && PC_PREFIX="\${pcfiledir}/`AS_ECHO(["$xgemm_pc"]) | sed 's,[[^/]][[^/]]*,..,g'`"
PC_LIBDIR=$xgemm_libdir PC_INCLUDEDIR=$xgemm_includedir
test -n "$xgemm_lib" && PC_LIBDIR="\${prefix}/$xgemm_lib"
test -n "$xgemm_include" && PC_INCLUDEDIR="\${prefix}/$xgemm_include"

CMAKE_UP=$prefix CMAKE_LIBDIR=$xgemm_libdir CMAKE_INCLUDEDIR=$xgemm_includedir
AS_IF([test -n "$xgemm_lib"],
  [CMAKE_UP="\${_xgemm_here}/`AS_ECHO(["$xgemm_lib/cmake/xgemm"]) | sed 's,[[^/]][[^/]]*,..,g'`"
   CMAKE_LIBDIR="\${_xgemm_prefix}/$xgemm_lib"])
test -n "$xgemm_include" && CMAKE_INCLUDEDIR="\${_xgemm_prefix}/$xgemm_include"
prefix=$xgemm_save_prefix exec_prefix=$xgemm_save_exec_prefix
AC_SUBST([PC_PREFIX])
AC_SUBST([PC_LIBDIR])
AC_SUBST([PC_INCLUDEDIR])
AC_SUBST([CMAKE_UP])
AC_SUBST([CMAKE_LIBDIR])
AC_SUBST([CMAKE_INCLUDEDIR])
])
