// C = A B, n x n: a thread has an element. Which index belongs to threadIdx.x decides how many
// sectors a warp asks for.
__global__ void rows(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int l = 0; l < n; l++)
        sum += a[row * n + l] * b[l * n + column];
    c[row * n + column] = sum;
}

__global__ void columns(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int l = 0; l < n; l++)
        sum += a[row * n + l] * b[l * n + column];
    c[row * n + column] = sum;
}
