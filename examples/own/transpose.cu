// to = from', n x n, by way of a tile in shared memory. PITCH 32: the 32 threads of a warp that read
// a column of the tile want one bank. 33: 32 banks.
template <int PITCH> __global__ void transpose(const float *from, float *to, int n)
{
    __shared__ float tile[32][PITCH];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int i = threadIdx.y; i < 32; i += blockDim.y)
        tile[i][threadIdx.x] = from[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
    for (int i = threadIdx.y; i < 32; i += blockDim.y)
        to[(y + i) * n + x] = tile[threadIdx.x][i];
}
