/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers, shuffles and votes. */
#ifndef XGEMM_CUDA_WARP_H
#define XGEMM_CUDA_WARP_H

XG_INLINE void __syncthreads(xg::here at = xg::here())
{
    xg_syncthreads(&at);
}
XG_INLINE void __syncwarp(unsigned mask = 0xffffffffu, xg::here at = xg::here())
{
    xg_syncwarp(mask, &at);
}
XG_INLINE void __threadfence()
{
    xg_fence();
}
XG_INLINE void __threadfence_block()
{
    xg_fence();
}
XG_INLINE void __threadfence_system()
{
    xg_fence();
}

namespace xg
{
/* The value of lane "from" of the warp. */
template <class T>
XG_INLINE T shuffle(unsigned mask, T value, int from, const xg_source_location *at)
{
    xg_shuffle(mask, &value, sizeof value, from, at);
    return value;
}
XG_INLINE int part_of(int width)
{
    return (int)lane() & ~(width - 1);
}
/* A lane outside of the own part of the warp gets its own value. */
XG_INLINE int within(int from, int width)
{
    return from >= part_of(width) && from < part_of(width) + width ? from : (int)lane();
}
} // namespace xg

template <class T>
XG_INLINE T __shfl_sync(unsigned mask, T value, int from, int width = 32, xg::here at = xg::here())
{
    return xg::shuffle(mask, value, xg::part_of(width) + (from & (width - 1)), &at);
}
template <class T>
XG_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                           xg::here at = xg::here())
{
    return xg::shuffle(mask, value, xg::within((int)(xg::lane() - delta), width), &at);
}
template <class T>
XG_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                             xg::here at = xg::here())
{
    return xg::shuffle(mask, value, xg::within((int)(xg::lane() + delta), width), &at);
}
template <class T>
XG_INLINE T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32,
                            xg::here at = xg::here())
{
    return xg::shuffle(mask, value, xg::within((int)xg::lane() ^ bits, width), &at);
}
/* Without a mask, as before CUDA 9: of the whole warp. */
template <class T> XG_INLINE T __shfl(T value, int from, int width = 32, xg::here at = xg::here())
{
    return __shfl_sync(0xffffffffu, value, from, width, at);
}
template <class T>
XG_INLINE T __shfl_up(T value, unsigned delta, int width = 32, xg::here at = xg::here())
{
    return __shfl_up_sync(0xffffffffu, value, delta, width, at);
}
template <class T>
XG_INLINE T __shfl_down(T value, unsigned delta, int width = 32, xg::here at = xg::here())
{
    return __shfl_down_sync(0xffffffffu, value, delta, width, at);
}
template <class T>
XG_INLINE T __shfl_xor(T value, int bits, int width = 32, xg::here at = xg::here())
{
    return __shfl_xor_sync(0xffffffffu, value, bits, width, at);
}

XG_INLINE unsigned __ballot_sync(unsigned mask, int vote, xg::here at = xg::here())
{
    return xg_ballot(mask, vote != 0, &at);
}
XG_INLINE int __any_sync(unsigned mask, int vote, xg::here at = xg::here())
{
    return xg_ballot(mask, vote != 0, &at) != 0;
}
XG_INLINE int __all_sync(unsigned mask, int vote, xg::here at = xg::here())
{
    return xg_ballot(mask, vote == 0, &at) == 0;
}
XG_INLINE unsigned __ballot(int vote, xg::here at = xg::here())
{
    return xg_ballot(0xffffffffu, vote != 0, &at);
}
XG_INLINE int __any(int vote, xg::here at = xg::here())
{
    return __any_sync(0xffffffffu, vote, at);
}
XG_INLINE int __all(int vote, xg::here at = xg::here())
{
    return __all_sync(0xffffffffu, vote, at);
}
XG_INLINE unsigned __reduce_add_sync(unsigned mask, unsigned value, xg::here at = xg::here())
{
    return xg_reduce(mask, value, 1, &at);
}
XG_INLINE unsigned __reduce_max_sync(unsigned mask, unsigned value, xg::here at = xg::here())
{
    return xg_reduce(mask, value, 0, &at);
}
/* The lanes that have the same value. */
template <class T>
XG_INLINE unsigned __match_any_sync(unsigned mask, T value, xg::here at = xg::here())
{
    unsigned same = 0;
    for (int lane = 0; lane < 32; lane++)
        if (mask >> lane & 1 && xg::shuffle(mask, value, lane, &at) == value)
            same |= 1u << lane;
    return same;
}
/* The mask if all lanes have the same value, else 0. */
template <class T>
XG_INLINE unsigned __match_all_sync(unsigned mask, T value, int *all, xg::here at = xg::here())
{
    *all = __match_any_sync(mask, value, at) == mask;
    return *all ? mask : 0;
}
/* Divergence is not modelled: the mask is that of a warp whose threads have all converged. */
XG_INLINE unsigned __activemask(xg::here at = xg::here())
{
    return xg_ballot(0xffffffffu, 1, &at);
}
XG_INLINE int __syncthreads_count(int vote, xg::here at = xg::here())
{
    thread_local int count;
    xg_syncthreads(&at);
    int now = 0;
    if (xg::thread_rank() == 0)
        xg_copy(&count, &now, sizeof now);
    xg_syncthreads(&at);
    xg_copy(&now, &count, sizeof now);
    now += vote != 0;
    xg_copy(&count, &now, sizeof now);
    xg_syncthreads(&at);
    xg_copy(&now, &count, sizeof now);
    return now;
}
XG_INLINE int __syncthreads_or(int vote, xg::here at = xg::here())
{
    return __syncthreads_count(vote, at) != 0;
}
XG_INLINE int __syncthreads_and(int vote, xg::here at = xg::here())
{
    return __syncthreads_count(vote == 0, at) == 0;
}

#endif
