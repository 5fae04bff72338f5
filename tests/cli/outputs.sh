#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where an output goes: by symbolic links to files that are not there yet, and into folders in which
# nothing can be renamed or removed.

topic=outputs
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
# shellcheck source=tests/cli/matrices.sh
. "$srcdir/tests/cli/matrices.sh"
trap 'chattr -a kept 2>/dev/null; rm -rf "$work"' EXIT

# writes NAME OUTPUT FILE: C goes to the file, which is new, and nothing else is left in its folder.
writes()
{
    run multiply -d cpu a.npy b.npy -o "$2"
    if ended 0 '' && cmp -s "$3" c.C && [ -z "$(find . -name '.xgemm-*')" ]; then
        ok "$1"
    else
        no "$1" "$why; $(find . -name '.xgemm-*' | tr '\n' ' ')"
    fi
}

test_links()
{
    mkdir -p links/below target
    ln -s ../target/near.npy links/near.npy
    ln -s "$work/target/far.npy" links/below/far.npy
    ln -s below/far.npy links/far.npy
    writes 'a link to no file yet' links/near.npy target/near.npy
    writes 'a link to a link to no file yet' links/far.npy target/far.npy
    writes 'a link to a file that is there by now' links/far.npy target/far.npy
    if [ -L links/near.npy ] && [ -L links/far.npy ] && [ -L links/below/far.npy ]; then
        ok 'the links stay'
    else
        no 'the links stay' "$(ls -l links)"
    fi
    ln -s second.npy links/first.npy
    ln -s first.npy links/second.npy
    refuses 'a loop of links' 1 'links/first.npy.*Too many levels' multiply -d cpu a.npy b.npy -o links/first.npy
    ln -s "$work/target/log" links/log
    "$XGEMM" run --log=links/log -- true >out 2>err
    if [ -s target/log ]; then ok 'run: --log by a link'; else no 'run: --log by a link' "$(first_error)"; fi
    if ! have gnuplot; then
        skip 'a picture by a link' 'no gnuplot'
        return
    fi
    ln -s ../target/picture.svg links/picture.svg
    run occupancy --gpu A100 --threads 64 --curve threads --plot links/picture.svg
    if ended 0 '' && grep -q '</svg>' target/picture.svg; then
        ok 'a picture by a link'
    else
        no 'a picture by a link' "$why"
    fi
}

test_kept_names()
{
    mkdir kept
    cp a.npy kept/old.npy
    if ! chattr +a kept 2>chattr.err; then
        skip 'a folder that keeps its names' "$(tail -n 1 chattr.err)"
        return
    fi
    writes 'a file in a folder that keeps its names' kept/old.npy kept/old.npy
    run multiply -d cpu a.npy b.npy -o kept/new.npy
    if ended 0 '' && cmp -s kept/new.npy c.C || ended 1 'no file in its folder can be renamed'; then
        ok 'a new file in a folder that keeps its names'
    else
        no 'a new file in a folder that keeps its names' "$why"
    fi
    refuses 'a failure in a folder that keeps its names' 1 '2 x 3' multiply -d cpu a.npy a.npy -o kept/none.npy
    left=$(find kept -name '.xgemm-*' -o -name none.npy)
    if [ -z "$left" ]; then ok 'it leaves nothing there'; else no 'it leaves nothing there' "$left"; fi
    chattr -a kept
}

# A file system that says nothing of it before.
test_no_removal()
{
    name='a folder in which nothing can be removed'
    printf '%s\n' '#include <errno.h>' \
        'int unlink(const char *path) { errno = EPERM; return path ? -1 : 0; }' >unlink.c
    # shellcheck disable=SC2086 # the compiler's name may have options
    if ! ${CC:-cc} -shared -fPIC -o unlink.so unlink.c 2>err || ! LD_PRELOAD=./unlink.so "$XGEMM" --version >out 2>&1; then
        skip "$name" 'the preloaded part cannot be used here'
        return
    fi
    mkdir unremovable
    LD_PRELOAD=./unlink.so "$XGEMM" multiply -d cpu a.npy b.npy -o unremovable/c.npy >out 2>err
    status=$?
    if refused 1 'c.npy.*\.xgemm-.*cannot be removed' && ! [ -e unremovable/c.npy ]; then
        ok "$name"
    else
        no "$name" "$why"
    fi
}

make_matrices
test_links
test_kept_names
test_no_removal

finish
