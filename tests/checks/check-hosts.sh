#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# configure refuses hosts that are not 64-bit or not little-endian, and says which it is. The host is
# what a compiler's stand-in compiles for: it links as the compiler does, so that no libraries for
# the host are needed, and compiles with a flag more.
#
# CC is the compiler, srcdir the top of the sources.

srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
export LC_ALL=C
real=${CC:-cc}
unset CC CFLAGS CPPFLAGS LDFLAGS
[ -x "$srcdir/configure" ] || { echo "skipped: no configure" >&2; exit 77; }
work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# Sources of their own: those that are configured themselves cannot be from another folder.
mkdir -p "$work/top/lib/api" "$work/build" || exit 99
cp -RL "$srcdir/configure" "$srcdir/build-aux" "$work/top/" || exit 99
cp "$srcdir/lib/api/gemm.c" "$work/top/lib/api/" || exit 99
cd "$work/build" || exit 99
# Compile where the compiler has been told so, and not only taken the flag.
echo 'char is_so[sizeof(void *) == 4 ? 1 : -1];' >"$work/64-bit.c"
echo '#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#error
#endif' >"$work/little-endian.c"

# refuses WORD FLAG...: configure's error has the word when the compiler has the flags.
refuses()
{
    word=$1
    shift
    printf '#!/bin/sh\ncase " $* " in\n*" -c "*) exec %s %s "$@" ;;\n*) exec %s "$@" ;;\nesac\n' \
        "$real" "$*" "$real" >"$work/cc"
    chmod +x "$work/cc"
    if ! "$work/cc" -c "$work/$word.c" -o "$work/x.o" 2>/dev/null; then
        echo "not tried: $real does not compile for $*" >&2
        return
    fi
    if ../top/configure --disable-utility --without-cuda CC="$work/cc" >out 2>err; then
        echo "configure takes a compiler with $*" >&2
        failed=1
    elif ! grep -q "error: libxgemm is for $word" err; then
        echo "configure with $* does not say \"$word\":" >&2
        cat err >&2
        failed=1
    fi
}

refuses 64-bit -m32
refuses 64-bit -mabi=ilp32
refuses little-endian -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__
refuses little-endian -mbig-endian
exit $failed
