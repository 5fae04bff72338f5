/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_sliced_64x64_a: the same, for a K-major A, as tma_a_k_major.inc explains. */
#define KERNEL tma_sliced_64x64_a
#define A_K_MAJOR
#include "tma_sliced_64x64.h"
