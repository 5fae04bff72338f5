#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# <xgemm.h> is all that a program needs: alone it compiles as C and as C++, in
# old standards and with all warnings, once and twice, without CUDA's headers;
# the headers beneath it refuse to be included alone.
#
# CC and CXX are the compilers (cc, c++), srcdir the top of the sources.

srcdir=${srcdir:-$(dirname "$0")/../..}
CC=${CC:-cc}
CXX=${CXX:-c++}
WARNINGS="-pedantic-errors -Wall -Wextra -Werror"
export LC_ALL=C
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH

if [ -z "$(command -v "${CC%% *}")" ]; then
    echo "skipped: no ${CC%% *}" >&2
    exit 77
fi

# The headers in a folder of their own: nothing beside them can help.
work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/include/xgemm" || exit 1
cp "$srcdir/include/xgemm.h" "$work/include/" || exit 1
cp "$srcdir"/include/xgemm/*.h "$work/include/xgemm/" || exit 1
failed=0

complain()
{
    echo "$*:" >&2
    sed 's/^/    /' "$work/messages" >&2
    failed=1
}

# compile COMPILER FILE FLAGS...
compile()
{
    compiler=$1
    file=$2
    shift 2
    # shellcheck disable=SC2086 # compilers come with flags
    $compiler "$@" $WARNINGS -I"$work/include" -c "$work/$file" -o "$work/out.o" \
        >"$work/messages" 2>&1
}

# must_compile COMPILER FILE FLAGS...
must_compile()
{
    compile "$@" || complain "$* fails"
}

cat >"$work/once.c" <<'SOURCE'
#include <xgemm.h>
typedef int not_empty;
SOURCE
cat >"$work/twice.c" <<'SOURCE'
#include <xgemm.h>
#include <xgemm.h>
#ifdef __CUDA_RUNTIME_H__
#error "a CUDA header came along"
#endif
#ifdef XGEMM_H_INTERNAL
#error "XGEMM_H_INTERNAL is still defined"
#endif

/* Every type is complete, and a call has the types that a program passes. */
int use(float *c);
int use(float *c)
{
    xgemm_handle *handle;
    xgemm_timer *timer = NULL;
    xgemm_device device;
    xgemm_kernel_info info;
    xgemm_kernel_resources resources;
    xgemm_status status = xgemm_create(&handle, XGEMM_DEVICE_AUTO);
    device.struct_size = sizeof device;
    info.struct_size = sizeof info;
    resources.struct_size = sizeof resources;
    xgemm_timer_destroy(timer);
    if (status != XGEMM_OK)
        return (int)(device.struct_size + info.struct_size + resources.struct_size);
    return xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_TRANS, 1, 1, 1, 1.0f, c, 1,
                       c, 1, 0.0f, c, 1) == XGEMM_OK;
}
SOURCE
cp "$work/once.c" "$work/once.cc"
cp "$work/twice.c" "$work/twice.cc"

echo 'int main(void) { return 0; }' >"$work/plain.c"
if ! compile "$CC" plain.c -std=c99; then
    complain "skipped: $CC cannot compile an empty program"
    exit 77
fi
for file in once.c twice.c; do
    must_compile "$CC" "$file" -std=c99
    must_compile "$CC" "$file" -std=c11
    must_compile "$CC" "$file" -std=c99 -Wshadow -Wstrict-prototypes -Wundef -DXGEMM_STATIC
done

# The functions have C's linkage in C++.
cat >"$work/linkage.cc" <<'SOURCE'
#include <xgemm.h>
extern "C" const char *xgemm_version(void);
SOURCE
cp "$work/plain.c" "$work/plain.cc"
if [ -n "$(command -v "${CXX%% *}")" ] && compile "$CXX" plain.cc; then
    for standard in c++98 c++17; do
        for file in once.cc twice.cc linkage.cc; do
            must_compile "$CXX" "$file" "-std=$standard"
        done
    done
else
    echo "note: no C++ compiler ($CXX); the headers were compiled as C only" >&2
fi

# Alone, a header beneath <xgemm.h> says which header to include instead.
for header in "$work"/include/xgemm/*.h; do
    name=xgemm/$(basename "$header")
    echo "#include <$name>" >"$work/alone.c"
    if compile "$CC" alone.c -std=c99; then
        echo "<$name> can be included alone" >&2
        failed=1
    elif ! grep -qF "include <xgemm.h>, not <$name>" "$work/messages"; then
        complain "<$name> alone does not say what to include"
    fi
    grep -qF "#include \"$name\"" "$work/include/xgemm.h" || {
        echo "<xgemm.h> does not include <$name>" >&2
        failed=1
    }
done
exit $failed
