/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A product on the best device there is.
 *
 *     cc product.c $(pkg-config --cflags --libs xgemm) -o product
 */
#include <xgemm.h>

#include <stdio.h>
#include <stdlib.h>

enum { M = 3, N = 2, K = 4 };

/* A copy of host values in the device's memory. */
static float *on_device(xgemm_handle *handle, const float *values, size_t count)
{
    void *memory;
    if (xgemm_malloc(handle, count * sizeof *values, &memory) ||
        xgemm_upload(handle, memory, values, count * sizeof *values)) {
        fprintf(stderr, "%s\n", xgemm_last_error(handle));
        exit(EXIT_FAILURE);
    }
    return memory;
}

int main(void)
{
    const float a[M * K] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const float b[K * N] = {1, 0, 0, 1, 1, 0, 0, 1};
    const float want[M * N] = {4, 6, 12, 14, 20, 22};
    float c[M * N] = {0};
    xgemm_handle *handle;

    if (xgemm_create(&handle, XGEMM_DEVICE_AUTO)) {
        fprintf(stderr, "%s\n", xgemm_last_error(NULL));
        return EXIT_FAILURE;
    }
    float *da = on_device(handle, a, M * K), *db = on_device(handle, b, K * N);
    float *dc = on_device(handle, c, M * N);
    if (xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, M, N, K, 1.0f, da, K,
                    db, N, 0.0f, dc, N) ||
        xgemm_download(handle, c, dc, sizeof c)) {
        fprintf(stderr, "%s\n", xgemm_last_error(handle));
        return EXIT_FAILURE;
    }

    int wrong = 0;
    for (int i = 0; i < M * N; i++)
        wrong += c[i] != want[i];
    printf("libxgemm %s, kernel %s: %s\n", xgemm_version(), xgemm_last_kernel(handle),
           wrong ? "WRONG" : "right");
    xgemm_free(handle, da);
    xgemm_free(handle, db);
    xgemm_free(handle, dc);
    xgemm_destroy(handle);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
