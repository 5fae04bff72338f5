/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ragged: xgemm_gemm_ragged() beside one dense product of all rows, on GPU 0, as CSV.
 *
 *     bench/ragged [GROUPS,M,N,K]...
 *
 * In row order, B transposed (a layer's weights as PyTorch keeps them), F16 and BF16. For each the
 * median times of the dense product, of groups of equal sizes that begin at multiples of 128 rows,
 * and of groups with random ends, in turns; and the times' ratios to the dense one's. A group's B
 * is its own; the dense product's B is the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgemm.h>

enum { SAMPLES = 7, BURST = 5, KINDS = 3 /* dense, equal, random */ };

static void require(xgemm_handle *handle, xgemm_status status)
{
    if (status == XGEMM_OK)
        return;
    fprintf(stderr, "ragged: error: %s\n", xgemm_last_error(handle));
    exit(EXIT_FAILURE);
}

/* Memory of the GPU, full of numbers between 0.5 and 1, of both signs, in F16 as in BF16. */
static void *numbers(xgemm_handle *handle, size_t elements)
{
    enum { BLOCK = 1 << 20 };
    static uint16_t block[BLOCK];
    void *memory;
    for (size_t i = 0; i < BLOCK; i++)
        block[i] = (uint16_t)(0x3800 | (rand() & 0x3ff) | (rand() & 1) << 15);
    require(handle, xgemm_malloc(handle, elements * 2, &memory));
    for (size_t at = 0; at < elements; at += BLOCK)
        require(handle, xgemm_upload(handle, (char *)memory + at * 2, block,
                                     2 * (elements - at < BLOCK ? elements - at : BLOCK)));
    return memory;
}

static int compare_offsets(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return a < b ? -1 : a > b;
}

static int64_t *offsets_of(xgemm_handle *handle, int64_t m, int64_t groups, int random)
{
    const size_t bytes = (size_t)(groups + 1) * sizeof(int64_t);
    int64_t *const offsets = malloc(bytes);
    void *memory;
    if (!offsets)
        exit(EXIT_FAILURE);
    for (int64_t g = 0; g <= groups; g++)
        offsets[g] = random ? rand() % (m + 1) : m / 128 * g / groups * 128;
    offsets[0] = 0, offsets[groups] = m;
    qsort(offsets, (size_t)groups + 1, sizeof *offsets, compare_offsets);
    require(handle, xgemm_malloc(handle, bytes, &memory));
    require(handle, xgemm_upload(handle, memory, offsets, bytes));
    free(offsets);
    return memory;
}

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static void run(xgemm_handle *handle, const xgemm_product *p, const int64_t *offsets,
                int64_t groups)
{
    xgemm_product dense = *p;
    dense.stride_b = 0;
    require(handle,
            offsets ? xgemm_gemm_ragged(handle, p, offsets, groups) : xgemm_gemm(handle, &dense));
}

static double burst_us(xgemm_handle *handle, const xgemm_product *p, const int64_t *offsets,
                       int64_t groups, xgemm_timer *timer)
{
    double us;
    require(handle, xgemm_timer_start(timer));
    for (int i = 0; i < BURST; i++)
        run(handle, p, offsets, groups);
    require(handle, xgemm_timer_stop(timer));
    require(handle, xgemm_timer_elapsed(timer, &us));
    return us / BURST;
}

static void measure(xgemm_handle *handle, xgemm_type type, const int64_t sizes[4],
                    xgemm_timer *timer)
{
    const int64_t groups = sizes[0], m = sizes[1], n = sizes[2], k = sizes[3];
    double us[KINDS][SAMPLES];
    int64_t *const offsets[KINDS] = {NULL, offsets_of(handle, m, groups, 0),
                                     offsets_of(handle, m, groups, 1)};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.transb = XGEMM_TRANS;
    p.m = m, p.n = n, p.k = k;
    p.type_a = p.type_b = p.type_c = type;
    p.a = numbers(handle, (size_t)(m * k)), p.lda = k;
    p.b = numbers(handle, (size_t)(groups * n * k)), p.ldb = k, p.stride_b = n * k;
    p.c = numbers(handle, (size_t)(m * n)), p.ldc = n;
    for (int sample = -1; sample < SAMPLES; sample++)
        for (int kind = 0; kind < KINDS; kind++) {
            const double one = burst_us(handle, &p, offsets[kind], groups, timer);
            if (sample >= 0)
                us[kind][sample] = one;
        }
    for (int kind = 0; kind < KINDS; kind++)
        qsort(us[kind], SAMPLES, sizeof(double), compare);
    const double dense = us[0][SAMPLES / 2], equal = us[1][SAMPLES / 2], any = us[2][SAMPLES / 2];
    printf("%s,%lld,%lld,%lld,%lld,%.2f,%.2f,%.2f,%.1f,%.3f,%.3f\n",
           type == XGEMM_F16 ? "f16" : "bf16", (long long)groups, (long long)m, (long long)n,
           (long long)k, dense, equal, any, 2e-6 * (double)m * (double)n * (double)k / any,
           dense / equal, dense / any);
    fflush(stdout);
    for (int kind = 0; kind < KINDS; kind++)
        xgemm_free(handle, offsets[kind]);
    xgemm_free(handle, (void *)(uintptr_t)p.a);
    xgemm_free(handle, (void *)(uintptr_t)p.b);
    xgemm_free(handle, p.c);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"16,16000,7168,7168", "8,4096,4096,4096",
                                        "64,8192,2048,4096", "8,64,14336,4096",
                                        "128,1024,2048,7168"};
    const char *const *const list = argc > 1 ? (const char *const *)argv + 1 : usual;
    const int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
    xgemm_handle *handle;
    xgemm_timer *timer;
    require(NULL, xgemm_create(&handle, 0));
    require(handle, xgemm_timer_create(handle, &timer));
    printf("type,groups,m,n,k,dense_us,equal_us,random_us,random_tflops,equal,random\n");
    for (int i = 0; i < 2 * count; i++) {
        long long s[4];
        if (sscanf(list[i / 2], "%lld,%lld,%lld,%lld", &s[0], &s[1], &s[2], &s[3]) != 4) {
            fprintf(stderr, "ragged: error: %s is not groups,m,n,k\n", list[i / 2]);
            return EXIT_FAILURE;
        }
        const int64_t sizes[4] = {s[0], s[1], s[2], s[3]};
        measure(handle, i % 2 ? XGEMM_BF16 : XGEMM_F16, sizes, timer);
    }
    xgemm_timer_destroy(timer);
    xgemm_destroy(handle);
    return EXIT_SUCCESS;
}
