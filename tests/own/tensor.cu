// Products of tiles by WMMA, of every layout; each warp asserts an element of its tile.
#include <mma.h>

using namespace nvcuda;

template <class Layout> __device__ int place(int row, int column, int n)
{
    return std::is_same<Layout, wmma::row_major>::value ? row * n + column : column * n + row;
}

template <int M, int N, class T, class LayoutA, class LayoutB, class Sum>
__global__ void tiles(const T *a, const T *b, Sum *c, int n)
{
    constexpr int K = 16;
    const int row = blockIdx.y * M, column = blockIdx.x * N;
    wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> of_a;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> of_b;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    wmma::fill_fragment(sum, Sum(0.0f));
    for (int k = 0; k < n; k += K) {
        const T *const from_a = a + place<LayoutA>(row, k, n);
        const T *const from_b = b + place<LayoutB>(k, column, n);
        wmma::load_matrix_sync(of_a, from_a, n);
        wmma::load_matrix_sync(of_b, from_b, n);
        wmma::mma_sync(sum, of_a, of_b, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
    __syncwarp();
    const int i = row + threadIdx.x % M, j = column + (threadIdx.x * 7 + 3) % N;
    float wanted = 0.0f;
    for (int k = 0; k < n; k++)
        wanted += (float)a[place<LayoutA>(i, k, n)] * (float)b[place<LayoutB>(k, j, n)];
    assert(fabsf((float)c[i * n + j] - wanted) <= 0.01f * n);
}

using rows = wmma::row_major;
using columns = wmma::col_major;
template __global__ void tiles<16, 16, half, rows, rows, float>(const half *, const half *, float *, int);
