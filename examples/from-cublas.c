/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of doc/from-cublas.md, which has the same with cuBLAS beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <xgemm.h>

static void check(xgemm_handle *handle, xgemm_status status)
{
    if (status != XGEMM_OK) {
        fprintf(stderr, "%s\n", xgemm_last_error(handle));
        exit(EXIT_FAILURE);
    }
}

int main(void)
{
    const int m = 2, n = 4, k = 3;
    const float a[] = {1, 2, 3, 4, 5, 6};                   /* 2 rows of 3 */
    const float b[] = {1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1}; /* 3 rows of 4 */
    float c[8];                                             /* 2 rows of 4 */
    void *da, *db, *dc;
    xgemm_handle *handle;

    check(NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    check(handle, xgemm_malloc(handle, sizeof a, &da));
    check(handle, xgemm_malloc(handle, sizeof b, &db));
    check(handle, xgemm_malloc(handle, sizeof c, &dc));
    check(handle, xgemm_upload(handle, da, a, sizeof a));
    check(handle, xgemm_upload(handle, db, b, sizeof b));

    /* C = A B, in row order. */
    check(handle, xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, n, k,
                              1.0f, da, k, db, n, 0.0f, dc, n));

    check(handle, xgemm_download(handle, c, dc, sizeof c));
    for (int i = 0; i < m; i++)
        printf("%g %g %g %g\n", c[i * n], c[i * n + 1], c[i * n + 2], c[i * n + 3]);
    xgemm_free(handle, da);
    xgemm_free(handle, db);
    xgemm_free(handle, dc);
    xgemm_destroy(handle);
    return EXIT_SUCCESS;
}
