// SPDX-License-Identifier: BSD-3-Clause
/* Matrix products of n x n as textbooks have them, for the tests of xgemm explain FILE.cu. */

/* A row of the result for each threadIdx.x: neighbours are n elements apart. */
__global__ void naive_rows(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += a[row * n + i] * b[i * n + column];
    c[row * n + column] = sum;
}

/* A column for each threadIdx.x: neighbours are neighbours. */
__global__ void naive_columns(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += a[row * n + i] * b[i * n + column];
    c[row * n + column] = sum;
}

template <int TILE> __global__ void tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < n; first += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

#define WIDTH 4 /* tiles of the result in a row for each block */

__global__ void coarsened(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[32][32], tile_b[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, first_column = blockIdx.x * 32 * WIDTH + threadIdx.x;
    float sums[WIDTH] = {0.0f};
    for (int first = 0; first < n; first += 32) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
        for (int w = 0; w < WIDTH; w++) {
            tile_b[threadIdx.y][threadIdx.x] =
                b[(first + threadIdx.y) * n + first_column + 32 * w];
            __syncthreads();
            for (int i = 0; i < 32; i++)
                sums[w] += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
            __syncthreads();
        }
    }
    for (int w = 0; w < WIDTH; w++)
        c[row * n + first_column + 32 * w] = sums[w];
}

/* B is in column order: its tile is read along columns and stored transposed. */
__global__ void corner_turned(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[32][32], tile_b[32][33];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < n; first += 32) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
        tile_b[threadIdx.x][threadIdx.y] =
            b[(blockIdx.x * 32 + threadIdx.y) * n + first + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

/* The same without the turn: neighbours are n elements apart in B. */
__global__ void column_order(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[32][32], tile_b[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < n; first += 32) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[column * n + first + threadIdx.y];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
