/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What xgemm_sgemm_plan() says: that it is what a call runs, that nothing is
 * touched, and what is refused. GPUs that need not be here are the catalogue's.
 */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A plan for matrices in row order with tight leading dimensions. */
static xgemm_status plan_of(xgemm_handle *handle, int64_t m, int64_t n, int64_t k, float alpha,
                            const float *a, xgemm_plan *plan)
{
    return xgemm_sgemm_plan(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, n, k, alpha,
                            a, k > 0 ? k : 1, NULL, n > 0 ? n : 1, 0.0f, NULL, n > 0 ? n : 1, plan);
}

static xgemm_plan good_plan(xgemm_handle *handle, int64_t m, int64_t n, int64_t k)
{
    xgemm_plan plan = {.struct_size = sizeof plan};
    const xgemm_status status = plan_of(handle, m, n, k, 1.0f, NULL, &plan);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    return plan;
}

static void upload_zeros(xgemm_handle *handle, void *to, size_t bytes)
{
    void *zeros = calloc(1, bytes);
    ck_assert(zeros != NULL);
    ck_assert_int_eq(xgemm_upload(handle, to, zeros, bytes), XGEMM_OK);
    free(zeros);
}

/* Runs a product with a workspace of exactly that size; says the kernel that ran. */
static const char *run_with(xgemm_handle *handle, int64_t m, int64_t n, int64_t k, size_t bytes,
                            xgemm_status *status)
{
    void *a, *b, *c, *workspace;
    ck_assert_int_eq(xgemm_malloc(handle, (size_t)(m * k) * 4, &a), XGEMM_OK);
    ck_assert_int_eq(xgemm_malloc(handle, (size_t)(k * n) * 4, &b), XGEMM_OK);
    ck_assert_int_eq(xgemm_malloc(handle, (size_t)(m * n) * 4, &c), XGEMM_OK);
    ck_assert_int_eq(xgemm_malloc(handle, bytes + 256, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, bytes), XGEMM_OK);
    upload_zeros(handle, a, (size_t)(m * k) * 4);
    upload_zeros(handle, b, (size_t)(k * n) * 4);
    *status = xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, n, k, 1.0f, a,
                          k, b, n, 0.0f, c, n);
    ck_assert_int_eq(xgemm_synchronize(handle), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, NULL, 0), XGEMM_OK);
    xgemm_free(handle, a);
    xgemm_free(handle, b);
    xgemm_free(handle, c);
    xgemm_free(handle, workspace);
    return xgemm_last_kernel(handle);
}

/* The product runs with the workspace that the plan asks for and, if named, with no less. */
START_TEST(is_what_runs)
{
    static const int64_t sizes[][3] = {{1, 200, 90}, {37, 41, 43},   {64, 64, 64},
                                       {160, 70, 5}, {129, 131, 70}, {24, 24, 1500}};
    xgemm_handle *handle = open_with_kernel(_i);
    const bool automatic = _i == test_kernels() - 1;
    for (int i = 0; i < COUNT(sizes); i++) {
        const int64_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
        const xgemm_plan plan = good_plan(handle, m, n, k);
        xgemm_status status;
        ck_assert_ptr_nonnull(plan.kernel);
        ck_assert_int_ge(plan.launches, 1);
        ck_assert_int_ge(plan.split_k, 1);
        ck_assert_int_eq(plan.together, 1);
        ck_assert(isfinite(plan.microseconds) && plan.microseconds >= 0.0);
        const char *ran = run_with(handle, m, n, k, plan.workspace_bytes, &status);
        ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
        ck_assert_str_eq(ran, plan.kernel);
        if (automatic || plan.workspace_bytes == 0)
            continue;
        run_with(handle, m, n, k, plan.workspace_bytes - 1, &status);
        if (test_kernel_info(_i).math == XGEMM_MATH_DEFAULT && status == XGEMM_OK)
            continue; /* in panels */
        ck_assert_int_eq(status, XGEMM_ERROR_WORKSPACE);
    }
    xgemm_destroy(handle);
}
END_TEST

/* A named kernel's own facts; the choice says a kernel that there is. */
START_TEST(facts)
{
    xgemm_handle *handle = open_with_kernel(_i);
    const xgemm_plan plan = good_plan(handle, 300, 200, 100);
    for (int i = 0; i < xgemm_kernel_count(); i++) {
        xgemm_kernel_info info = {.struct_size = sizeof info};
        ck_assert_int_eq(xgemm_kernel_get(i, &info), XGEMM_OK);
        if (strcmp(info.name, plan.kernel) != 0)
            continue;
        ck_assert_int_eq(plan.tile_m, info.tile_m);
        ck_assert_int_eq(plan.tile_n, info.tile_n);
        ck_assert_int_eq(plan.tile_k, info.tile_k);
        if (_i < test_kernels() - 1)
            ck_assert_str_eq(plan.kernel, test_kernel(_i));
        xgemm_destroy(handle);
        return;
    }
    ck_abort_msg("there is no kernel %s", plan.kernel);
}
END_TEST

/* Sizes at which the choice is obvious, and what is counted. */
START_TEST(of_a_gpu)
{
    xgemm_device h200 = {.struct_size = sizeof h200};
    ck_assert_int_eq(xgemm_device_find("H200", &h200), XGEMM_OK);
    /* From any handle, also the CPU's. */
    xgemm_handle *handle = open_handle(_i ? XGEMM_DEVICE_CPU : XGEMM_DEVICE_SIM);
    xgemm_plan plan = {.struct_size = sizeof plan, .device = &h200};
    ck_assert_int_eq(plan_of(handle, 4096, 4096, 4096, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_str_eq(plan.kernel, "fp16x3-128x256");
    ck_assert_int_eq(plan.launches, 2); /* the split and the product */
    ck_assert_uint_ge(plan.workspace_bytes, (size_t)2 * 4096 * 4096 * 4);
    ck_assert(plan.microseconds < 900.0);
    const double aligned = plan.microseconds;
    ck_assert_int_eq(plan_of(handle, 4097, 4097, 4097, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.launches, 3); /* the split computes the strips, of copied vectors */
    ck_assert(plan.microseconds < 1.1 * aligned);
    ck_assert_int_eq(plan.shared_tiles, 0);
    ck_assert_int_eq(plan_of(handle, 2049, 2049, 2049, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.launches, 3); /* the split computes them */
    ck_assert_int_eq(plan_of(handle, 5000, 5000, 5000, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_str_eq(plan.kernel, "fp16x3-128x256");
    ck_assert_int_eq(plan.shared_tiles, 2 * (20 * 20 - 6 * 66)); /* of pairs; 66 at once */

    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_STRICT), XGEMM_OK);
    ck_assert_int_eq(plan_of(handle, 4096, 4096, 4096, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_str_eq(plan.kernel, "tma-128x128");
    ck_assert_int_eq(plan.tile_m, 128);
    ck_assert_int_eq(plan.split_k, 1);
    ck_assert_int_eq(plan.shared_tiles, 32 * 32 - 2 * 264); /* 264 at once */
    ck_assert_int_eq(plan.launches, 3); /* counts are set to zero, and A is copied */
    ck_assert_uint_gt(plan.workspace_bytes, (size_t)4096 * 4096 * 4 + 264 * 128 * 128 * 4);
    ck_assert(plan.microseconds > 2050.0 && plan.microseconds < 4000.0); /* 2054: the peak */
    ck_assert_ptr_eq(plan.device, &h200);

    ck_assert_int_eq(plan_of(handle, 9, 31, 885, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.split_k, 10);
    ck_assert(plan.microseconds < 4.8); /* by clusters 5.1 */
    ck_assert_int_eq(plan_of(handle, 1, 16384, 16384, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_str_eq(plan.kernel, "skinny");
    ck_assert_int_eq(plan_of(handle, 1025, 1, 1025, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_str_eq(plan.kernel, "skinny"); /* K-major: one launch */
    ck_assert_int_eq(plan.launches, 1);
    ck_assert_int_eq(plan_of(handle, 1, 4096, 4096, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_str_eq(plan.kernel, "skinny"); /* M-major: a block's warps split k */
    ck_assert_int_eq(plan.split_k, 1);
    ck_assert_int_eq(plan_of(handle, 1, 2048, 2048, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_str_eq(plan.kernel, "skinny"); /* and clusters */
    ck_assert_int_eq(plan.split_k, 8);
    ck_assert_int_eq(plan.launches, 1);
    ck_assert_uint_eq(plan.workspace_bytes, 0);
    h200.compute_capability = 80; /* without these the reduction is a launch */
    ck_assert_int_eq(plan_of(handle, 1, 1024, 8192, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_str_eq(plan.kernel, "skinny");
    ck_assert_int_eq(plan.launches, 2);
    h200.compute_capability = 90;
    ck_assert_int_eq(plan_of(handle, 256, 256, 65536, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_int_gt(plan.split_k, 1);
    ck_assert_int_gt(plan.launches, 1);
    ck_assert_int_eq(plan_of(handle, 200, 932, 3265, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.tile_m * plan.tile_n, 32 * 64);
    ck_assert_int_eq(plan.split_k, 5); /* not even: 525 blocks of the 528 that are resident */

    /* Half of the multiprocessors: about half as fast. */
    ck_assert_int_eq(plan_of(handle, 8192, 8192, 8192, 1.0f, NULL, &plan), XGEMM_OK);
    const double us = plan.microseconds;
    h200.multiprocessors /= 2;
    ck_assert_int_eq(plan_of(handle, 8192, 8192, 8192, 1.0f, NULL, &plan), XGEMM_OK);
    ck_assert(plan.microseconds > 1.8 * us && plan.microseconds < 2.2 * us);
    xgemm_destroy(handle);
}
END_TEST

/* How a pointer is aligned matters, where it points to does not. */
START_TEST(alignment)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    xgemm_plan at_16 = {.struct_size = sizeof at_16}, at_4 = at_16;
    ck_assert_int_eq(xgemm_set_kernel(handle, "pipelined-32x64"), XGEMM_OK);
    ck_assert_int_eq(xgemm_sgemm_plan(handle, XGEMM_ROW_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, 64, 64,
                                      64, 1.0f, (const float *)64, 64, NULL, 64, 0.0f, NULL, 64,
                                      &at_16),
                     XGEMM_OK);
    ck_assert_int_eq(at_16.launches, 1);
    ck_assert_int_eq(xgemm_sgemm_plan(handle, XGEMM_ROW_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, 64, 64,
                                      64, 1.0f, (const float *)68, 64, NULL, 64, 0.0f, NULL, 64,
                                      &at_4),
                     XGEMM_OK);
    ck_assert_int_eq(at_4.launches, 2);
    ck_assert_uint_eq(at_4.workspace_bytes, 64 * 64 * 4);
    xgemm_destroy(handle);
}
END_TEST

/* The first address there that a workspace may begin at. */
static float *aligned(float *memory)
{
    while ((uintptr_t)memory % 256)
        memory++;
    return memory;
}

/*
 * K-major operands are copied first where that is less than what such copies cost
 * the product: two launches, and where there is no memory for it one.
 */
START_TEST(copied_first)
{
    static float memory[128];
    float *const room = aligned(memory);
    xgemm_device older = {.struct_size = sizeof older};
    ck_assert_int_eq(xgemm_device_find("H200", &older), XGEMM_OK);
    older.compute_capability = 80; /* which has no TMA */
    older.multiprocessors = 108;
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_STRICT), XGEMM_OK);
    for (int given = 0; given < 2; given++) {
        xgemm_plan plan = {.struct_size = sizeof plan, .device = &older};
        for (int transposed = 0; transposed < 2; transposed++) {
            /* A transposed, B not: nothing is K-major. */
            ck_assert_int_eq(
                xgemm_sgemm_plan(handle, XGEMM_ROW_MAJOR, transposed ? XGEMM_NO_TRANS : XGEMM_TRANS,
                                 transposed ? XGEMM_TRANS : XGEMM_NO_TRANS, 896, 896, 896, 1.0f,
                                 NULL, 896, NULL, 896, 0.0f, NULL, 896, &plan),
                XGEMM_OK);
            ck_assert_str_eq(plan.kernel, "sliced-64x128");
            const bool copied = transposed && !given;
            ck_assert_int_eq(plan.launches, copied ? 2 : 1);
            ck_assert_uint_eq(plan.workspace_bytes, copied ? (size_t)2 * 896 * 896 * 4 : 0);
        }
        ck_assert_int_eq(xgemm_set_workspace(handle, room, 64), XGEMM_OK);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Without a workspace a batch still shares its launches, and clusters of two blocks split k. */
START_TEST(without_workspace)
{
    static float memory[128];
    float *const room = aligned(memory);
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    for (int given = 0; given < 2; given++) {
        xgemm_plan plan = {.struct_size = sizeof plan};
        ck_assert_int_eq(xgemm_sgemm_strided_batched_plan(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS,
                                                          XGEMM_NO_TRANS, 60, 60, 4096, 1.0f, NULL,
                                                          4096, 60 * 4096, NULL, 60, 4096 * 60,
                                                          0.0f, NULL, 60, 3600, 3, &plan),
                         XGEMM_OK);
        ck_assert_int_eq(plan.together, 3);
        ck_assert_int_eq(plan.split_k > 2, given == 0);
        ck_assert_int_eq(plan.split_k == 2, given == 1);
        ck_assert_int_eq(plan.workspace_bytes > 0, given == 0);
        ck_assert_int_eq(xgemm_set_workspace(handle, room, 64), XGEMM_OK);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Panels are counted without going through them, which would take days. */
START_TEST(counts_launches_of_panels)
{
    static const struct {
        int64_t m, n, k, launches;
    } cases[] = {
        {100000, 100000, 100000, 64},
        {200000, 300000, 150000, 992},
        {(int64_t)1 << 30, (int64_t)1 << 30, 1 << 20, (int64_t)1 << 37},
        {(int64_t)1 << 30, (int64_t)1 << 30, (int64_t)1 << 30, (int64_t)1 << 47},
    };
    xgemm_device gpu = {.struct_size = sizeof gpu};
    xgemm_plan plan = {.struct_size = sizeof plan, .device = &gpu};
    xgemm_handle *handle;
    ck_assert_int_eq(xgemm_device_find("H100 SXM5", &gpu), XGEMM_OK);
    ck_assert_int_eq(xgemm_create(&handle, XGEMM_DEVICE_SIM), XGEMM_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(xgemm_sgemm_plan(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS,
                                          cases[i].m, cases[i].n, cases[i].k, 1.0f, NULL,
                                          cases[i].k, NULL, cases[i].n, 0.0f, NULL, cases[i].n,
                                          &plan),
                         XGEMM_OK);
        ck_assert_int_eq(plan.launches, cases[i].launches);
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(nothing_to_do)
{
    xgemm_handle *handle = open_handle(test_device());
    xgemm_plan plan = good_plan(handle, 0, 5, 5);
    ck_assert_ptr_null(plan.kernel);
    ck_assert_int_eq(plan.launches, 0);
    ck_assert_int_eq(plan.split_k, 0);
    plan = good_plan(handle, 5, 5, 0); /* C = 0 */
    ck_assert_ptr_null(plan.kernel);
    ck_assert_int_eq(plan.launches, 1);
    ck_assert(plan.microseconds == 0.0 && plan.tile_m == 0);
    ck_assert_int_eq(plan_of(handle, 5, 5, 5, 0.0f, NULL, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.launches, 1);
    xgemm_plan batch = {.struct_size = sizeof batch};
    ck_assert_int_eq(xgemm_sgemm_strided_batched_plan(handle, XGEMM_COL_MAJOR, XGEMM_TRANS,
                                                      XGEMM_NO_TRANS, 4, 4, 4, 1.0f, NULL, 4, 16,
                                                      NULL, 4, 0, 0.0f, NULL, 4, 16, 0, &batch),
                     XGEMM_OK);
    ck_assert_int_eq(batch.launches, 0);
    ck_assert_ptr_null(xgemm_last_kernel(handle)); /* none has run */
    xgemm_destroy(handle);
}
END_TEST

/* More products than a grid's z has blocks: equal passes. */
START_TEST(of_a_batch)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    xgemm_plan plan = {.struct_size = sizeof plan};
    ck_assert_int_eq(xgemm_sgemm_strided_batched_plan(
                         handle, XGEMM_ROW_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, 64, 64, 64, 1.0f,
                         NULL, 64, 4096, NULL, 64, 4096, 0.0f, NULL, 64, 4096, 1000, &plan),
                     XGEMM_OK);
    ck_assert_int_eq(plan.together, 1000);
    ck_assert_int_eq(plan.launches, 1);
    ck_assert_int_eq(xgemm_sgemm_strided_batched_plan(
                         handle, XGEMM_ROW_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, 64, 64, 64, 1.0f,
                         NULL, 64, 4096, NULL, 64, 4096, 0.0f, NULL, 64, 4096, 100000, &plan),
                     XGEMM_OK);
    ck_assert_int_eq(plan.together, 50000);
    ck_assert_int_eq(plan.launches, 2);
    /* A stride that aligns only every fourth matrix: no 16-byte copies without packing. */
    ck_assert_int_eq(xgemm_set_kernel(handle, "pipelined-32x64"), XGEMM_OK);
    ck_assert_int_eq(xgemm_sgemm_strided_batched_plan(
                         handle, XGEMM_ROW_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, 64, 64, 64, 1.0f,
                         NULL, 64, 4097, NULL, 64, 4096, 0.0f, NULL, 64, 4096, 10, &plan),
                     XGEMM_OK);
    ck_assert_int_eq(plan.launches, 2);
    ck_assert_uint_eq(plan.workspace_bytes, 10 * 64 * 64 * 4);
    /* One A for all is copied once. */
    ck_assert_int_eq(xgemm_sgemm_strided_batched_plan(
                         handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 64, 64, 64, 1.0f,
                         NULL, 64, 0, NULL, 64, 4096, 0.0f, NULL, 64, 4096, 10, &plan),
                     XGEMM_OK);
    ck_assert_int_eq(plan.launches, 2);
    ck_assert_uint_eq(plan.workspace_bytes, 64 * 64 * 4);
    /* A kernel without batches. */
    ck_assert_int_eq(xgemm_set_kernel(handle, "tiled16"), XGEMM_OK);
    ck_assert_int_eq(xgemm_sgemm_strided_batched_plan(
                         handle, XGEMM_ROW_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, 64, 64, 64, 1.0f,
                         NULL, 64, 4096, NULL, 64, 4096, 0.0f, NULL, 64, 4096, 7, &plan),
                     XGEMM_OK);
    ck_assert_int_eq(plan.together, 1);
    ck_assert_int_eq(plan.launches, 7);
    xgemm_destroy(handle);
}
END_TEST

/* A large batch is not predicted to be slower than as many calls. */
START_TEST(batch_against_calls)
{
    static const int64_t sizes[] = {16, 64, 100, 128, 256, 500, 512, 1000, 1024, 2048, 4096};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    for (int i = 0; i < COUNT(sizes); i++)
        for (int64_t count = 2; count <= 200; count *= 10) {
            const int64_t n = sizes[i];
            xgemm_plan batch = {.struct_size = sizeof batch};
            const xgemm_plan one = good_plan(handle, n, n, n);
            ck_assert_int_eq(xgemm_sgemm_strided_batched_plan(
                                 handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, n, n, n,
                                 1.0f, NULL, n, n * n, NULL, n, n * n, 0.0f, NULL, n, n * n, count,
                                 &batch),
                             XGEMM_OK);
            const double calls = (double)count * (one.microseconds + 1.0); /* between launches */
            ck_assert_msg(batch.microseconds <= calls, "%lld of %lld: %g us, %g us in calls",
                          (long long)count, (long long)n, batch.microseconds, calls);
        }
    xgemm_destroy(handle);
}
END_TEST

/* ---- Structs of other sizes, and what is refused ---- */

START_TEST(struct_sizes)
{
    xgemm_handle *handle = open_handle(test_device());
    union {
        xgemm_plan plan;
        unsigned char bytes[sizeof(xgemm_plan) + 64];
    } larger;
    memset(&larger, 0x5a, sizeof larger);
    larger.plan.struct_size = sizeof larger;
    larger.plan.device = NULL;
    ck_assert_int_eq(plan_of(handle, 9, 9, 9, 1.0f, NULL, &larger.plan), XGEMM_OK);
    ck_assert_uint_eq(larger.plan.struct_size, sizeof larger);
    for (size_t i = sizeof(xgemm_plan); i < sizeof larger; i++)
        ck_assert_uint_eq(larger.bytes[i], 0x5a);

    /* An older program's, which ends before the kernel, or before the device. */
    xgemm_plan older;
    memset(&older, 0x5a, sizeof older);
    older.struct_size = offsetof(xgemm_plan, tile_m);
    older.device = NULL;
    ck_assert_int_eq(plan_of(handle, 9, 9, 9, 1.0f, NULL, &older), XGEMM_OK);
    ck_assert_ptr_nonnull(older.kernel);
    ck_assert_int_eq(older.tile_m, 0x5a5a5a5a);
    memset(&older, 0x5a, sizeof older);
    older.struct_size = sizeof older.struct_size;
    ck_assert_int_eq(plan_of(handle, 9, 9, 9, 1.0f, NULL, &older), XGEMM_OK);
    xgemm_destroy(handle);
}
END_TEST

static void assert_plan_refused(const xgemm_handle *handle, xgemm_status status,
                                xgemm_status wanted, const char *part)
{
    assert_refused(handle, status, wanted, "xgemm_sgemm_plan: ", part);
}

START_TEST(refused)
{
    const xgemm_status invalid = XGEMM_ERROR_INVALID_VALUE;
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    xgemm_plan plan = {.struct_size = sizeof plan, .launches = 77};
    xgemm_device device = {.struct_size = sizeof device};
    assert_plan_refused(NULL, plan_of(NULL, 1, 1, 1, 1.0f, NULL, &plan), XGEMM_ERROR_NULL_POINTER,
                        "handle is NULL");
    assert_plan_refused(handle, plan_of(handle, 1, 1, 1, 1.0f, NULL, NULL),
                        XGEMM_ERROR_NULL_POINTER, "plan is NULL");
    plan.struct_size = 0;
    assert_plan_refused(handle, plan_of(handle, 1, 1, 1, 1.0f, NULL, &plan), invalid,
                        "struct_size is 0; set it to sizeof(xgemm_plan)");
    plan.struct_size = sizeof plan;
    assert_plan_refused(handle, plan_of(handle, -1, 1, 1, 1.0f, NULL, &plan), invalid, "m is -1");
    assert_plan_refused(handle, plan_of(handle, 1, 1, 1, 1.0f, (const float *)2, &plan), invalid,
                        "not aligned to the 4 bytes");
    plan.device = &device;
    device.struct_size = 0;
    assert_plan_refused(handle, plan_of(handle, 1, 1, 1, 1.0f, NULL, &plan), invalid,
                        "the device's struct_size is 0");
    device.struct_size = sizeof device;
    ck_assert_int_eq(xgemm_device_get(XGEMM_DEVICE_CPU, &device), XGEMM_OK);
    assert_plan_refused(handle, plan_of(handle, 1, 1, 1, 1.0f, NULL, &plan), invalid,
                        "it is no GPU");
    ck_assert_int_eq(xgemm_device_find("H100", &device), XGEMM_OK);
    device.multiprocessors = 0;
    assert_plan_refused(handle, plan_of(handle, 1, 1, 1, 1.0f, NULL, &plan), invalid,
                        "has 0 multiprocessors");
    ck_assert_int_eq(xgemm_device_find("V100", &device), XGEMM_OK);
    assert_plan_refused(handle, plan_of(handle, 1, 1, 1, 1.0f, NULL, &plan),
                        XGEMM_ERROR_NOT_SUPPORTED,
                        "compute capability 7.0; the kernels need at least 8.0");
    ck_assert_int_eq(plan.launches, 77);
    xgemm_destroy(handle);

    handle = open_handle(XGEMM_DEVICE_CPU);
    ck_assert_int_eq(xgemm_set_kernel(handle, "reference"), XGEMM_OK);
    ck_assert_int_eq(xgemm_device_find("H100", &device), XGEMM_OK);
    assert_plan_refused(handle, plan_of(handle, 1, 1, 1, 1.0f, NULL, &plan),
                        XGEMM_ERROR_NOT_SUPPORTED, "kernel reference is for the CPU");
    xgemm_destroy(handle);
}
END_TEST

static Suite *plans(void)
{
    Suite *suite = suite_create("plan");
    TCase *cases = add_case(suite, "plans");
    tcase_add_loop_test(cases, is_what_runs, 0, test_kernels());
    tcase_add_loop_test(cases, facts, 0, test_kernels());
    tcase_add_loop_test(cases, of_a_gpu, 0, 2);
    tcase_add_test(cases, alignment);
    tcase_add_test(cases, copied_first);
    tcase_add_test(cases, without_workspace);
    tcase_add_test(cases, nothing_to_do);
    tcase_add_test(cases, counts_launches_of_panels);
    tcase_add_test(cases, of_a_batch);
    tcase_add_test(cases, batch_against_calls);
    tcase_add_test(cases, struct_sizes);
    tcase_add_test(cases, refused);
    return suite;
}

int main(void)
{
    return run_suite(plans());
}
