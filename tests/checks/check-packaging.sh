#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What packaging/ and debian/ repeat is what the project says: version, addresses, symbols with
# their versions, architectures. debian/ is in a checkout alone, not in the tarball.
#
# srcdir is the top of the sources.

cd "${srcdir:-$(dirname "$0")/../..}" || exit 99
export LC_ALL=C
failed=0
complain()
{
    echo "$*" >&2
    failed=1
}

version=$(sed -n 's/^#define XGEMM_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/xgemm/version.h | paste -sd.)
address=$(sed -n 's/^  \[\(.*@.*\)\], \[libxgemm\], .*/\1/p' configure.ac)
url=$(sed -n 's/^  \[.*@.*\], \[libxgemm\], \[\(.*\)\])$/\1/p' configure.ac)
for found in "$version" "$address" "$url"; do
    [ -n "$found" ] || complain "include/xgemm/version.h has no version, or configure.ac no address or URL"
done

grep -qx "Version:  *$version" packaging/libxgemm.spec || complain "libxgemm.spec has another version than $version"
grep -qx "URL:  *$url" packaging/libxgemm.spec || complain "libxgemm.spec has another URL than $url"
grep -q "<$address> - $version-" packaging/libxgemm.spec || complain "libxgemm.spec's changelog has another address or version"

# libtool's current:revision:age. Each release with new functions has a node of its own and is one
# more that the library stands in for.
lt_version=$(sed -n 's/^AC_SUBST(\[XGEMM_LT_VERSION\], \[\([0-9]*:[0-9]*:[0-9]*\)\])$/\1/p' configure.ac)
soversion=$(sed -n 's/^AC_SUBST(\[XGEMM_SOVERSION\], \[\([0-9]*\)\])$/\1/p' configure.ac)
age=$(($(grep -c '^XGEMM_.* {$' lib/libxgemm.map) - 1))
case $lt_version in
$((soversion + age)):*:$age) ;;
*) complain "XGEMM_LT_VERSION is \"$lt_version\"; by lib/libxgemm.map and the SONAME it is $((soversion + age)):REVISION:$age" ;;
esac
[ -d debian ] || exit $failed

# Before a release NEWS has its number, and "not yet released"; the packages' then ends in ~dev.
news=$(sed -n 's/^\([0-9][0-9.]*\)\( (not yet released)\)*$/\1 \2/p' NEWS | sed -n 1p)
case $news in
*released*) want=${news%% *}~dev ;;
*) want=$version ;;
esac
have=$(sed -n '1s/^libxgemm (\(.*\)-[^-]*).*/\1/p' debian/changelog)
[ "$have" = "$want" ] || complain "debian/changelog has version $have; by NEWS it is $want"
for file in control copyright changelog; do
    grep -q "<$address>" "debian/$file" || complain "debian/$file has another address than $address"
done
for file in control copyright watch upstream/metadata; do
    grep -q "$url" "debian/$file" || complain "debian/$file has another URL than $url"
done

# A symbol is as old as the release of its node, which is the packages' own version until then.
sed -n 's/^ .*@XGEMM_\([0-9.]*\) \(.*\)/\1 \2/p' debian/libxgemm0.symbols | sort -u | while read -r node first; do
    case $want in
    "$node".0*) release=$want ;;
    *) release=$node.0 ;;
    esac
    [ "$first" = "$release" ] || echo "$node since $first, not $release"
done | grep . >&2 && failed=1

# NAME@VERSION of each symbol.
differences=$({
    awk '/^XGEMM_/ { version = $1 } /^ *xgemm_/ { sub(/;/, ""); print $1 "@" version }' lib/libxgemm.map
    sed -n 's/^ \(xgemm_[a-z0-9_]*@XGEMM_[0-9.]*\) .*/\1/p' debian/libxgemm0.symbols
} | sort | uniq -u)
[ -z "$differences" ] || complain "not in both, lib/libxgemm.map and debian/libxgemm0.symbols: $differences"
exit $failed
