/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libxgemm for blas.sh and dropins.sh whose products write a part of C and fail then, as on a GPU
 * that is lost; with FAKE_MEASURED on a GPU that was measured, where large ones do nothing and are
 * done; with FAKE_NO_HANDLE it makes no handle.
 */
#include <xgemm.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 60 };

static bool is_measured(void)
{
    return getenv("FAKE_MEASURED") != NULL;
}

xgemm_status xgemm_create(xgemm_handle **handle, int ordinal)
{
    (void)ordinal;
    *handle = getenv("FAKE_NO_HANDLE") ? NULL : (xgemm_handle *)handle;
    return *handle ? XGEMM_OK : XGEMM_ERROR_ENVIRONMENT;
}

xgemm_status xgemm_create_devices(xgemm_handle **handle, const int *ordinals, int count)
{
    (void)count;
    return xgemm_create(handle, *ordinals);
}

void xgemm_destroy(xgemm_handle *handle)
{
    (void)handle;
}

xgemm_status xgemm_device_find(const char *name, xgemm_device *device)
{
    (void)name, (void)device;
    return XGEMM_ERROR_NO_DEVICE;
}

xgemm_status xgemm_device_get(int ordinal, xgemm_device *device)
{
    (void)ordinal;
    snprintf(device->name, sizeof device->name, "fake");
    return XGEMM_OK;
}

xgemm_status xgemm_gemm(xgemm_handle *handle, const xgemm_product *product)
{
    (void)handle;
    if (product->n >= LARGE)
        return is_measured() ? XGEMM_OK : XGEMM_ERROR_LAUNCH;
    static const size_t bytes[] = {
        [XGEMM_F32] = 4, [XGEMM_F64] = 8, [XGEMM_C32] = 8, [XGEMM_C64] = 16};
    const size_t size = bytes[product->type_c];
    for (int64_t j = 0; j + 1 < product->n; j++)
        memset((char *)product->c + (size_t)(j * product->ldc) * size, 0xff,
               size * (size_t)product->m);
    return XGEMM_ERROR_LAUNCH;
}

xgemm_status xgemm_gemm_plan(xgemm_handle *handle, const xgemm_product *product, xgemm_plan *plan)
{
    (void)handle, (void)product;
    plan->measured_on = is_measured() ? "fake" : NULL;
    plan->kernel = "fp16x3-fake";
    plan->microseconds = 1;
    return XGEMM_OK;
}

const char *xgemm_last_error(const xgemm_handle *handle)
{
    (void)handle;
    return "xgemm_create: the environment is bad";
}

xgemm_status xgemm_make_current(xgemm_handle *handle)
{
    (void)handle;
    return XGEMM_OK;
}

xgemm_status xgemm_set_math(xgemm_handle *handle, xgemm_math math)
{
    (void)handle, (void)math;
    return XGEMM_OK;
}

xgemm_status xgemm_set_stream(xgemm_handle *handle, void *stream)
{
    (void)handle, (void)stream;
    return XGEMM_OK;
}
