/* SPDX-License-Identifier: BSD-3-Clause */
/* Cooperative groups: a block, and tiles of at most a warp. A grid cannot wait for itself here. */
#ifndef XGEMM_CUDA_COOPERATIVE_GROUPS_H
#define XGEMM_CUDA_COOPERATIVE_GROUPS_H

#include "device.h"

namespace cooperative_groups
{

struct thread_block {
    XG_INLINE_MEMBER void sync(xg::here at = xg::here()) const
    {
        xg_syncthreads(&at);
    }
    XG_INLINE_MEMBER unsigned thread_rank() const
    {
        return xg::thread_rank();
    }
    XG_INLINE_MEMBER unsigned size() const
    {
        return xg_block_dim(0) * xg_block_dim(1) * xg_block_dim(2);
    }
    XG_INLINE_MEMBER unsigned num_threads() const
    {
        return size();
    }
    XG_INLINE_MEMBER dim3 group_index() const
    {
        return xg::block_index();
    }
    XG_INLINE_MEMBER dim3 thread_index() const
    {
        return xg::thread_index();
    }
    XG_INLINE_MEMBER dim3 group_dim() const
    {
        return xg::block_dim();
    }
    XG_INLINE_MEMBER dim3 dim_threads() const
    {
        return xg::block_dim();
    }
};
XG_INLINE thread_block this_thread_block()
{
    return {};
}

template <unsigned Size, class Parent = void> struct thread_block_tile {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "the simulator has tiles of 1, 2, 4, 8, 16 and 32 threads");
    XG_INLINE_MEMBER unsigned mask() const
    {
        return (Size == 32 ? 0xffffffffu : (1u << (Size % 32)) - 1) << (xg::lane() & ~(Size - 1));
    }
    XG_INLINE_MEMBER void sync(xg::here at = xg::here()) const
    {
        xg_syncwarp(mask(), &at);
    }
    XG_INLINE_MEMBER unsigned thread_rank() const
    {
        return xg::lane() % Size;
    }
    XG_INLINE_MEMBER static constexpr unsigned size()
    {
        return Size;
    }
    XG_INLINE_MEMBER static constexpr unsigned num_threads()
    {
        return Size;
    }
    XG_INLINE_MEMBER unsigned meta_group_rank() const
    {
        return xg::thread_rank() / Size;
    }
    XG_INLINE_MEMBER unsigned meta_group_size() const
    {
        return (thread_block().size() + Size - 1) / Size;
    }
    template <class T>
    XG_INLINE_MEMBER T shfl(T value, unsigned from, xg::here at = xg::here()) const
    {
        return __shfl_sync(mask(), value, (int)from, Size, at);
    }
    template <class T>
    XG_INLINE_MEMBER T shfl_up(T value, unsigned delta, xg::here at = xg::here()) const
    {
        return __shfl_up_sync(mask(), value, delta, Size, at);
    }
    template <class T>
    XG_INLINE_MEMBER T shfl_down(T value, unsigned delta, xg::here at = xg::here()) const
    {
        return __shfl_down_sync(mask(), value, delta, Size, at);
    }
    template <class T>
    XG_INLINE_MEMBER T shfl_xor(T value, unsigned bits, xg::here at = xg::here()) const
    {
        return __shfl_xor_sync(mask(), value, (int)bits, Size, at);
    }
    XG_INLINE_MEMBER unsigned ballot(int vote, xg::here at = xg::here()) const
    {
        return xg_ballot(mask(), vote != 0, &at) >> (xg::lane() & ~(Size - 1));
    }
    XG_INLINE_MEMBER int any(int vote, xg::here at = xg::here()) const
    {
        return ballot(vote, at) != 0;
    }
    XG_INLINE_MEMBER int all(int vote, xg::here at = xg::here()) const
    {
        return ballot(!vote, at) == 0;
    }
};
template <unsigned Size, class Parent>
XG_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent &)
{
    return {};
}

struct grid_group {
    XG_INLINE_MEMBER void sync(xg::here at = xg::here()) const
    {
        xg_fail(&at, "waits for the whole grid, which the simulator does not run at once");
    }
    XG_INLINE_MEMBER unsigned long long block_rank() const
    {
        return xg_block_index(0) +
               (unsigned long long)xg_grid_dim(0) *
                   (xg_block_index(1) + (unsigned long long)xg_grid_dim(1) * xg_block_index(2));
    }
    XG_INLINE_MEMBER unsigned long long thread_rank() const
    {
        return block_rank() * thread_block().size() + xg::thread_rank();
    }
    XG_INLINE_MEMBER unsigned long long size() const
    {
        return (unsigned long long)xg_grid_dim(0) * xg_grid_dim(1) * xg_grid_dim(2) *
               thread_block().size();
    }
};
XG_INLINE grid_group this_grid()
{
    return {};
}

template <class Group> XG_INLINE void sync(const Group &group, xg::here at = xg::here())
{
    group.sync(at);
}

template <class T> struct plus {
    XG_INLINE_MEMBER T operator()(T a, T b) const
    {
        return a + b;
    }
};
template <class T> struct less {
    XG_INLINE_MEMBER T operator()(T a, T b) const
    {
        return a < b ? a : b;
    }
};
template <class T> struct greater {
    XG_INLINE_MEMBER T operator()(T a, T b) const
    {
        return a < b ? b : a;
    }
};
template <unsigned Size, class Parent, class T, class Operation>
XG_INLINE T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation,
                   xg::here at = xg::here())
{
    for (unsigned bits = Size / 2; bits > 0; bits /= 2)
        value = operation(value, tile.shfl_xor(value, bits, at));
    return value;
}

} // namespace cooperative_groups

#endif
