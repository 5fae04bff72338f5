/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer of a network in BF16: y = GELU(x W' + bias), x of BATCH rows, W of OUTPUTS rows as
 * networks store it. Bias and GELU are computed in FP32, before y is rounded to BF16.
 *
 *     cc linear.c $(pkg-config --cflags --libs xgemm) -lm && ./a.out
 *
 * Compares y with the same in double precision; the exit status is 1 if it is off.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgemm.h>

enum { BATCH = 48, INPUTS = 200, OUTPUTS = 96 };

static void check(xgemm_handle *handle, xgemm_status status)
{
    if (status != XGEMM_OK) {
        fprintf(stderr, "%s\n", xgemm_last_error(handle));
        exit(EXIT_FAILURE);
    }
}

/* A BF16 is the upper half of a float; to nearest, ties to even. */
static uint16_t bf16_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float float_of(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void fill(uint16_t *matrix, int count, float largest)
{
    for (int i = 0; i < count; i++)
        matrix[i] = bf16_of(largest * (2.0f * (float)rand() / (float)RAND_MAX - 1.0f));
}

static void *on_device(xgemm_handle *handle, const void *from, size_t bytes)
{
    void *memory;
    check(handle, xgemm_malloc(handle, bytes, &memory));
    check(handle, xgemm_upload(handle, memory, from, bytes));
    return memory;
}

/* The largest error of y, relative to the sum of magnitudes that an element is made of. */
static double error_of(const uint16_t *x, const uint16_t *w, const uint16_t *bias,
                       const uint16_t *y)
{
    double most = 0.0;
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < OUTPUTS; j++) {
            double sum = float_of(bias[j]), size = fabs(sum);
            for (int l = 0; l < INPUTS; l++) {
                const double product =
                    (double)float_of(x[i * INPUTS + l]) * (double)float_of(w[j * INPUTS + l]);
                sum += product;
                size += fabs(product);
            }
            const double gelu = 0.5 * sum * erfc(-sum * sqrt(0.5));
            const double error = fabs((double)float_of(y[i * OUTPUTS + j]) - gelu);
            most = fmax(most, (error - fabs(gelu) / 256.0) / size); /* half a unit of BF16 */
        }
    return most;
}

int main(void)
{
    static uint16_t x[BATCH * INPUTS], w[OUTPUTS * INPUTS], bias[OUTPUTS], y[BATCH * OUTPUTS];
    xgemm_product layer = XGEMM_PRODUCT_INIT;
    xgemm_handle *handle;

    fill(x, BATCH * INPUTS, 1.0f);
    fill(w, OUTPUTS * INPUTS, 0.25f);
    fill(bias, OUTPUTS, 1.0f);
    check(NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    void *const dx = on_device(handle, x, sizeof x), *const dw = on_device(handle, w, sizeof w);
    void *const dbias = on_device(handle, bias, sizeof bias);
    void *const dy = on_device(handle, y, sizeof y);

    layer.transb = XGEMM_TRANS;
    layer.m = BATCH, layer.n = OUTPUTS, layer.k = INPUTS;
    layer.type_a = layer.type_b = layer.type_c = XGEMM_BF16;
    layer.a = dx, layer.lda = INPUTS;
    layer.b = dw, layer.ldb = INPUTS;
    layer.c = dy, layer.ldc = OUTPUTS;
    layer.bias = dbias, layer.type_bias = XGEMM_BF16;
    layer.activation = XGEMM_GELU;
    check(handle, xgemm_gemm(handle, &layer));

    check(handle, xgemm_download(handle, y, dy, sizeof y));
    const double error = error_of(x, w, bias, y);
    printf("%d x %d x %d in BF16 with bias and GELU by %s: largest error beyond rounding %.1e\n",
           BATCH, OUTPUTS, INPUTS, xgemm_last_kernel(handle), error);
    xgemm_free(handle, dx);
    xgemm_free(handle, dw);
    xgemm_free(handle, dbias);
    xgemm_free(handle, dy);
    xgemm_destroy(handle);
    return error < 1e-5 ? EXIT_SUCCESS : EXIT_FAILURE;
}
