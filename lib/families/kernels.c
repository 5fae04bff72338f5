/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels.h"

#include "base/nearest.h"
#include "programs.h"
#include "tensor/fp16_layout.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Shared memory, by how a family lays it out. */
#define FLOATS(n) ((n) * (int)sizeof(float))
/* So many stages, each so deep in k, of A's and B's tiles, whose rows are padded by a vec4. */
#define STAGES(stages, depth, m, n) FLOATS((stages) * (depth) * ((m) + 4 + (n) + 4))
#define PIPELINE(pad, m, n)         FLOATS(4 * 16 * ((m) + (n) + 2 * (pad)))
/* The ring buffers of A and B; a full and an empty mbarrier of each stage and of the tile's state,
   and one of the next work tile; the tile's and the CTA's state: tensor/product.inc. */
#define FP16_RINGS(terms, stages_a, stages_b, panel_n, tile_n)                                     \
    ((terms) * ((stages_a)*16384 + (stages_b) * (panel_n)*128) +                                   \
     ((stages_a) + (stages_b) + 2) * 16 + FLOATS(128 + 2 * (tile_n)) + XG_CTA_STATE_BYTES)
/* Of each slice of k so many stages, unpadded, and their mbarriers; and the tile scheduler's
   state: simt/tma.inc. */
#define TMA(slices, stages, depth, m, n)                                                           \
    ((slices) * (FLOATS((stages) * (depth) * ((m) + (n))) + 128) + 32)
/* With the place of the tile in C: sliced_epilogue.inc. */
#define SLICED(stages, depth, m, n) (STAGES(stages, depth, m, n) + 24)
/* 32 of k, in K-major rows that are padded by 4, or MN-major ones by 8; and the parts twice. */
#define BF16_ROOM(size) ((size)*36 > 32 * ((size) + 8) ? (size)*36 : 32 * ((size) + 8))
#define BF16(stages, m, n)                                                                         \
    (FLOATS((stages) * (BF16_ROOM(m) + BF16_ROOM(n))) + FLOATS(2 * 48 * ((m) + (n))))
/* The terms of B, and two stages: simt/fp16_fused.inc. */
#define FP16_FUSED(terms, m, n) ((terms)*64 * 2 * (n) + FLOATS(2 * 64 * ((m) + (n))))
/* Three stages, one of padded rows, and what so many threads keep: simt/thin_vec4.inc. */
#define THIN_VEC4(depth, m, n, threads)                                                            \
    (FLOATS((depth) * (3 * ((m) + (n)) + 8)) + 2 * 16 * (threads))

/* Of .chains. */
#define BIT(type)                (1u << (type))
#define EVERY_TYPE               (BIT(XG_TYPES) - BIT(XG_F32))
#define TILE_FLOP_PER_BYTE(m, n) ((double)(m) * (n) / (2.0 * ((m) + (n))))

#define XG_PROGRAM(id)
#define XG_PROGRAM_SM90(id)
#define XG_KERNEL_ROW(kernel, ...) [XG_KERNEL_##kernel] = {.id = XG_KERNEL_##kernel, __VA_ARGS__},
static const xg_kernel kernels[XG_KERNEL_COUNT] = {
#include "kernels.def"
};

/* At most, of a block: the dynamic part, and static variables. */
static int64_t shared_bytes_of(const xg_kernel *kernel)
{
    enum { STATIC_MOST = 1024 };
    return kernel->shared_bytes + STATIC_MOST;
}

bool xg_kernel_fits(const xg_kernel *kernel, int compute_capability, int64_t shared_per_block)
{
    const int only = kernel->programs[0]->compute_capability;
    if (only)
        return only == compute_capability;
    return shared_per_block == 0 || shared_bytes_of(kernel) <= shared_per_block;
}

xgemm_status xg_kernel_check_device(const xg_kernel *kernel, int compute_capability,
                                    int64_t shared_per_block, const char *device, xg_error *error)
{
    const int only = kernel->programs[0]->compute_capability;
    if (xg_kernel_fits(kernel, compute_capability, shared_per_block))
        return XGEMM_OK;
    if (only)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s is for compute capability %d.%d alone, and %s has %d.%d",
                       kernel->name, only / 10, only % 10, device, compute_capability / 10,
                       compute_capability % 10);
    return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                   "kernel %s needs up to %lld bytes of shared memory for a block, and %s has %lld",
                   kernel->name, (long long)shared_bytes_of(kernel), device,
                   (long long)shared_per_block);
}

bool xg_kernel_serves(const xg_kernel *kernel, xgemm_math math)
{
    return kernel->tensor_products == 0 || math == XGEMM_MATH_TF32 ||
           (math == XGEMM_MATH_DEFAULT && kernel->tensor_products > 1);
}

xgemm_status xg_kernel_check_math(const xg_kernel *kernel, xgemm_math math, xg_error *error)
{
    if (xg_kernel_serves(kernel, math))
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                   "kernel %s multiplies on tensor cores, which math mode %s does not allow",
                   kernel->name,
                   math == XGEMM_MATH_STRICT ? "XGEMM_MATH_STRICT" : "XGEMM_MATH_DEFAULT");
}

static bool takes_type(const xg_kernel *kernel, const xg_problem *p)
{
    return xg_is_f32(p) || kernel->typed[p->type_a] != NULL;
}

bool xg_kernel_finishes(const xg_kernel *kernel, const xg_problem *p)
{
    return kernel->family->finishes || !xg_is_f32(p);
}

bool xg_kernel_takes(const xg_kernel *kernel, const xg_problem *p)
{
    return takes_type(kernel, p) && (xg_kernel_finishes(kernel, p) || !p->epilogue.device_scalars);
}

xgemm_status xg_kernel_check_problem(const xg_kernel *kernel, const xg_problem *p, xg_error *error)
{
    if (!takes_type(kernel, p))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s does not multiply matrices of %s; auto does", kernel->name,
                       xg_type_name(p->type_a));
    if (!xg_kernel_takes(kernel, p))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s cannot read alpha and beta from device memory; auto can",
                       kernel->name);
    return XGEMM_OK;
}

const xg_kernel *xg_kernel_at(int id)
{
    return &kernels[id];
}

const xg_kernel *xg_kernel_named(const char *name)
{
    for (int i = 0; i < XG_KERNEL_COUNT; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

xgemm_status xg_kernel_unknown(const char *name, const xg_backend *backend, xg_error *error)
{
    char asked[65];
    xg_nearest here = {{NULL}, {0}}, elsewhere = {{NULL}, {0}};
    snprintf(asked, sizeof asked, "%s", name);
    if (backend)
        xg_nearest_consider(&here, asked, "auto");
    for (int i = 0; i < XG_KERNEL_COUNT; i++)
        xg_nearest_consider(!backend || backend->can_run(kernels[i].programs[0]) ? &here
                                                                                 : &elsewhere,
                            asked, kernels[i].name);
    /* One that is meant; of names that are far off those of this device are enough. */
    const char *const meant = xg_nearest_meant(&elsewhere, asked);
    const bool other = meant && elsewhere.distances[0] < here.distances[0];
    return xg_fail(error, XGEMM_ERROR_UNKNOWN_KERNEL,
                   "there is no kernel \"%s\"%s%s%s; %s%s%sthe nearest names are %s%s%s%s%s", asked,
                   backend ? " on the " : "", backend ? backend->name : "",
                   backend ? " device" : "", other ? "other devices have " : "", other ? meant : "",
                   other ? "; of this one " : "", here.names[0], here.names[1] ? ", " : "",
                   here.names[1] ? here.names[1] : "", here.names[2] ? ", " : "",
                   here.names[2] ? here.names[2] : "");
}
