#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian packages of this checkout, and what lintian says of them.
#
# usage: packaging/build-deb.sh FOLDER
#
# FOLDER receives the source package and the packages. Needs dpkg-dev, debhelper and what
# debian/control names; DEB_BUILD_OPTIONS=nocheck leaves out the test suite.
set -eu

[ $# -eq 1 ] || { echo "usage: packaging/build-deb.sh FOLDER" >&2; exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
version=$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' "$top/debian/changelog")

[ -x "$top/configure" ] || (cd "$top" && autoreconf -fi)
mkdir -p "$folder/dist"
(cd "$folder/dist" && "$top/configure" --quiet --without-cuda --disable-utility && make -s dist-xz)
rm -rf "$folder/libxgemm-$version"
mkdir "$folder/libxgemm-$version"
mv "$folder"/dist/libxgemm-*.tar.xz "$folder/libxgemm_$version.orig.tar.xz"
tar -C "$folder/libxgemm-$version" --strip-components=1 -xf "$folder/libxgemm_$version.orig.tar.xz"
cp -R "$top/debian" "$folder/libxgemm-$version/"
cd "$folder/libxgemm-$version"
dpkg-buildpackage -us -uc -F
lintian --info --display-info --pedantic --fail-on error,warning,info,pedantic \
  --suppress-tags bogus-mail-host,initial-upload-closes-no-bugs \
  "$folder"/libxgemm_"$version"*.changes
