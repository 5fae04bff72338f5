/* SPDX-License-Identifier: BSD-3-Clause */
/* threadIdx and its like: read by calls that the compiler may keep the values of. */
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

#define threadIdx (xg::thread_index())
#define blockIdx  (xg::block_index())
#define blockDim  (xg::block_dim())
#define gridDim   (xg::grid_dim())

static constexpr int warpSize = 32;

#endif
