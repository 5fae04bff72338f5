/* SPDX-License-Identifier: BSD-3-Clause */
#include "programs.h"

#include "host/functions.h"

#include <stddef.h>

#if XGEMM_WITH_CUDA
#define IMAGE(id) xg_image_##id
#else
#define IMAGE(id) NULL
#endif

#if XGEMM_WITH_SM90A
#define IMAGE_SM90(id) xg_image_##id
#else
#define IMAGE_SM90(id) NULL
#endif

#if XGEMM_WITH_TRACE
#define TRACED(id) xg_traced_##id
#else
#define TRACED(id) NULL
#endif

#if XGEMM_WITH_CBLAS
#define HOST_BLAS xg_host_blas
#else
#define HOST_BLAS NULL
#endif

/* A number for each program. */
enum {
#define XG_PROGRAM(id)      INDEX_##id,
#define XG_PROGRAM_SM90(id) INDEX_##id,
#define XG_KERNEL_ROW(...)
#include "kernels.def"
#undef XG_PROGRAM
#undef XG_PROGRAM_SM90
    INDEX_host
};
_Static_assert((int)INDEX_host < (int)XG_PROGRAMS_MAX, "there are more programs than numbers");

#define DEFINE(id, code, only)                                                                     \
    extern const unsigned char xg_image_##id[];                                                    \
    extern void xg_simulated_##id(const void *), xg_traced_##id(const void *);                     \
    const xg_program xg_program_##id = {.symbol = "xg_" #id,                                       \
                                        .image = code,                                             \
                                        .simulated = xg_simulated_##id,                            \
                                        .traced = TRACED(id),                                      \
                                        .index = INDEX_##id,                                       \
                                        .compute_capability = only};
#define XG_PROGRAM(id)      DEFINE(id, IMAGE(id), 0)
#define XG_PROGRAM_SM90(id) DEFINE(id, IMAGE_SM90(id), 90)
#include "kernels.def"

const xg_program xg_program_reference = {
    .symbol = "reference", .host = xg_host_reference, .index = INDEX_host};
const xg_program xg_program_chain = {.symbol = "chain", .host = xg_host_chain, .index = INDEX_host};
const xg_program xg_program_blas = {.symbol = "blas", .host = HOST_BLAS, .index = INDEX_host};
const xg_program xg_program_finish_host = {
    .symbol = "finish", .host = xg_host_finish, .index = INDEX_host};
const xg_program xg_program_scale_host = {
    .symbol = "scale", .host = xg_host_scale, .index = INDEX_host};
