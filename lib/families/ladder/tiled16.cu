/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiled16: shared-memory tiles of 16 × 16, as tiled.inc explains.
 *
 * Traffic: 4 OP/B.
 * Source: Programming Massively Parallel Processors, 4th edition, sections 5.3 and 5.4 (a tiled
 * matrix multiplication kernel); Khushi Agrawal, "Memory Architecture and Data Locality" (2024).
 */
#define TILE        16
#define CORNER_TURN 0
#define KERNEL      tiled16
#include "tiled.inc"
