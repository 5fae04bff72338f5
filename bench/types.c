/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * types: xgemm_gemm() beside cuBLAS for every element type, on GPU 0, as CSV.
 *
 *     bench/types [TYPE | M,N,K[,E[,B]]]...
 *
 * Types are f32 f64 f16 bf16 c32 c64, all of them without one; a shape stands for the list of
 * shapes below, E more than the least leading dimensions, B products at once, one after another in
 * memory. XGEMM_LAYOUTS="NN TN" leaves out others; XGEMM_BY_ELEMENT=1 computes by
 * XGEMM_REPRODUCIBLE_ELEMENT, XGEMM_STRICT=1 in XGEMM_MATH_STRICT.
 *
 * For each shape and layout the median of SAMPLES bursts of each, taken in turns; a burst is as
 * many products as take some milliseconds, over copies of the matrices that L2 does not hold.
 * cuBLAS is loaded when it runs (cublasGemmEx, computing in FP32 for 16-bit operands, which may not
 * use a reduced precision); without it its columns are 0. The numbers are uniform in (-1, 1). FLOP
 * are 2mnk, of complex products 8mnk.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgemm.h>

enum { SAMPLES = 7, BURST_MOST = 200 };
#define BURST_US 3000.0

typedef struct {
    const char *name;
    xgemm_type type;
    size_t bytes;
    int cuda_type, compute; /* cudaDataType_t, cublasComputeType_t */
    double flops;           /* of a multiplication and an addition */
} element_type;

static const element_type types[] = {
    {"f32", XGEMM_F32, 4, 0, 68, 2.0}, {"f64", XGEMM_F64, 8, 1, 70, 2.0},
    {"f16", XGEMM_F16, 2, 2, 68, 2.0}, {"bf16", XGEMM_BF16, 2, 14, 68, 2.0},
    {"c32", XGEMM_C32, 8, 4, 68, 8.0}, {"c64", XGEMM_C64, 16, 5, 70, 8.0},
};

/* m, n, k, what leading dimensions have beyond the least, and how many products; 0: 1. */
enum { NUMBERS = 5 };
static const int usual[][NUMBERS] = {
    {64, 64, 64, 0},       {128, 128, 128, 0},    {256, 256, 256, 0},    {512, 512, 512, 0},
    {1024, 1024, 1024, 0}, {2048, 2048, 2048, 0}, {4096, 4096, 4096, 0}, {8192, 8192, 8192, 0},
    {1023, 1023, 1023, 0}, {1025, 1025, 1025, 0}, {2049, 2049, 2049, 0}, {4095, 4095, 4095, 0},
    {4097, 4097, 4097, 0}, {8193, 8193, 8193, 0}, {4096, 4096, 4096, 1}, {4096, 4096, 4096, 2},
    {4096, 4096, 4096, 4}, {16, 4096, 4096, 0},   {64, 14336, 4096, 0},  {1, 12288, 4096, 0},
    {4096, 4096, 64, 0},   {64, 64, 100000, 0},
};

enum { SHAPES_MOST = 512, ELEMENTS = 8200 * 8200 /* of the memory of each matrix, at least */ };
static int shapes[SHAPES_MOST][NUMBERS];
static int shape_count, shapes_named;

/* ---- cuBLAS ---- */

typedef int gemm_ex(void *handle, int transa, int transb, int m, int n, int k, const void *alpha,
                    const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                    const void *beta, void *c, int type_c, int ldc, int compute, int algorithm);
typedef int gemm_batched_ex(void *handle, int transa, int transb, int m, int n, int k,
                            const void *alpha, const void *a, int type_a, int lda,
                            long long stride_a, const void *b, int type_b, int ldb,
                            long long stride_b, const void *beta, void *c, int type_c, int ldc,
                            long long stride_c, int count, int compute, int algorithm);
typedef struct {
    void *handle;
    gemm_ex *multiply;
    gemm_batched_ex *multiply_batch;
} cublas;

static cublas cublas_open(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
    cublas of = {NULL, NULL, NULL};
    void *library = NULL;
    int (*create)(void **), (*set_math)(void *, int);
    for (int i = 0; i < 3 && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library)
        return of;
    *(void **)&create = dlsym(library, "cublasCreate_v2");
    *(void **)&set_math = dlsym(library, "cublasSetMathMode");
    *(void **)&of.multiply = dlsym(library, "cublasGemmEx");
    *(void **)&of.multiply_batch = dlsym(library, "cublasGemmStridedBatchedEx");
    if (!create || !set_math || !of.multiply || !of.multiply_batch || create(&of.handle) != 0)
        return (cublas){NULL, NULL, NULL};
    set_math(of.handle, 16); /* CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION */
    return of;
}

/* ---- A case ---- */

typedef struct {
    const element_type *type;
    int m, n, k, extra, count; /* of products */
    const char *layout;        /* "NT": B is transposed; in column order */
    char *a, *b, *c;
    size_t elements; /* of the memory of each */
    xgemm_handle *handle;
    const cublas *other;
} test_case;

static void require(xgemm_handle *handle, xgemm_status status)
{
    if (status == XGEMM_OK)
        return;
    fprintf(stderr, "types: error: %s\n", xgemm_last_error(handle));
    exit(EXIT_FAILURE);
}

static int lda_of(const test_case *t)
{
    return (t->layout[0] == 'N' ? t->m : t->k) + t->extra;
}

static int ldb_of(const test_case *t)
{
    return (t->layout[1] == 'N' ? t->k : t->n) + t->extra;
}

/* Where the matrices of call number "turn" are: so many columns of "ld" elements of each product.
 */
static void *rotated(const test_case *t, char *memory, int ld, int columns, int turn)
{
    const size_t unit = 128, one = (size_t)ld * (size_t)columns;
    const size_t size = (one * (size_t)t->count + unit - 1) / unit * unit;
    const size_t copies = t->elements / size;
    return memory + (copies > 1 ? (size_t)turn % copies * size * t->type->bytes : 0);
}

static void *a_of(const test_case *t, int turn)
{
    return rotated(t, t->a, lda_of(t), t->layout[0] == 'N' ? t->k : t->m, turn);
}

static void *b_of(const test_case *t, int turn)
{
    return rotated(t, t->b, ldb_of(t), t->layout[1] == 'N' ? t->n : t->k, turn);
}

static void *c_of(const test_case *t, int turn)
{
    return rotated(t, t->c, t->m + t->extra, t->n, turn);
}

static xgemm_transpose transpose_of(char letter)
{
    return letter == 'N' ? XGEMM_NO_TRANS : letter == 'T' ? XGEMM_TRANS : XGEMM_CONJ_TRANS;
}

static void run_ours(const test_case *t, int turn)
{
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.order = XGEMM_COL_MAJOR;
    p.transa = transpose_of(t->layout[0]), p.transb = transpose_of(t->layout[1]);
    p.m = t->m, p.n = t->n, p.k = t->k;
    p.type_a = p.type_b = p.type_c = t->type->type;
    p.a = a_of(t, turn), p.lda = lda_of(t);
    p.b = b_of(t, turn), p.ldb = ldb_of(t);
    p.c = c_of(t, turn), p.ldc = t->m + t->extra;
    p.batch_count = t->count;
    p.stride_a = p.lda * (t->layout[0] == 'N' ? t->k : t->m);
    p.stride_b = p.ldb * (t->layout[1] == 'N' ? t->n : t->k);
    p.stride_c = p.ldc * t->n;
    require(t->handle, xgemm_gemm(t->handle, &p));
}

static void run_cublas(const test_case *t, int turn)
{
    static const float one_f32[2] = {1.0f, 0.0f}, zero[4] = {0.0f};
    static const double one_f64[2] = {1.0, 0.0};
    const void *one = t->type->compute == 70 ? (const void *)one_f64 : (const void *)one_f32;
    const int transa = t->layout[0] != 'N', transb = t->layout[1] != 'N', type = t->type->cuda_type;
    const int lda = lda_of(t), ldb = ldb_of(t), ldc = t->m + t->extra;
    const int status =
        t->count == 1 ? t->other->multiply(t->other->handle, transa, transb, t->m, t->n, t->k, one,
                                           a_of(t, turn), type, lda, b_of(t, turn), type, ldb, zero,
                                           c_of(t, turn), type, ldc, t->type->compute, -1)
                      : t->other->multiply_batch(
                            t->other->handle, transa, transb, t->m, t->n, t->k, one, a_of(t, turn),
                            type, lda, (long long)lda * (transa ? t->m : t->k), b_of(t, turn), type,
                            ldb, (long long)ldb * (transb ? t->k : t->n), zero, c_of(t, turn), type,
                            ldc, (long long)ldc * t->n, t->count, t->type->compute, -1);
    if (status != 0) {
        fprintf(stderr, "types: error: cublasGemmEx returned %d\n", status);
        exit(EXIT_FAILURE);
    }
}

static double burst_us(const test_case *t, void (*run)(const test_case *, int), int count,
                       xgemm_timer *timer)
{
    double us;
    require(t->handle, xgemm_timer_start(timer));
    for (int i = 0; i < count; i++)
        run(t, i);
    require(t->handle, xgemm_timer_stop(timer));
    require(t->handle, xgemm_timer_elapsed(timer, &us));
    return us / count;
}

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static double median(double *of)
{
    qsort(of, SAMPLES, sizeof *of, compare);
    return of[SAMPLES / 2];
}

static void measure(const test_case *t, xgemm_timer *timer)
{
    double ours[SAMPLES], others[SAMPLES] = {0.0};
    burst_us(t, run_ours, 2, timer);
    if (t->other->handle)
        burst_us(t, run_cublas, 2, timer);
    const double once = burst_us(t, run_ours, 1, timer);
    const int count = (int)fmax(1.0, fmin(BURST_US / once, BURST_MOST));
    for (int i = 0; i < SAMPLES; i++) {
        ours[i] = burst_us(t, run_ours, count, timer);
        if (t->other->handle)
            others[i] = burst_us(t, run_cublas, count, timer);
    }
    const double us = median(ours), theirs = median(others);
    const double flops = t->type->flops * t->m * (double)t->n * t->k * t->count;
    run_ours(t, 0);
    printf("%s,%s,%d,%d,%d,%d,%d,%s,%.2f,%.2f,%.2f,%.2f,%.3f\n", t->type->name, t->layout, t->m,
           t->n, t->k, t->extra, t->count, xgemm_last_kernel(t->handle), us, flops / us * 1e-6,
           theirs, theirs > 0.0 ? flops / theirs * 1e-6 : 0.0, theirs / us);
    fflush(stdout);
}

/* ---- Numbers ---- */

static void fill(const element_type *of, void *to, size_t count)
{
    const size_t parts = of->flops > 2.0 ? 2 : 1;
    for (size_t i = 0; i < count * parts; i++) {
        const double x = 2.0 * rand() / RAND_MAX - 1.0;
        const float f = (float)x;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        if (of->type == XGEMM_F64 || of->type == XGEMM_C64)
            ((double *)to)[i] = x;
        else if (of->type == XGEMM_BF16)
            ((uint16_t *)to)[i] = (uint16_t)(bits >> 16);
        else if (of->type == XGEMM_F16) /* in [2^-14, 1): the exponent's bias moves */
            ((uint16_t *)to)[i] =
                (uint16_t)((bits >> 16 & 0x8000) |
                           (fabs(x) < 0x1p-14 ? 0 : ((bits & 0x7fffffff) - (112u << 23)) >> 13));
        else
            ((float *)to)[i] = f;
    }
}

/* Memory of the GPU that the largest shape fits, full of numbers. */
static void *operand(xgemm_handle *handle, const element_type *of, size_t elements)
{
    enum { BLOCK = 1 << 20 };
    static double block[2 * BLOCK];
    void *memory;
    fill(of, block, BLOCK);
    require(handle, xgemm_malloc(handle, elements * of->bytes, &memory));
    for (size_t at = 0; at < elements; at += BLOCK) {
        const size_t count = elements - at < BLOCK ? elements - at : BLOCK;
        require(handle,
                xgemm_upload(handle, (char *)memory + at * of->bytes, block, count * of->bytes));
    }
    return memory;
}

/* So that all matrices of each shape fit, whatever the layout. */
static size_t elements_of_all(void)
{
    size_t most = ELEMENTS;
    for (int i = 0; i < shape_count; i++)
        for (int side = 0; side < 3; side++) {
            const size_t x = (size_t)shapes[i][side], y = (size_t)shapes[i][(side + 1) % 3];
            const size_t extra = (size_t)shapes[i][3] * (x > y ? x : y);
            const size_t all = (x * y + extra) * (size_t)shapes[i][4];
            most = most > all ? most : all;
        }
    return most + 128;
}

static void measure_type(xgemm_handle *handle, const cublas *other, const element_type *of,
                         xgemm_timer *timer)
{
    static const char *const layouts[] = {"NN", "NT", "TN", "TT"};
    const char *const wanted = getenv("XGEMM_LAYOUTS");
    const size_t elements = elements_of_all();
    void *const a = operand(handle, of, elements), *const b = operand(handle, of, elements);
    void *const c = operand(handle, of, elements);
    for (int i = 0; i < shape_count; i++)
        for (int layout = 0; layout < 4; layout++) {
            const test_case t = {of,
                                 shapes[i][0],
                                 shapes[i][1],
                                 shapes[i][2],
                                 shapes[i][3],
                                 shapes[i][4],
                                 layouts[layout],
                                 a,
                                 b,
                                 c,
                                 elements,
                                 handle,
                                 other};
            const int is_large = !shapes_named && shapes[i][0] > 4200;
            if (is_large && (layout % 3 != 0 || of->bytes > 4))
                continue; /* some seconds each in double precision */
            if (wanted && !strstr(wanted, layouts[layout]))
                continue;
            measure(&t, timer);
        }
    xgemm_free(handle, a);
    xgemm_free(handle, b);
    xgemm_free(handle, c);
}

/* The shape, if that is what the argument is. */
static int add_shape(const char *argument)
{
    int *const to = shapes[shape_count];
    to[3] = 0, to[4] = 1;
    if (shape_count == SHAPES_MOST ||
        sscanf(argument, "%d,%d,%d,%d,%d", &to[0], &to[1], &to[2], &to[3], &to[4]) < 3)
        return 0;
    shape_count++;
    shapes_named = 1;
    return 1;
}

static int is_type(const char *argument)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(argument, types[i].name) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    xgemm_handle *handle;
    xgemm_timer *timer;
    int named = 0;
    for (int i = 1; i < argc; i++) {
        if (!is_type(argv[i]) && !add_shape(argv[i])) {
            fprintf(stderr, "types: error: %s is neither a type nor m,n,k\n", argv[i]);
            return EXIT_FAILURE;
        }
        named |= is_type(argv[i]);
    }
    if (shape_count == 0) {
        shape_count = (int)(sizeof usual / sizeof *usual);
        memcpy(shapes, usual, sizeof usual);
        for (int i = 0; i < shape_count; i++)
            shapes[i][4] = 1;
    }
    require(NULL, xgemm_create(&handle, 0));
    require(handle, xgemm_make_current(handle));
    require(handle, xgemm_timer_create(handle, &timer));
    if (getenv("XGEMM_BY_ELEMENT"))
        require(handle, xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_ELEMENT));
    if (getenv("XGEMM_STRICT"))
        require(handle, xgemm_set_math(handle, XGEMM_MATH_STRICT));
    const cublas other = cublas_open();
    printf("type,layout,m,n,k,ld_extra,batch,kernel,us,tflops,cublas_us,cublas_tflops,speedup\n");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        int wanted = !named;
        for (int j = 1; j < argc; j++)
            wanted |= strcmp(argv[j], types[i].name) == 0;
        if (wanted)
            measure_type(handle, &other, &types[i], timer);
    }
    xgemm_timer_destroy(timer);
    xgemm_destroy(handle);
    return EXIT_SUCCESS;
}
