/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of preload.sh: calls cuBLAS, and says what the fake library saw. With a GPU, which
 * may be fake, the products that libxgemm serves are checked; the exit status is 1 if one is wrong.
 */
#include <stdbool.h>
#include <stdio.h>

#include <xgemm.h>

int fake_cublas_calls(void);
int cublasSgemm_v2(void *handle, int transa, int transb, int m, int n, int k, const float *alpha,
                   const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                   int ldc);
int cublasSgemmStridedBatched(void *handle, int transa, int transb, int m, int n, int k,
                              const float *alpha, const float *a, int lda, long long stride_a,
                              const float *b, int ldb, long long stride_b, const float *beta,
                              float *c, int ldc, long long stride_c, int batch_count);

enum { M = 2, N = 3, K = 4, BATCH = 2 };

static float values[3][BATCH * K * K], *device[3];

/* Column order, no transposes, alpha = 2, beta = 0; A's and B's elements are small integers. */
static bool is_product(int batch)
{
    const float *a = values[0] + batch * M * K, *b = values[1] + batch * K * N;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int l = 0; l < K; l++)
                sum += a[i + l * M] * b[l + j * K];
            if (values[2][batch * M * N + i + j * M] != 2 * sum)
                return false;
        }
    return true;
}

static bool multiply(xgemm_handle *gpu, int pointer_mode, int math_mode, int batch_count)
{
    const float alpha = 2, beta = 0;
    int cublas[2] = {pointer_mode, math_mode};
    const int before = fake_cublas_calls();
    int status;
    if (batch_count)
        status =
            cublasSgemmStridedBatched(cublas, 0, 0, M, N, K, &alpha, device[0], M, M * K, device[1],
                                      K, K * N, &beta, device[2], M, M * N, batch_count);
    else
        status = cublasSgemm_v2(cublas, 0, 0, M, N, K, &alpha, device[0], M, device[1], K, &beta,
                                device[2], M);
    if (status || fake_cublas_calls() != before)
        return status == 0;
    bool is_right = gpu && !xgemm_download(gpu, values[2], device[2], sizeof values[2]);
    for (int batch = 0; batch < (batch_count ? batch_count : 1); batch++)
        is_right = is_right && is_product(batch);
    return is_right;
}

int main(void)
{
    xgemm_handle *gpu = NULL;
    bool is_right = true;
    if (xgemm_create(&gpu, 0) == XGEMM_OK)
        is_right = xgemm_make_current(gpu) == XGEMM_OK;
    for (int i = 0; i < 3; i++) {
        void *memory = values[i];
        for (int j = 0; j < BATCH * K * K; j++)
            values[i][j] = (float)((i + 5 * j) % 7 - 3);
        if (gpu)
            is_right = is_right && !xgemm_malloc(gpu, sizeof values[i], &memory) &&
                       !xgemm_upload(gpu, memory, values[i], sizeof values[i]);
        device[i] = memory;
    }
    is_right = is_right && multiply(gpu, 0, 0, 0) && multiply(gpu, 0, 2, 0) &&
               multiply(gpu, 0, 0, BATCH) && multiply(gpu, 0, 3 | 16, BATCH);
    is_right = is_right && multiply(gpu, 1, 0, 0) && multiply(gpu, 0, 4, 0);
    printf("%d calls of the fake\n", fake_cublas_calls());
    for (int i = 0; gpu && i < 3; i++)
        xgemm_free(gpu, device[i]);
    xgemm_destroy(gpu);
    return !is_right;
}
