/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compact programs, which run a product until the driver has translated its kernel: C has the same
 * bits. On a backend whose kernels are never translated, but for the compact ones.
 */
#include "support.h"

#include "api/handle.h"
#include "families/kernel_ids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel whose compact program is tested, and of the simulated GPU the multiprocessors. */
typedef struct {
    int id;
    const char *name, *simulator;
    int64_t m, n, k;
} compact_case;

static bool is_translated(const xg_program *program)
{
    return !strstr(program->symbol, "sliced_") && !strstr(program->symbol, "pipelined_") &&
           !strstr(program->symbol, "fp16x3_1");
}

static size_t ptx_bytes(const xg_device *device, const xg_program *program)
{
    (void)device;
    return is_translated(program) ? 0 : 1;
}

static bool load_begin(xg_device *device, const xg_program *program)
{
    (void)device, (void)program;
    return true;
}

static bool load_wait(xg_device *device, const xg_program *program, int milliseconds)
{
    (void)device, (void)milliseconds;
    return is_translated(program);
}

static bool is_captured(xg_device *device, void *stream)
{
    (void)device, (void)stream;
    return false;
}

/* A handle whose auto takes that kernel; NULL: the device does not run it. */
static xgemm_handle *open_alone(const compact_case *of)
{
    xgemm_handle *const named = open_by_name(of->name);
    if (!named)
        return NULL;
    xgemm_destroy(named);
    setenv("XGEMM_SIM", of->simulator, 1);
    xgemm_handle *const handle = open_handle(test_device());
    unsetenv("XGEMM_SIM");
    handle->target.left_out = ~(UINT64_C(1) << of->id);
    return handle;
}

/* C by the kernel, then by its compact program; how many products the latter did not end. */
static int left_to_kernel(product *p, const compact_case *of)
{
    xgemm_handle *const handle = p->handle;
    const xg_backend *const usual = handle->backend;
    xg_backend untranslated = *usual;
    untranslated.ptx_bytes = ptx_bytes;
    untranslated.load_begin = load_begin;
    untranslated.load_wait = load_wait;
    untranslated.is_captured = is_captured;
    int64_t recomputed[2];
    const size_t bytes = p->c.floats * sizeof(float);
    float *const wanted = allocate(bytes);
    ck_assert_msg(product_run(p), "%s", p->why);
    ck_assert_str_eq(xgemm_last_kernel(handle), of->name);
    ck_assert_int_eq(xgemm_last_recomputed(handle, &recomputed[0]), XGEMM_OK);
    memcpy(wanted, p->c.after, bytes);
    const int64_t before = xgemm_fallback_count(handle);
    handle->backend = &untranslated;
    const bool ran = product_run(p);
    handle->backend = usual;
    ck_assert_msg(ran, "%s", p->why);
    ck_assert_str_eq(xgemm_last_kernel(handle), of->name);
    ck_assert_int_eq(xgemm_last_recomputed(handle, &recomputed[1]), XGEMM_OK);
    ck_assert_int_eq(recomputed[0], recomputed[1]);
    ck_assert_msg(memcmp(wanted, p->c.after, bytes) == 0, "%s: other bits with m=%d n=%d k=%d",
                  of->name, (int)p->shape.m, (int)p->shape.n, (int)p->shape.k);
    free(wanted);
    return 1 - (int)(xgemm_fallback_count(handle) - before);
}

static int check(const compact_case *of, int layout, float beta, float (*draw)(generator *))
{
    xgemm_handle *const handle = open_alone(of);
    generator from = {(uint64_t)layout + 1};
    int left = 0;
    if (!handle)
        return -1;
    shape s = {.m = of->m, .n = of->n, .k = of->k, .alpha = 1.5f, .beta = beta};
    s.gap_a = layout % 2, s.gap_b = layout % 3, s.shift_c = layout == 3;
    set_layout(&s, layout);
    product *const p = product_new(handle, &s);
    product_fill(p, draw, &from);
    left = left_to_kernel(p, of);
    product_free(p);
    xgemm_destroy(handle);
    return left;
}

/* Where the cases are as the simulator's multiprocessors have them, the compact program took it. */
static void check_served(int left)
{
    ck_assert(test_device() != XGEMM_DEVICE_SIM || left <= 0);
}

#define KERNEL(id, name) XG_KERNEL_##id, name

/* Slices, splits of k, clusters that add these up; a k that ends anywhere. */
static const compact_case on_cuda_cores[] = {
    {KERNEL(sliced_64x128, "sliced-64x128"), "multiprocessors=4", 70, 130, 333},
    {KERNEL(sliced_64x64, "sliced-64x64"), "multiprocessors=132", 64, 64, 700},
    {KERNEL(sliced_96x96, "sliced-96x96"), "multiprocessors=4", 100, 96, 65},
    {KERNEL(sliced_32x64, "sliced-32x64"), "multiprocessors=8", 67, 91, 40},
    {KERNEL(sliced_64x32, "sliced-64x32"), "multiprocessors=132", 64, 32, 1000},
    {KERNEL(sliced_32x32, "sliced-32x32"), "multiprocessors=132", 33, 65, 257},
    {KERNEL(sliced_16x128, "sliced-16x128"), "multiprocessors=132", 17, 128, 129},
    {KERNEL(sliced_128x16, "sliced-128x16"), "multiprocessors=4", 128, 15, 31},
    {KERNEL(sliced_16x64, "sliced-16x64"), "multiprocessors=132", 16, 64, 3000},
    {KERNEL(sliced_64x16, "sliced-64x16"), "multiprocessors=132", 65, 17, 7},
    {KERNEL(pipelined_scalar_32x64, "pipelined-scalar-32x64"), "multiprocessors=8", 33, 70, 90},
    {KERNEL(pipelined_scalar_64x128, "pipelined-scalar-64x128"), "multiprocessors=132", 64, 128,
     515}};

START_TEST(cuda_cores)
{
    for (int layout = 0; layout < LAYOUTS; layout += 3) {
        const int left = check(&on_cuda_cores[_i], layout, layout == 0 ? 0.0f : -0.5f, random_real);
        check_served(left);
    }
}
END_TEST

/*
 * Stream-K of two to many parts, whole tiles in several waves, of which the first ones promote once
 * more (128x128, from k = 2048 on); promotions each 16, 32 and 64 k; a last k by itself; more k
 * than cross products are accumulated (128x64); edges; strips.
 */
static const compact_case on_tensor_cores[] = {
    {KERNEL(fp16x3_128x256, "fp16x3-128x256"), "multiprocessors=4", 256, 600, 641},
    {KERNEL(fp16x3_128x256, "fp16x3-128x256"), "multiprocessors=20", 390, 200, 1409},
    {KERNEL(fp16x3_128x256, "fp16x3-128x256"), "multiprocessors=2", 250, 512, 300},
    {KERNEL(fp16x3_128x128, "fp16x3-128x128"), "multiprocessors=3", 256, 256, 900},
    {KERNEL(fp16x3_128x128, "fp16x3-128x128"), "multiprocessors=2", 256, 250, 2113},
    {KERNEL(fp16x3_128x64, "fp16x3-128x64"), "multiprocessors=1", 90, 60, 12400},
    {KERNEL(fp16x3_128x64, "fp16x3-128x64"), "multiprocessors=132", 100, 190, 129},
    {KERNEL(fp16x3_128x256, "fp16x3-128x256"), "multiprocessors=4", 257, 514, 700},
    {KERNEL(fp16x3_128x256, "fp16x3-128x256"), "multiprocessors=4", 261, 512, 411},
    {KERNEL(fp16x3_128x128, "fp16x3-128x128"), "multiprocessors=4", 256, 258, 129},
    {KERNEL(fp16x3_128x64, "fp16x3-128x64"), "multiprocessors=132", 130, 65, 300}};

START_TEST(tensor_cores)
{
    const int left = check(&on_tensor_cores[_i], _i % LAYOUTS, 0.0f, random_real);
    check_served(left);
}
END_TEST

/* A C that is read is left to the kernel, whose wait nothing shortens here. */
START_TEST(reads_c)
{
    const int left = check(&on_tensor_cores[2], 0, 1.0f, random_real);
    ck_assert(left == 1 || left == -1);
}
END_TEST

/*
 * Elements of any exponent, whose tiles have to be recomputed; ones of either sign and a few small
 * elements, for which single elements of C have to be, whose sum is 0; and Inf.
 */
static float random_wide(generator *from)
{
    return ldexpf(random_real(from), random_below(from, 200) - 100);
}

static float random_with_small(generator *from)
{
    const float sign = random_below(from, 2) ? 1.0f : -1.0f;
    return random_below(from, 2000) == 0 ? sign * 0x1p-40f : sign;
}

static float random_with_inf(generator *from)
{
    return random_below(from, 50000) == 0 ? INFINITY : random_real(from);
}

START_TEST(recomputes)
{
    static float (*const data[])(generator *) = {random_wide, random_with_small, random_with_inf};
    const compact_case *const of =
        &on_tensor_cores[2 + 2 * (_i / COUNT(data))]; /* two panels, one */
    const int left = check(of, 1, 0.0f, data[_i % COUNT(data)]);
    ck_assert(left == 1 || left == -1);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("compact programs");
    TCase *const products = new_case(suite, "products", 300);
    tcase_add_loop_test(products, cuda_cores, 0, COUNT(on_cuda_cores));
    tcase_add_loop_test(products, tensor_cores, 0, COUNT(on_tensor_cores));
    tcase_add_test(products, reads_c);
    tcase_add_loop_test(products, recomputes, 0, 6);
    return run_suite(suite);
}
