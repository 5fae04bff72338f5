/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the CUDA C++ Programming Guide: "Compute Capabilities", technical
 * specifications (threads, blocks, registers, shared memory), and "Arithmetic
 * Instructions", results a clock cycle a multiprocessor (FP32 and FP64 lanes). Granules:
 * tests/test_occupancy compares them with the toolkit's own calculator. FP64 on tensor cores: by
 * the peaks that NVIDIA gives for the A100, H100 and B200; elsewhere as fast as the lanes.
 */
#include "limits.h"

#include <stddef.h>

enum { KB = 1024 };

static const xg_limits limits[] = {
    {70, 64, 32, 0, 2048, 32, 65536, 255, 256, 4, 96 * KB, 96 * KB, 0, 256, 0},
    {72, 64, 32, 0, 2048, 32, 65536, 255, 256, 4, 96 * KB, 96 * KB, 0, 256, 0},
    {75, 64, 2, 0, 1024, 16, 65536, 255, 256, 4, 64 * KB, 64 * KB, 0, 256, 0},
    {80, 64, 32, 64, 2048, 32, 65536, 255, 256, 4, 164 * KB, 163 * KB, 1 * KB, 128, 0},
    {86, 128, 2, 2, 1536, 16, 65536, 255, 256, 4, 100 * KB, 99 * KB, 1 * KB, 128, 0},
    {87, 128, 2, 2, 1536, 16, 65536, 255, 256, 4, 164 * KB, 163 * KB, 1 * KB, 128, 0},
    {88, 128, 2, 2, 1536, 16, 65536, 255, 256, 4, 100 * KB, 99 * KB, 1 * KB, 128, 0},
    {89, 128, 2, 2, 1536, 24, 65536, 255, 256, 4, 100 * KB, 99 * KB, 1 * KB, 128, 0},
    {90, 128, 64, 128, 2048, 32, 65536, 255, 256, 4, 228 * KB, 227 * KB, 1 * KB, 128, 8},
    {100, 128, 64, 64, 2048, 32, 65536, 255, 256, 4, 228 * KB, 227 * KB, 1 * KB, 128, 8},
    {103, 128, 2, 2, 2048, 32, 65536, 255, 256, 4, 228 * KB, 227 * KB, 1 * KB, 128, 8},
    {110, 128, 2, 2, 1536, 24, 65536, 255, 256, 4, 228 * KB, 227 * KB, 1 * KB, 128, 8},
    {120, 128, 2, 2, 1536, 24, 65536, 255, 256, 4, 100 * KB, 99 * KB, 1 * KB, 128, 8},
    {121, 128, 2, 2, 1536, 24, 65536, 255, 256, 4, 100 * KB, 99 * KB, 1 * KB, 128, 8},
};
enum { COUNT = sizeof limits / sizeof *limits };

const xg_limits *xg_limits_of(int compute_capability)
{
    int found = 0;
    for (int i = 0; i < COUNT; i++)
        if (limits[i].compute_capability <= compute_capability)
            found = i;
    return &limits[found];
}

const xg_limits *xg_limits_at(int index)
{
    return index >= 0 && index < COUNT ? &limits[index] : NULL;
}
