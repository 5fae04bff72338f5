#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In place of nvcc, for tests of the CUDA backend on the fake driver, which finds a kernel by its name
# and runs it on the simulator: writes an image that no GPU could run.
#
# ./configure --with-cuda=yes NVCC=/path/to/nvcc.sh

while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then
        printf '\120\355\125\272 no code for a GPU\n' >"$2" || exit 1 # a fatbin's magic number
        shift
    fi
    shift
done
