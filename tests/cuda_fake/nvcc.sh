#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In place of nvcc, for tests of the CUDA backend on the fake driver, which finds a kernel by its name
# and runs it on the simulator: writes an image that no GPU could run. It is a fatbin or, so that both
# are tested in one build, for some kernels a table of PTX (lib/backend/cuda/image.h) that is long.
#
# ./configure --with-cuda=yes NVCC=/path/to/nvcc.sh

# Compute capability 8.0, 24 bytes from the beginning, 40000 bytes; and the table's end.
ptx_table() {
    printf '\120\0\0\0\030\0\0\0\100\234\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
    printf '.version 7.4\n.target sm_80\n// no code for a GPU %39952s\0' .
}

while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then
        case $2 in
        *sliced_* | */scale.*) ptx_table >"$2" || exit 1 ;;
        *) printf '\120\355\125\272 no code for a GPU\n' >"$2" || exit 1 ;; # a fatbin's magic number
        esac
        shift
    fi
    shift
done
