/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bits: what products' bits are on GPU 0, as CSV, for comparing two builds of the library.
 *
 *     bench/bits
 *
 * Every kernel, and what auto takes in each math mode; every type that it multiplies; four layouts,
 * with bias and scalars that round. A line has a hash of C (FNV-1a); equal lines are equal bits.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgemm.h>

enum { MOST = 1100 * 1100, BATCH = 3 };

static const struct {
    const char *name;
    xgemm_type type;
    size_t bytes, part; /* of an element, and of its real part */
} types[] = {
    {"f32", XGEMM_F32, 4, 4},   {"f64", XGEMM_F64, 8, 8}, {"f16", XGEMM_F16, 2, 2},
    {"bf16", XGEMM_BF16, 2, 2}, {"c32", XGEMM_C32, 8, 4}, {"c64", XGEMM_C64, 16, 8},
};
enum { TYPES = sizeof types / sizeof *types };

static const int shapes[][4] = {/* m, n, k, products */
                                {130, 70, 200, 1},   {64, 64, 64, 1},      {257, 129, 65, 1},
                                {512, 512, 512, 1},  {1000, 37, 1021, 1},  {1024, 1024, 1024, 1},
                                {61, 1000, 1000, 1}, {1025, 1023, 127, 1}, {96, 200, 160, BATCH}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *const maths[] = {"default", "strict", "tf32"};

static xgemm_handle *handle;
static void *a, *b, *c, *bias;
static unsigned char *here, *start_c; /* the host's */

static void check(xgemm_status status)
{
    if (status) {
        fprintf(stderr, "bits: %s\n", xgemm_last_error(handle));
        exit(1);
    }
}

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Numbers of both signs between 1/2 and 2, all bits of whose fractions are random. */
static void fill(unsigned char *to, int type, size_t elements, uint32_t seed)
{
    const size_t part = types[type].part, count = elements * types[type].bytes / part;
    for (size_t i = 0; i < count; i++) {
        const uint32_t high = next(&seed), low = next(&seed);
        const uint64_t fraction = (uint64_t)high << 24 | low, sign = high & 1, up = low & 1;
        uint64_t bits = sign << 63 | (1022 + up) << 52 | (fraction & 0xfffffffffffff);
        if (part == 4)
            bits = sign << 31 | (126 + up) << 23 | (fraction & 0x7fffff);
        if (types[type].type == XGEMM_F16)
            bits = sign << 15 | (14 + up) << 10 | (fraction & 0x3ff);
        if (types[type].type == XGEMM_BF16)
            bits = sign << 15 | (126 + up) << 7 | (fraction & 0x7f);
        memcpy(to + i * part, &bits, part); /* little-endian */
    }
}

static void upload(void *to, int type, size_t elements, uint32_t seed)
{
    fill(here, type, elements, seed);
    check(xgemm_upload(handle, to, here, elements * types[type].bytes));
}

static uint64_t hash_of_c(size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    check(xgemm_download(handle, here, c, bytes));
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ here[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* alpha and beta, of which no product is exact. */
static void scalars(int type, void *alpha, void *beta)
{
    static const double doubles[] = {1.0 / 3.0, 0.1, 0.7, -0.3};
    static const float floats[] = {1.0f / 3.0f, 0.1f, 0.7f, -0.3f};
    const bool is_double = types[type].part == 8;
    const size_t bytes = 2 * (is_double ? sizeof *doubles : sizeof *floats);
    memcpy(alpha, is_double ? (const void *)doubles : floats, bytes);
    memcpy(beta, is_double ? (const void *)(doubles + 2) : floats + 2, bytes);
}

static void product(const char *name, const char *math, int type, const int *shape, int layout)
{
    const int m = shape[0], n = shape[1], k = shape[2], count = shape[3];
    const size_t bytes = (size_t)count * (size_t)m * (size_t)n * types[type].bytes;
    double alpha[2], beta[2];
    scalars(type, alpha, beta);
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.transa = layout & 1 ? XGEMM_TRANS : XGEMM_NO_TRANS;
    p.transb = layout & 2 ? XGEMM_CONJ_TRANS : XGEMM_NO_TRANS;
    p.m = m, p.n = n, p.k = k;
    p.type_a = p.type_b = p.type_c = types[type].type;
    p.alpha = alpha, p.beta = beta;
    p.a = a, p.b = b, p.c = c;
    p.lda = layout & 1 ? m : k, p.ldb = layout & 2 ? k : n, p.ldc = n;
    p.stride_a = (int64_t)m * k, p.stride_b = (int64_t)k * n, p.stride_c = (int64_t)m * n;
    p.batch_count = count;
    p.bias = bias, p.type_bias = types[type].type;
    check(xgemm_upload(handle, c, start_c, bytes));
    const xgemm_status status = xgemm_gemm(handle, &p);
    if (status == XGEMM_ERROR_NOT_SUPPORTED)
        return;
    check(status);
    printf("%s,%s,%s,%d,%d,%d,%d,%d,%s,%016llx\n", types[type].name, name, math, layout, m, n, k,
           count, xgemm_last_kernel(handle), (unsigned long long)hash_of_c(bytes));
}

/* A kernel's products of a type, or auto's. */
static void products(const char *name, xgemm_math math, int type)
{
    check(xgemm_set_math(handle, math));
    check(xgemm_set_kernel(handle, name));
    for (int shape = 0; shape < SHAPES; shape++)
        for (int layout = 0; layout < 4; layout++)
            product(name, maths[math], type, shapes[shape], layout);
}

static void products_of_type(int type)
{
    upload(a, type, MOST, 1);
    upload(b, type, MOST, 2);
    upload(bias, type, MOST, 4);
    fill(start_c, type, MOST, 3);
    for (xgemm_math math = XGEMM_MATH_DEFAULT; math <= XGEMM_MATH_TF32; math++)
        products("auto", math, type);
    for (int i = 0; i < xgemm_kernel_count(); i++) {
        xgemm_kernel_info info = {.struct_size = sizeof info};
        check(xgemm_kernel_get(i, &info));
        if (info.devices & XGEMM_RUNS_ON_CUDA && xgemm_set_kernel(handle, info.name) == XGEMM_OK)
            products(info.name, info.math, type);
    }
}

int main(void)
{
    const size_t bytes = (size_t)MOST * 16;
    here = malloc(bytes);
    start_c = malloc(bytes);
    if (!here || !start_c)
        return 1;
    check(xgemm_create(&handle, 0));
    void **const memories[] = {&a, &b, &c, &bias};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        check(xgemm_malloc(handle, bytes, memories[i]));
    printf("type,kernel,math,layout,m,n,k,products,ran,hash\n");
    for (int type = 0; type < TYPES; type++)
        products_of_type(type);
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        check(xgemm_free(handle, *memories[i]));
    xgemm_destroy(handle);
    free(here);
    free(start_c);
    return 0;
}
