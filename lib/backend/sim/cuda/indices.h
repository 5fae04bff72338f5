/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threadIdx and its like, whose values the compiler may keep: they change with the thread only.
 * With clang they are calls, for it instruments each load of an object that it sees no value of.
 * With gcc they are constant objects, which it does not instrument, and not calls, for gcc 12
 * computes the index in (c ? a : b)[call().x] in one of the two branches alone.
 */
#ifndef XGEMM_CUDA_INDICES_H
#define XGEMM_CUDA_INDICES_H

namespace xg
{
XG_INLINE uint3 thread_index()
{
    return {xg_thread_index(0), xg_thread_index(1), xg_thread_index(2)};
}
XG_INLINE uint3 block_index()
{
    return {xg_block_index(0), xg_block_index(1), xg_block_index(2)};
}
XG_INLINE dim3 block_dim()
{
    return dim3(xg_block_dim(0), xg_block_dim(1), xg_block_dim(2));
}
XG_INLINE dim3 grid_dim()
{
    return dim3(xg_grid_dim(0), xg_grid_dim(1), xg_grid_dim(2));
}
XG_INLINE unsigned thread_rank()
{
    return xg_thread_index(0) +
           xg_block_dim(0) * (xg_thread_index(1) + xg_block_dim(1) * xg_thread_index(2));
}
XG_INLINE unsigned lane()
{
    return thread_rank() % 32;
}
} // namespace xg

#ifdef __clang__
#define threadIdx (xg::thread_index())
#define blockIdx  (xg::block_index())
#define blockDim  (xg::block_dim())
#define gridDim   (xg::grid_dim())
#else
/* xg_indices by its types here; the sizes are no dim3, whose constructor would end the constness.
 */
struct xg_constant_indices {
    uint3 thread_index, block_index, block_dim, grid_dim;
};
XG_RUNTIME const xg_constant_indices xg_now;
#define threadIdx (xg_now.thread_index)
#define blockIdx  (xg_now.block_index)
#define blockDim  (xg_now.block_dim)
#define gridDim   (xg_now.grid_dim)
#endif

static constexpr int warpSize = 32;

#endif
