/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * WMMA: a warp's products of small matrices, of half, __nv_bfloat16 and TF32, summed in float or
 * half. Where elements lie in a warp's registers CUDA leaves open; here, as in mma.sync, a thread
 * has pairs of neighbours, in memory too, and loads or stores a pair by one access where ld is
 * even. Every element is in one thread; a GPU's A and B may have some twice.
 */
#ifndef XGEMM_CUDA_MMA_H
#define XGEMM_CUDA_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace xg
{
typedef unsigned __attribute__((may_alias)) wmma_word;
typedef unsigned long long __attribute__((may_alias)) wmma_two_words;

/*
 * R x C elements; element i of a lane: of each 8 x 8 two neighbours along a row, or down a column
 * where columns are contiguous.
 */
template <int R, int C, class T, bool ByColumns> struct wmma_elements {
    static_assert(R % 8 == 0 && C % 8 == 0, "wmma: m, n and k are multiples of 8");
    enum { num_elements = R * C / 32 };
    typedef T element_type;
    T x[num_elements];

    static XG_INLINE_MEMBER int row_of(int i, int lane)
    {
        return ByColumns ? i / 2 % (R / 8) * 8 + lane % 4 * 2 + i % 2
                         : i / 2 / (C / 8) * 8 + lane / 4;
    }
    static XG_INLINE_MEMBER int column_of(int i, int lane)
    {
        return ByColumns ? i / 2 / (R / 8) * 8 + lane / 4
                         : i / 2 % (C / 8) * 8 + lane % 4 * 2 + i % 2;
    }
    /* Whether a pair is one access, where so many elements are from a line to the next. */
    static XG_INLINE_MEMBER bool pairs(unsigned ld, bool by_columns)
    {
        return by_columns == ByColumns && ld % 2 == 0;
    }
};

template <class F, class T>
XG_INLINE void wmma_load(F &f, const T *from, unsigned ld, bool by_columns)
{
    for (int i = 0; i < F::num_elements; i += 2) {
        const size_t row = (size_t)F::row_of(i, (int)lane());
        const size_t column = (size_t)F::column_of(i, (int)lane());
        const T *const at = by_columns ? from + column * ld + row : from + row * ld + column;
        if (F::pairs(ld, by_columns) && sizeof(T) == 2) {
            const unsigned both = *(const wmma_word *)(const void *)at;
            xg_copy(&f.x[i], &both, sizeof both);
        } else if (F::pairs(ld, by_columns) && sizeof(T) == 4) {
            const unsigned long long both = *(const wmma_two_words *)(const void *)at;
            xg_copy(&f.x[i], &both, sizeof both);
        } else {
            f.x[i] = at[0];
            f.x[i + 1] = at[by_columns ? ld : 1];
        }
    }
}

template <class F, class T>
XG_INLINE void wmma_store(T *to, const F &f, unsigned ld, bool by_columns)
{
    for (int i = 0; i < F::num_elements; i += 2) {
        const size_t row = (size_t)F::row_of(i, (int)lane());
        const size_t column = (size_t)F::column_of(i, (int)lane());
        T *const at = by_columns ? to + column * ld + row : to + row * ld + column;
        if (F::pairs(ld, by_columns) && sizeof(T) == 2) {
            unsigned both;
            xg_copy(&both, &f.x[i], sizeof both);
            *(wmma_word *)(void *)at = both;
        } else if (F::pairs(ld, by_columns) && sizeof(T) == 4) {
            unsigned long long both;
            xg_copy(&both, &f.x[i], sizeof both);
            *(wmma_two_words *)(void *)at = both;
        } else {
            at[0] = f.x[i];
            at[by_columns ? ld : 1] = f.x[i + 1];
        }
    }
}

/* Another lane's elements. */
template <class F> XG_INLINE void wmma_of_lane(F *to, const F &f, int from, const here *at)
{
    enum { CHUNK = 16 };
    unsigned char chunk[CHUNK];
    for (size_t i = 0; i < sizeof f.x; i += CHUNK) {
        const unsigned bytes = (unsigned)(sizeof f.x - i < CHUNK ? sizeof f.x - i : CHUNK);
        xg_copy(chunk, (const char *)f.x + i, bytes);
        xg_shuffle(0xffffffffu, chunk, bytes, from, at);
        xg_copy((char *)to->x + i, chunk, bytes);
    }
}
} // namespace xg

namespace nvcuda
{
namespace wmma
{
struct row_major {
};
struct col_major {
};
struct matrix_a {
};
struct matrix_b {
};
struct accumulator {
};
enum layout_t { mem_row_major, mem_col_major };
namespace precision
{
struct tf32 {
};
} // namespace precision

template <class T> struct xg_storage {
    typedef T type;
};
template <> struct xg_storage<precision::tf32> {
    typedef float type;
};

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment;
template <int M, int N, int K, class T, class Layout>
struct fragment<matrix_a, M, N, K, T, Layout>
    : xg::wmma_elements<M, K, typename xg_storage<T>::type,
                        std::is_same<Layout, col_major>::value> {
};
template <int M, int N, int K, class T, class Layout>
struct fragment<matrix_b, M, N, K, T, Layout>
    : xg::wmma_elements<K, N, typename xg_storage<T>::type,
                        std::is_same<Layout, col_major>::value> {
};
template <int M, int N, int K, class T>
struct fragment<accumulator, M, N, K, T, void> : xg::wmma_elements<M, N, T, false> {
};

template <class Use, int M, int N, int K, class T, class Layout, class S>
XG_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const S *from, unsigned ld)
{
    xg::wmma_load(f, from, ld, std::is_same<Layout, col_major>::value);
}
template <int M, int N, int K, class T, class S>
XG_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const S *from, unsigned ld,
                                layout_t layout)
{
    xg::wmma_load(f, from, ld, layout == mem_col_major);
}
template <int M, int N, int K, class T, class S>
XG_INLINE void store_matrix_sync(S *to, const fragment<accumulator, M, N, K, T> &f, unsigned ld,
                                 layout_t layout)
{
    xg::wmma_store(to, f, ld, layout == mem_col_major);
}
template <class F, class V> XG_INLINE void fill_fragment(F &f, V value)
{
    for (int i = 0; i < F::num_elements; i++)
        f.x[i] = typename F::element_type(value);
}

/* TF32 keeps ten bits of the fraction. */
XG_INLINE float __float_to_tf32(float x)
{
    return xg::bits_of<float>((xg::bits_of<unsigned>(x) + 0x1000u) & 0xffffe000u);
}

/* A thread's elements of D need rows of A and columns of B, which other lanes have. */
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class TD, class TC>
XG_INLINE void mma_sync(fragment<accumulator, M, N, K, TD> &d,
                        const fragment<matrix_a, M, N, K, T, LayoutA> &a,
                        const fragment<matrix_b, M, N, K, T, LayoutB> &b,
                        const fragment<accumulator, M, N, K, TC> &c, xg::here at = xg::here())
{
    const int lane = (int)xg::lane();
    xg_tensor(std::is_same<T, __half>::value          ? XG_TENSOR_FP16
              : std::is_same<T, __nv_bfloat16>::value ? XG_TENSOR_BF16
                                                      : XG_TENSOR_TF32,
              2 * M * N * K / 32);
    float whole_a[M][K], whole_b[K][N];
    for (int from = 0; from < 32; from++) {
        fragment<matrix_a, M, N, K, T, LayoutA> of_a;
        fragment<matrix_b, M, N, K, T, LayoutB> of_b;
        xg::wmma_of_lane(&of_a, a, from, &at);
        xg::wmma_of_lane(&of_b, b, from, &at);
        for (int i = 0; i < of_a.num_elements; i++)
            whole_a[of_a.row_of(i, from)][of_a.column_of(i, from)] = (float)of_a.x[i];
        for (int i = 0; i < of_b.num_elements; i++)
            whole_b[of_b.row_of(i, from)][of_b.column_of(i, from)] = (float)of_b.x[i];
    }
    for (int i = 0; i < d.num_elements; i++) {
        float sum = (float)c.x[i];
        for (int k = 0; k < K; k++)
            sum += whole_a[d.row_of(i, lane)][k] * whole_b[k][d.column_of(i, lane)];
        d.x[i] = TD(sum);
    }
}
} // namespace wmma
} // namespace nvcuda

#endif
