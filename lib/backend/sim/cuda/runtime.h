/* SPDX-License-Identifier: BSD-3-Clause */
/* What runtime.cpp gives the other headers; it is compiled without instrumentation. */
#ifndef XGEMM_CUDA_RUNTIME_H
#define XGEMM_CUDA_RUNTIME_H

#include "hooks.h"

#define XG_RUNTIME extern "C" __attribute__((visibility("hidden")))
#define XG_PURE    __attribute__((const))

/* An index of the running thread, or a size of the launch: 0, 1, 2 for x, y, z. */
XG_RUNTIME unsigned xg_thread_index(int dimension) noexcept XG_PURE;
XG_RUNTIME unsigned xg_block_index(int dimension) noexcept XG_PURE;
XG_RUNTIME unsigned xg_block_dim(int dimension) noexcept XG_PURE;
XG_RUNTIME unsigned xg_grid_dim(int dimension) noexcept XG_PURE;

/* Says that what follows accesses memory; the site's number is put in when it is assembled. */
XG_RUNTIME void xg_access(const void *address, int bytes, int kind, int site) noexcept;
/* Bytes copied unseen. */
XG_RUNTIME void xg_copy(void *to, const void *from, size_t bytes) noexcept;

XG_RUNTIME void xg_syncthreads(const xg_source_location *here) noexcept;
XG_RUNTIME void xg_syncwarp(uint32_t mask, const xg_source_location *here) noexcept;
XG_RUNTIME void xg_shuffle(uint32_t mask, void *value, unsigned bytes, int from,
                           const xg_source_location *here) noexcept;
XG_RUNTIME uint32_t xg_ballot(uint32_t mask, int vote, const xg_source_location *here) noexcept;
XG_RUNTIME uint32_t xg_reduce(uint32_t mask, uint32_t value, int add,
                              const xg_source_location *here) noexcept;
XG_RUNTIME void xg_fence() noexcept;
XG_RUNTIME void xg_copy_async(void *to, const void *from, unsigned whole, unsigned bytes) noexcept;
XG_RUNTIME void xg_copy_commit() noexcept;
XG_RUNTIME void xg_copy_wait(int groups_left) noexcept;
XG_RUNTIME void xg_tensor(int type, int flops) noexcept;
XG_RUNTIME void xg_fail(const xg_source_location *here, const char *what) noexcept;

#endif
