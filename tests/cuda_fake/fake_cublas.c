/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake libcublas.so.13 for preload.sh: a handle is the two modes themselves, products are
 * counted and not computed. fake_cublas_calls() gives the count.
 */
typedef struct {
    int pointer_mode, math_mode;
} fake_handle;

static int calls;

int fake_cublas_calls(void);
int cublasGetStream_v2(fake_handle *handle, void **stream);
int cublasGetPointerMode_v2(fake_handle *handle, int *mode);
int cublasGetMathMode(fake_handle *handle, int *mode);
int cublasSgemm_v2(fake_handle *handle);
int cublasSgemmStridedBatched(fake_handle *handle);

int fake_cublas_calls(void)
{
    return calls;
}

int cublasGetStream_v2(fake_handle *handle, void **stream)
{
    (void)handle;
    *stream = 0;
    return 0;
}

int cublasGetPointerMode_v2(fake_handle *handle, int *mode)
{
    *mode = handle->pointer_mode;
    return 0;
}

int cublasGetMathMode(fake_handle *handle, int *mode)
{
    *mode = handle->math_mode;
    return 0;
}

/* The arguments after the handle are not looked at. */
int cublasSgemm_v2(fake_handle *handle)
{
    (void)handle;
    calls++;
    return 0;
}

int cublasSgemmStridedBatched(fake_handle *handle)
{
    (void)handle;
    calls++;
    return 0;
}
