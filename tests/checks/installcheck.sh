#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make installcheck: the example is built through pkg-config against the
# installed library and run; the utility runs; the man pages are there.
set -eu

source_dir=$1
: "${bindir:?}" "${libdir:?}" "${pkgconfigdir:?}" "${mandir:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PKG_CONFIG_PATH=${DESTDIR-}$pkgconfigdir
export PKG_CONFIG_PATH
if [ -n "${DESTDIR-}" ]; then
  PKG_CONFIG_SYSROOT_DIR=$DESTDIR
  export PKG_CONFIG_SYSROOT_DIR
fi
LD_LIBRARY_PATH=${DESTDIR-}$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

pkg-config --print-errors --exists xgemm
# The compiler and its flags may be several words.
# shellcheck disable=SC2086,SC2046
${CC:-cc} ${CFLAGS-} $(pkg-config --cflags xgemm) -o "$work/product" \
  "$source_dir/examples/product.c" $(pkg-config --libs xgemm)
"$work/product"
"${DESTDIR-}$bindir/xgemm" --version
"${DESTDIR-}$bindir/xgemm" multiply --quiet "$source_dir/examples/a.npy" \
  "$source_dir/examples/b.npy" -o "$work/c.npy"
cmp "$work/c.npy" "$source_dir/examples/product.npy"
XGEMM_DROPINS=${DESTDIR-}$libdir/libxgemm "${DESTDIR-}$bindir/xgemm" run --log=/dev/null "${DESTDIR-}$bindir/xgemm" --version
for page in man1/xgemm.1 man1/xgemm-run.1 man3/libxgemm.3 man3/xgemm_create.3 man3/xgemm_sgemm.3 \
  man3/xgemm_malloc.3 man7/xgemm-kernels.7; do
  test -s "${DESTDIR-}$mandir/$page" || {
    echo "installcheck: $page was not installed" >&2
    exit 1
  }
done
echo "installcheck: passed"
