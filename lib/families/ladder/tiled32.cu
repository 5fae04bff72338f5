/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiled32: shared-memory tiles of 32 × 32, as tiled.inc explains.
 *
 * Traffic: 8 OP/B.
 * Source: Programming Massively Parallel Processors, 4th edition, sections 5.3 and 5.4 (a tiled
 * matrix multiplication kernel); the choice of 16 or 32: CS 6023 GPU Programming, "Adv. Memory
 * Tiling, CUDA Events" (lecture slides, 2018).
 */
#define TILE        32
#define CORNER_TURN 0
#define KERNEL      tiled32
#include "tiled.inc"
