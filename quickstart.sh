#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh machine to a product of real matrices.
#
#   ./quickstart.sh         install what is missing, build, multiply the sample
#                           matrices on the best device there is, list the kernels
#   ./quickstart.sh check   the same set-up, then the whole test suite
#   ./quickstart.sh --without-cuda
#                           the same without kernels for GPUs, which take some minutes: where nvcc
#                           is not there, clang is installed and compiles them
#
# Needs neither a GPU nor nvcc. Safe to run again: what is there is kept. The build is in build/
# (another folder: BUILD=DIR); CONFIGURE_FLAGS are passed on, and so are options, with which a build
# that has others is configured again. "./build/config.status --config" says what it has.
set -eu

cd "$(dirname "$0")"
build=${BUILD:-build}
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

say() {
  printf 'quickstart: %s\n' "$*"
}

give_up() {
  printf 'quickstart: %s\n' "$*" >&2
  exit 1
}

have() {
  command -v "$1" >/dev/null 2>&1
}

have_library() {
  have pkg-config && pkg-config --exists "$1"
}

# Whether there is a compiler for GPUs: nvcc, or a clang that knows compute capability 9.0.
have_gpu_compiler() {
  have nvcc || [ -x /usr/local/cuda/bin/nvcc ] || [ -x /opt/cuda/bin/nvcc ] && return
  for clang in clang clang-22 clang-21 clang-20 clang-19 clang-18; do
    have $clang && echo | $clang -x cuda --cuda-device-only --cuda-path=/dev/null -nocudainc \
      -nocudalib --cuda-gpu-arch=sm_90a -S -o /dev/null - 2>/dev/null && return
  done
  return 1
}

# Whether clang is to be installed, as a compiler for GPUs: unless another is named, or none wanted.
wants_gpu_compiler() {
  case " $CONFIGURE_FLAGS $options " in
    *--without-cuda* | *--with-cuda=no* | *" NVCC="* | *" CLANG="*) return 1 ;;
    *) ! have_gpu_compiler ;;
  esac
}

# The newest package of clang that the system has, 18 or later; nothing when it has none.
clang_package() {
  for version in 22 21 20 19 18; do
    if apt-cache show clang-$version >/dev/null 2>&1; then
      echo clang-$version
      return
    fi
  done
}

# The Debian packages that are missing, one word each.
missing_packages() {
  have cc || have gcc || echo gcc
  have g++ || echo g++
  have make || echo make
  have autoconf || echo autoconf
  have automake || echo automake
  have libtoolize || echo libtool
  have pkg-config || echo pkg-config
  have xz || echo xz-utils
  have gnuplot || echo gnuplot-nox
  have_library openblas || have_library blis || have_library cblas || echo libopenblas-dev
  have_library jansson || echo libjansson-dev
  have_library zlib || echo zlib1g-dev
  have_library check || echo check
  wants_gpu_compiler && clang_package
  if [ "$1" = check ]; then
    have mandoc || echo mandoc
    dpkg -s libblas-test >/dev/null 2>&1 || echo libblas-test
  fi
}

# Runs as root, by sudo where that needs no password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

may_install() {
  have apt-get && { [ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2>/dev/null; }; }
}

install_missing() {
  # A fresh system has no list of packages, in which clang's is looked for.
  if wants_gpu_compiler && may_install; then
    as_root apt-get update -q || say "apt-get update failed"
  fi
  packages=$(missing_packages "$1" | tr '\n' ' ')
  if [ -z "$packages" ]; then
    say "everything that is needed is installed"
    return
  fi
  if ! may_install; then
    say "these are missing, and apt-get may not be used here: $packages"
    return
  fi
  say "installing $packages"
  as_root apt-get update -q
  # shellcheck disable=SC2086 # a list of words
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages
}

bootstrap() {
  if [ -x configure ] && [ -f Makefile.in ] &&
    [ -z "$(find configure.ac ./*.am ./*/*.am m4/xgemm_*.m4 include/xgemm/version.h \
      -newer Makefile.in)" ]; then
    return
  fi
  have autoreconf || give_up "autoconf, automake and libtool are needed to make ./configure"
  say "making ./configure"
  autoreconf -fi
}

# Whether the build is configured, and with the options that were given.
is_configured() {
  [ -f "$build/config.status" ] || return
  config=$("$build/config.status" --config)
  for option; do
    case " $config " in
      *" $option "* | *" '$option' "*) ;;
      *) return 1 ;;
    esac
  done
}

configure_and_build() {
  mkdir -p "$build"
  if ! is_configured "$@"; then
    say "configuring in $build/"
    # By a path from there: configure refuses the whole path where a blank is in it.
    source_dir=$(realpath --relative-to="$build" . 2>/dev/null || pwd)
    # shellcheck disable=SC2086 # a list of words
    (cd "$build" && "$source_dir/configure" $CONFIGURE_FLAGS "$@")
  fi
  say "building"
  make -C "$build" -j"$jobs"
}

multiply_the_samples() {
  product=$build/product.npy
  say "multiplying examples/a.npy (37 x 129) by examples/b.npy (129 x 61, Fortran order)"
  "$build/xgemm" multiply examples/a.npy examples/b.npy -o "$product"
  cmp "$product" examples/product.npy ||
    give_up "the product differs from examples/product.npy"
  say "the product is in $product and equals examples/product.npy to the bit"
  say "the kernels:"
  "$build/xgemm" kernels
}

run_the_tests() {
  say "running the test suite"
  make -C "$build" -j"$jobs" check || {
    cat "$build/test-suite.log"
    give_up "the test suite failed"
  }
  say "the test suite passed"
}

# Options stay as they are, each one word: those that are left of the arguments.
wanted=run
CONFIGURE_FLAGS=${CONFIGURE_FLAGS-}
for argument; do
  shift
  case $argument in
    check) wanted=check ;;
    -h | --help)
      sed -n '3,/^set -eu/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    --*) set -- "$@" "$argument" ;;
    *) give_up "it takes \"check\" and options of ./configure, not \"$argument\"" ;;
  esac
done
options=$*
install_missing "$wanted"
bootstrap
configure_and_build "$@"
if [ "$wanted" = check ]; then
  run_the_tests
else
  multiply_the_samples
fi
