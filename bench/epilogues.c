/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epilogues: a product with a bias and GELU beside the same without, and beside cublasLt's fused
 * one, on GPU 0, as CSV.
 *
 *     bench/epilogues [M,N,K]...
 *
 * A layer as PyTorch keeps it: in row order, B transposed, a bias for each column; F16 and BF16,
 * GELU by tanh, which is cublasLt's. For each the median of SAMPLES bursts of each of the four,
 * taken in turns, over copies of the matrices that L2 does not hold; and the ratios: of our time
 * without an epilogue to that with it, and of cublasLt's time to ours, both with it. cublasLt is
 * loaded when this runs, and takes the first algorithm that it proposes, with 32 MiB of workspace;
 * without it its columns are 0.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgemm.h>

enum { SAMPLES = 9, BURST = 20, KINDS = 4, WORKSPACE = 32 << 20 };
enum { OURS, OURS_GELU, THEIRS, THEIRS_GELU };

/* ---- cublasLt, by the names and numbers of its header ---- */

enum { LT_F32 = 0, LT_F16 = 2, LT_BF16 = 14, LT_COMPUTE_F32 = 68 };
enum { LT_TRANSA = 3, LT_EPILOGUE = 7, LT_BIAS = 8, LT_BIAS_TYPE = 26, LT_GELU_BIAS = 36 };

typedef struct {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
} lt_heuristic;

typedef struct {
    void *handle, *workspace;
    int (*create)(void **handle);
    int (*create_product)(void **of, int compute, int scale);
    int (*set)(void *of, int attribute, const void *value, size_t bytes);
    int (*create_layout)(void **of, int type, uint64_t rows, uint64_t columns, int64_t ld);
    int (*create_preference)(void **of);
    int (*prefer)(void *of, int attribute, const void *value, size_t bytes);
    int (*heuristic)(void *handle, void *product, void *a, void *b, void *c, void *d,
                     void *preference, int most, lt_heuristic *of, int *count);
    int (*multiply)(void *handle, void *product, const void *alpha, const void *a, void *a_layout,
                    const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
                    void *d, void *d_layout, const void *algorithm, void *workspace, size_t bytes,
                    void *stream);
} cublaslt;

static void require(xgemm_handle *handle, xgemm_status status)
{
    if (status == XGEMM_OK)
        return;
    fprintf(stderr, "epilogues: error: %s\n", xgemm_last_error(handle));
    exit(EXIT_FAILURE);
}

static void require_lt(int status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "epilogues: error: %s returned %d\n", what, status);
    exit(EXIT_FAILURE);
}

static cublaslt lt_open(xgemm_handle *handle)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    cublaslt of = {.handle = NULL};
    void *library = NULL;
    for (int i = 0; i < 3 && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library)
        return of;
    *(void **)&of.create = dlsym(library, "cublasLtCreate");
    *(void **)&of.create_product = dlsym(library, "cublasLtMatmulDescCreate");
    *(void **)&of.set = dlsym(library, "cublasLtMatmulDescSetAttribute");
    *(void **)&of.create_layout = dlsym(library, "cublasLtMatrixLayoutCreate");
    *(void **)&of.create_preference = dlsym(library, "cublasLtMatmulPreferenceCreate");
    *(void **)&of.prefer = dlsym(library, "cublasLtMatmulPreferenceSetAttribute");
    *(void **)&of.heuristic = dlsym(library, "cublasLtMatmulAlgoGetHeuristic");
    *(void **)&of.multiply = dlsym(library, "cublasLtMatmul");
    if (!of.create || !of.create_product || !of.set || !of.create_layout || !of.create_preference ||
        !of.prefer || !of.heuristic || !of.multiply || of.create(&of.handle) != 0)
        return (cublaslt){.handle = NULL};
    require(handle, xgemm_malloc(handle, WORKSPACE, &of.workspace));
    return of;
}

/* ---- A case ---- */

typedef struct {
    xgemm_handle *handle;
    const cublaslt *lt;
    xgemm_product product; /* without an epilogue */
    const void *bias;
    int64_t copies; /* of all matrices, one after the other */
    void *lt_product[2], *lt_layouts[3];
    lt_heuristic algorithms[2]; /* without an epilogue, and with it */
} test_case;

/* In column order C is transposed: N x K times K x M. */
static void prepare_lt(test_case *t)
{
    static const int transposed = 1, gelu_bias = LT_GELU_BIAS;
    static const size_t workspace = WORKSPACE;
    const cublaslt *const lt = t->lt;
    const xgemm_product *const p = &t->product;
    const int type = p->type_a == XGEMM_F16 ? LT_F16 : LT_BF16;
    void *preference;
    const uint64_t m = (uint64_t)p->m, n = (uint64_t)p->n, k = (uint64_t)p->k;
    require_lt(lt->create_layout(&t->lt_layouts[0], type, k, n, p->k), "the layout of B");
    require_lt(lt->create_layout(&t->lt_layouts[1], type, k, m, p->k), "the layout of A");
    require_lt(lt->create_layout(&t->lt_layouts[2], type, n, m, p->n), "the layout of C");
    require_lt(lt->create_preference(&preference), "a preference");
    require_lt(lt->prefer(preference, 1, &workspace, sizeof workspace), "the workspace");
    for (int fused = 0; fused < 2; fused++) {
        int count = 0;
        void **const of = &t->lt_product[fused];
        require_lt(lt->create_product(of, LT_COMPUTE_F32, LT_F32), "a description");
        require_lt(lt->set(*of, LT_TRANSA, &transposed, sizeof transposed), "a transpose");
        if (fused) {
            require_lt(lt->set(*of, LT_EPILOGUE, &gelu_bias, sizeof gelu_bias), "an epilogue");
            require_lt(lt->set(*of, LT_BIAS, &t->bias, sizeof t->bias), "a bias");
            require_lt(lt->set(*of, LT_BIAS_TYPE, &type, sizeof type), "a bias's type");
        }
        require_lt(lt->heuristic(lt->handle, *of, t->lt_layouts[0], t->lt_layouts[1],
                                 t->lt_layouts[2], t->lt_layouts[2], preference, 1,
                                 &t->algorithms[fused], &count) ||
                       count == 0,
                   "the choice of an algorithm");
    }
}

static void run(const test_case *t, int kind, int64_t turn)
{
    static const float one = 1.0f, zero = 0.0f;
    const int64_t at = turn % t->copies * 2; /* bytes of an element */
    const cublaslt *const lt = t->lt;
    xgemm_product p = t->product;
    p.a = (const char *)p.a + at * p.m * p.k;
    p.b = (const char *)p.b + at * p.n * p.k;
    p.c = (char *)p.c + at * p.m * p.n;
    if (kind == OURS_GELU) {
        p.bias = t->bias, p.type_bias = p.type_a;
        p.activation = XGEMM_GELU_TANH;
    }
    if (kind == OURS || kind == OURS_GELU) {
        require(t->handle, xgemm_gemm(t->handle, &p));
        return;
    }
    const int fused = kind == THEIRS_GELU;
    require_lt(lt->multiply(lt->handle, t->lt_product[fused], &one, p.b, t->lt_layouts[0], p.a,
                            t->lt_layouts[1], &zero, p.c, t->lt_layouts[2], p.c, t->lt_layouts[2],
                            t->algorithms[fused].algorithm, lt->workspace, WORKSPACE, NULL),
               "cublasLtMatmul");
}

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static void measure(const test_case *t, xgemm_timer *timer)
{
    double us[KINDS][SAMPLES] = {{0.0}}, at[KINDS];
    const xgemm_product *const p = &t->product;
    const int kinds = t->lt->handle ? KINDS : THEIRS;
    for (int sample = -1; sample < SAMPLES; sample++)
        for (int kind = 0; kind < kinds; kind++) {
            double all;
            require(t->handle, xgemm_timer_start(timer));
            for (int i = 0; i < BURST; i++)
                run(t, kind, i);
            require(t->handle, xgemm_timer_stop(timer));
            require(t->handle, xgemm_timer_elapsed(timer, &all));
            if (sample >= 0)
                us[kind][sample] = all / BURST;
        }
    for (int kind = 0; kind < KINDS; kind++) {
        qsort(us[kind], SAMPLES, sizeof(double), compare);
        at[kind] = us[kind][SAMPLES / 2];
    }
    printf("%s,%lld,%lld,%lld,%.2f,%.2f,%.2f,%.2f,%.3f,%.3f\n",
           p->type_a == XGEMM_F16 ? "f16" : "bf16", (long long)p->m, (long long)p->n,
           (long long)p->k, at[OURS], at[OURS_GELU], at[THEIRS], at[THEIRS_GELU],
           at[OURS] / at[OURS_GELU], at[THEIRS_GELU] / at[OURS_GELU]);
    fflush(stdout);
}

/* Memory of the GPU, full of numbers between 0.5 and 1, of both signs, in F16 as in BF16. */
static void *numbers(xgemm_handle *handle, int64_t elements)
{
    enum { BLOCK = 1 << 20 };
    static uint16_t block[BLOCK];
    void *memory;
    for (size_t i = 0; i < BLOCK; i++)
        block[i] = (uint16_t)(0x3800 | (rand() & 0x3ff) | (rand() & 1) << 15);
    require(handle, xgemm_malloc(handle, (size_t)elements * 2, &memory));
    for (int64_t at = 0; at < elements; at += BLOCK)
        require(handle, xgemm_upload(handle, (char *)memory + at * 2, block,
                                     2 * (size_t)(elements - at < BLOCK ? elements - at : BLOCK)));
    return memory;
}

static void measure_size(xgemm_handle *handle, const cublaslt *lt, xgemm_type type,
                         const int64_t size[3], xgemm_timer *timer)
{
    const int64_t m = size[0], n = size[1], k = size[2];
    const int64_t least = 1 << 27, all = m * k + n * k + m * n; /* elements: 256 MiB */
    test_case t = {.handle = handle, .lt = lt, .product = XGEMM_PRODUCT_INIT};
    t.copies = all < least ? least / all + 1 : 1;
    t.product.transb = XGEMM_TRANS;
    t.product.m = m, t.product.n = n, t.product.k = k;
    t.product.type_a = t.product.type_b = t.product.type_c = type;
    void *const a = numbers(handle, t.copies * m * k), *const b = numbers(handle, t.copies * n * k);
    void *const c = numbers(handle, t.copies * m * n), *const bias = numbers(handle, n);
    t.product.a = a, t.product.lda = k;
    t.product.b = b, t.product.ldb = k;
    t.product.c = c, t.product.ldc = n;
    t.bias = bias;
    if (lt->handle)
        prepare_lt(&t);
    measure(&t, timer);
    xgemm_free(handle, a);
    xgemm_free(handle, b);
    xgemm_free(handle, c);
    xgemm_free(handle, bias);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"4096,4096,4096", "8192,8192,8192", "2048,2048,2048",
                                        "1024,4096,1024", "512,14336,4096", "4097,4096,4096"};
    const char *const *const list = argc > 1 ? (const char *const *)argv + 1 : usual;
    const int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
    xgemm_handle *handle;
    xgemm_timer *timer;
    require(NULL, xgemm_create(&handle, 0));
    require(handle, xgemm_make_current(handle));
    require(handle, xgemm_timer_create(handle, &timer));
    const cublaslt lt = lt_open(handle);
    printf("type,m,n,k,plain_us,gelu_us,cublaslt_us,cublaslt_gelu_us,plain_by_gelu,speedup\n");
    for (int i = 0; i < 2 * count; i++) {
        long long s[3];
        if (sscanf(list[i / 2], "%lld,%lld,%lld", &s[0], &s[1], &s[2]) != 3) {
            fprintf(stderr, "epilogues: error: %s is not m,n,k\n", list[i / 2]);
            return EXIT_FAILURE;
        }
        const int64_t size[3] = {s[0], s[1], s[2]};
        measure_size(handle, &lt, i % 2 ? XGEMM_BF16 : XGEMM_F16, size, timer);
    }
    xgemm_timer_destroy(timer);
    xgemm_destroy(handle);
    return EXIT_SUCCESS;
}
