#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make installcheck: the example is built through pkg-config and through CMake against the
# installed library and run, also after the tree was moved and through a link; the utility runs; the
# man pages are there, with the mode of files.
set -eu

source_dir=$1
: "${bindir:?}" "${libdir:?}" "${pkgconfigdir:?}" "${includedir:?}" "${prefix:?}" "${mandir:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PKG_CONFIG_PATH=${DESTDIR-}$pkgconfigdir
export PKG_CONFIG_PATH
LD_LIBRARY_PATH=${DESTDIR-}$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# The example, with the compiler and flags that may be several words.
build()
{
  # shellcheck disable=SC2086,SC2046
  ${CC:-cc} ${CFLAGS-} $(pkg-config --cflags xgemm) -o "$work/product" \
    "$source_dir/examples/product.c" $(pkg-config --libs xgemm)
}

# With the static library in the folder $1, where it is, and what that needs of others.
build_static()
{
  [ -f "$1/libxgemm.a" ] || return 0
  link_static "$1" -o "$work/static"
  "$work/static"
  # With the C library, too, where all archives are there: a driver cannot be loaded then.
  link_static "$1" -static -o "$work/whole" 2>/dev/null || return 0
  mkdir -p "$work/driver"
  ln -sf "$PWD/tests/cuda_fake/.libs/fake_cuda.so" "$work/driver/libcuda.so.1"
  LD_LIBRARY_PATH=$work/driver "$work/whole"
}

link_static()
{
  archive=$1/libxgemm.a
  shift
  # shellcheck disable=SC2046,SC2086
  ${CC:-cc} ${CFLAGS-} $(pkg-config --cflags xgemm) "$source_dir/examples/product.c" "$@" \
    $(pkg-config --static --libs xgemm | sed "s,-lxgemm,$archive,")
}

pkg-config --print-errors --validate xgemm
# Where no other library's file of pkg-config is, but the BLAS's if the static library requires it.
required=$(sed -n 's/^Requires.private: *//p' "$PKG_CONFIG_PATH/xgemm.pc")
folder=${required:+:$(pkg-config --variable=pcfiledir "$required")}
for query in --exists --cflags --libs '--static --libs'; do
  # shellcheck disable=SC2086
  PKG_CONFIG_LIBDIR=$PKG_CONFIG_PATH$folder pkg-config --print-errors $query xgemm >/dev/null
done
grep -q '^URL: https://.' "$PKG_CONFIG_PATH/xgemm.pc"
build
"$work/product"
build_static "${DESTDIR-}$libdir"

# Through CMake: the folder is searched for as find_package(xgemm) does below a prefix.
with_cmake()
{
  mkdir "$work/cmake-$1"
  cp "$source_dir/examples/product.c" "$work/cmake-$1/"
  cat >"$work/cmake-$1/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.10)
project(product C)
find_package(xgemm 0.1 CONFIG REQUIRED)
add_executable(product product.c)
target_link_libraries(product PRIVATE xgemm::xgemm)
if(TARGET xgemm::static)
  add_executable(static product.c)
  target_link_libraries(static PRIVATE xgemm::static)
endif()
CMAKE
  if ! cmake -S "$work/cmake-$1" -B "$work/cmake-$1/build" -DCMAKE_C_FLAGS="${CFLAGS-}" -Dxgemm_DIR="$2" >"$work/log" ||
    ! cmake --build "$work/cmake-$1/build" >>"$work/log"; then
    cat "$work/log" >&2
    return 1
  fi
  "$work/cmake-$1/build/product"
  if [ -f "$2/../../libxgemm.a" ]; then
    "$work/cmake-$1/build/static"
  fi
}
if command -v cmake >/dev/null; then
  with_cmake installed "${DESTDIR-}$libdir/cmake/xgemm"
fi

# The same from a copy of what is below the prefix, which alone is named.
case $libdir:$includedir:$pkgconfigdir in
"$prefix"/*:"$prefix"/*:"$prefix"/*)
  mkdir -p "$work/moved" "$work/moved${includedir#"$prefix"}" "$work/moved${libdir#"$prefix"}" \
    "$work/moved${pkgconfigdir#"$prefix"}"
  cp -R "${DESTDIR-}$includedir"/xgemm* "$work/moved${includedir#"$prefix"}/"
  cp -R "${DESTDIR-}$libdir"/libxgemm* "${DESTDIR-}$libdir/cmake" "$work/moved${libdir#"$prefix"}/"
  cp "${DESTDIR-}$pkgconfigdir/xgemm.pc" "$work/moved${pkgconfigdir#"$prefix"}/"
  PKG_CONFIG_PATH=$work/moved${pkgconfigdir#"$prefix"}
  rm "$work/product"
  build
  # pkgconf and pkg-config write the same folder in more than one way.
  [ "$(cd "$(pkg-config --variable=includedir xgemm)" && pwd -P)" = "$(cd "$work/moved${includedir#"$prefix"}" && pwd -P)" ]
  LD_LIBRARY_PATH=$work/moved${libdir#"$prefix"} "$work/product"
  build_static "$work/moved${libdir#"$prefix"}"
  if command -v cmake >/dev/null; then
    with_cmake moved "$work/moved${libdir#"$prefix"}/cmake/xgemm"
    # By a link, as /lib is one to /usr/lib.
    below=${libdir#"$prefix"/}
    mkdir "$work/linked"
    ln -s "$work/moved/${below%%/*}" "$work/linked/${below%%/*}"
    with_cmake linked "$work/linked/$below/cmake/xgemm"
  fi
  PKG_CONFIG_PATH=${DESTDIR-}$pkgconfigdir
  ;;
esac

if [ -x "${DESTDIR-}$bindir/xgemm" ]; then
  "${DESTDIR-}$bindir/xgemm" --version
  "${DESTDIR-}$bindir/xgemm" multiply --quiet "$source_dir/examples/a.npy" \
    "$source_dir/examples/b.npy" -o "$work/c.npy"
  cmp "$work/c.npy" "$source_dir/examples/product.npy"
  if [ -f "${DESTDIR-}$libdir/libxgemm.so" ]; then
    XGEMM_DROPINS=${DESTDIR-}$libdir/libxgemm "${DESTDIR-}$bindir/xgemm" run --log=/dev/null \
      "${DESTDIR-}$bindir/xgemm" --version
  else
    echo "installcheck: xgemm run is left out: no shared libraries, and thus no drop-ins" >&2
  fi
  test -s "${DESTDIR-}$mandir/man1/xgemm.1"
  test -s "${DESTDIR-}$mandir/man1/xgemm-run.1"
fi
for page in man3/libxgemm.3 man3/xgemm_create.3 man3/xgemm_sgemm.3 \
  man3/xgemm_malloc.3 man7/xgemm-kernels.7; do
  test -s "${DESTDIR-}$mandir/$page" || {
    echo "installcheck: $page was not installed" >&2
    exit 1
  }
done
if find "${DESTDIR-}$mandir" -name '*xgemm*' -type f ! -perm 644 | grep . >&2; then
  echo "installcheck: the manual pages above have another mode than 644" >&2
  exit 1
fi
echo "installcheck: passed"
