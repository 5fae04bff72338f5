// How often each of 64 values is there. Atomics of all threads on global memory, or of a block on
// its own bins in shared memory first.
__global__ void direct(const unsigned *values, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[values[i] % 64], 1u);
}

__global__ void by_blocks(const unsigned *values, unsigned *bins, int n)
{
    __shared__ unsigned own[64];
    if (threadIdx.x < 64)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[values[i] % 64], 1u);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
