/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator's models of what compute capability 9.0 has: a kernel that uses
 * all of it computes what plain C does in every order, and each of its wrong
 * twins is found in one of them. With the simulator's own source, as in
 * test_wrong_kernels.c.
 */
#include "kernels/args.h"
#include "sim/scheduler.h"
#include "sim/sm90_shim.h"
#include "sim/specialised.h"
#include "sm90_kernels.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* With AddressSanitizer shared memory is not in a section of its own. */
#if defined(__SANITIZE_ADDRESS__)
#define WITHOUT_SECTIONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITHOUT_SECTIONS 1
#endif
#endif

#ifdef WITH_TRACE
enum { CAN_WATCH = 1 };
#define TRACED(name) .traced = xg_traced_##name,
#else
enum { CAN_WATCH = 0 };
#define TRACED(name)
#endif
#define PROGRAM(name)                                                                              \
    {                                                                                              \
        .symbol = "xg_" #name, .simulated = xg_simulated_##name, TRACED(name)                      \
    }
#define DECLARE(name)                      void xg_simulated_##name(const void *), xg_traced_##name(const void *);
#define DECLARE_TWIN(name, mistake)        DECLARE(name)
#define DECLARE_OTHER(name, body, mistake) DECLARE(name)
XG_SM90_KERNELS(DECLARE_TWIN)
XG_SM90_OTHERS(DECLARE_OTHER)

static xg_region memory(const char *name, const float *base, int lines, int width)
{
    return (xg_region){.name = name, .base = base, .lines = lines, .width = width, .step = width};
}

static const xg_sim_options orders[] = {
    {.order = XG_SIM_FORWARD},
    {.order = XG_SIM_REVERSE},
    {.order = XG_SIM_SHUFFLE, .seed = 1},
    {.order = XG_SIM_SHUFFLE, .seed = 2},
    {.order = XG_SIM_SHUFFLE, .seed = 3},
    {.order = XG_SIM_SHUFFLE, .seed = 20261121},
    {.order = XG_SIM_FORWARD, .late = true},
    {.order = XG_SIM_REVERSE, .late = true},
    {.order = XG_SIM_SHUFFLE, .seed = 1, .late = true},
    {.order = XG_SIM_SHUFFLE, .seed = 2, .late = true},
    {.order = XG_SIM_SHUFFLE, .seed = 3, .late = true},
    {.order = XG_SIM_SHUFFLE, .seed = 20261121, .late = true},
};

/* More units than slots, so that every slot's phases change parity. */
enum { UNITS = 2 * SLOTS + 1, M = 4 * TILE, N = 2 * TILE, K = UNITS * DEPTH };

static _Alignas(128) uint16_t packed_a[M * K], packed_b[N * K];
static float result[M * N], expected[M * N];

/* Small fractions, whose sums FP32 holds exactly. */
static float a_at(int row, int l)
{
    return (float)((row * 7 + l * 13) % 17 - 8) / 4.0f;
}

static float b_at(int column, int l)
{
    return (float)((column * 5 + l * 11) % 13 - 6) / 2.0f;
}

/* "lines" rows of A or columns of B, in units that are swizzled. */
static void pack(uint16_t *to, int lines, float (*value)(int, int))
{
    for (int line = 0; line < lines; line++)
        for (int l = 0; l < K; l++) {
            const int unit = line / TILE * UNITS + l / DEPTH, row = line % TILE;
            const int chunk = l % DEPTH / 8 ^ row % 8;
            to[unit * (UNIT_BYTES / 2) + row * DEPTH + chunk * 8 + l % 8] =
                (uint16_t)xg_sim_half2(value(line, l), 0.0f);
        }
}

static void prepare(void)
{
    pack(packed_a, M, a_at);
    pack(packed_b, N, b_at);
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++) {
            double sum = 0.0;
            for (int l = 0; l < K; l++)
                sum += (double)a_at(row, l) * (double)b_at(column, l);
            expected[row * N + column] = (float)sum;
        }
}

static xgemm_status launch(const xg_launch *what, xg_sim_options how, bool watched, xg_error *error)
{
    if (watched) {
        how.trace = xg_trace_new();
        ck_assert_ptr_nonnull(how.trace);
    }
    const xgemm_status status = xg_sim_launch(what, &how, error);
    if (watched)
        xg_trace_free(how.trace);
    return status;
}

/* The kernel or a twin on clusters of two blocks, "clusters" of them for each tile of B. */
static xgemm_status multiply(const xg_program *program, xg_sim_options how, bool watched,
                             xg_error *error)
{
    const xg_args args = {.m = M,
                          .n = N,
                          .k = UNITS,
                          .a = (const float *)(const void *)packed_a,
                          .b = (const float *)(const void *)packed_b,
                          .c = result,
                          .c_row = N};
    const xg_launch what = {.program = program,
                            .grid = {M / TILE, N / TILE, 1},
                            .block = {384, 1, 1},
                            .cluster = 2,
                            .shared_bytes = SHARED_BYTES,
                            .regions = {memory("A", args.a, 1, M * K / 2),
                                        memory("B", args.b, 1, N * K / 2),
                                        memory("C", result, M, N)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return launch(&what, how, watched, error);
}

static const xg_program right = PROGRAM(right);

START_TEST(right_kernel_is_right)
{
    xg_error error = {""};
    const xgemm_status status = multiply(&right, orders[_i], false, &error);
    ck_assert_msg(status == XGEMM_OK, "%s", error.text);
    ck_assert_mem_eq(result, expected, sizeof result);
}
END_TEST

typedef struct {
    xg_program program;
    const char *complaint; /* in one order at least; NULL: wrong results */
    bool in_all;           /* found in every order */
} mistake;

static const mistake mistakes[] = {
    {PROGRAM(no_full_wait), "copies to what a matrix product still reads", true},
    {PROGRAM(no_empty_wait), "which has had its 1 arrivals in phase 0", true},
    {PROGRAM(no_expect), "waits without end at the barrier", true},
    {PROGRAM(wrong_bytes), "multiplies what a bulk copy has not brought yet", true},
    {PROGRAM(odd_bytes), "all three must be multiples of 16", true},
    {PROGRAM(wrong_mask), "copies to the blocks 0x7 of a cluster of 2", true},
    {PROGRAM(wrong_full_parity), "copies to what a matrix product still reads", true},
    {PROGRAM(wrong_empty_parity), "its phase 0 lacks 4 of 4 arrivals and 0 bytes", true},
    {PROGRAM(few_arrivals), "copies to what a matrix product still reads", false},
    {PROGRAM(early_release), "copies to what a matrix product still reads", false},
    {PROGRAM(no_release), "for parity 0: its phase 0 lacks 4 of 4 arrivals", true},
    {PROGRAM(misaligned), "it must begin at a multiple of 1024", true},
    {PROGRAM(different_operands), "issues another matrix product than", true},
    {PROGRAM(absent_thread), "issues another matrix product than", true},
    {PROGRAM(leaving_thread), "thread 5 of the warpgroup has issued 4 of 8", true},
    {PROGRAM(left_over), "nobody has waited for the copy of sm90_kernels.cu", true},
    {PROGRAM(no_product_wait), NULL, true},
    {PROGRAM(no_product_fence), "with no xg_wgmma_fence()", true},
    {PROGRAM(no_init_fence), "only after xg_barrier_init_fence()", true},
    {PROGRAM(no_first_join), "where none was initialised", false},
    {PROGRAM(no_last_join), "which has left the kernel", false},
};

/* The orders in which a run of a wrong kernel fails or is wrong; whether the complaint was made. */
static int count_found(const mistake *of, bool watched, bool *complained)
{
    int found = 0;
    *complained = false;
    for (int order = 0; order < COUNT(orders); order++) {
        xg_error error = {""};
        const xgemm_status status = multiply(&of->program, orders[order], watched, &error);
        const bool wrong = !status && memcmp(result, expected, sizeof result) != 0;
        if (status)
            ck_assert_msg(strstr(error.text, " sm90_kernels.cu:") != NULL, "%s", error.text);
        found += status != XGEMM_OK || wrong;
        *complained |= of->complaint ? strstr(error.text, of->complaint) != NULL : wrong;
    }
    return found;
}

START_TEST(wrong_twin_is_found)
{
    const mistake *of = &mistakes[_i];
    bool complained;
    const int found = count_found(of, false, &complained);
    ck_assert_msg(complained, "%s: no order complains as expected", of->program.symbol);
    if (of->in_all)
        ck_assert_msg(found == COUNT(orders), "%s: found in %d orders", of->program.symbol, found);
}
END_TEST

/* Threads that were stopped in the middle, and what was on its way then, leave nothing behind. */
START_TEST(right_kernel_is_right_after_wrong)
{
    for (int late = 0; late < 2; late++) {
        xg_error error = {""};
        const xg_sim_options how = {.late = late != 0};
        multiply(&mistakes[_i].program, how, false, &error);
        ck_assert_msg(multiply(&right, how, false, &error) == XGEMM_OK, "%s", error.text);
        ck_assert_mem_eq(result, expected, sizeof result);
    }
}
END_TEST

#ifdef WITH_TRACE
START_TEST(trace_finds_nothing_in_right_kernel)
{
    xg_error error = {""};
    const xgemm_status status = multiply(&right, orders[_i], true, &error);
    ck_assert_msg(status == XGEMM_OK, "%s", error.text);
    ck_assert_mem_eq(result, expected, sizeof result);
}
END_TEST

START_TEST(trace_finds_wrong_twin)
{
    const mistake *of = &mistakes[_i];
    bool complained;
    ck_assert_int_ge(count_found(of, true, &complained), of->in_all ? COUNT(orders) : 1);
}
END_TEST

START_TEST(trace_counts_what_copies_read)
{
    const int64_t tiles = M / TILE * (N / TILE), copies = tiles * UNITS;
    xg_sim_options how = {.trace = xg_trace_new()};
    xg_error error = {""};
    int count, found = 0;
    ck_assert_ptr_nonnull(how.trace);
    ck_assert_int_eq(multiply(&right, how, false, &error), XGEMM_OK);
    const xg_trace_site *sites = xg_trace_sites(how.trace, &count);
    for (int i = 0; i < count; i++) {
        const int64_t bytes = sites[i].array[0] == 'A' ? UNIT_BYTES : UNIT_BYTES / 2;
        if (sites[i].is_shared || sites[i].is_store)
            continue;
        found++;
        ck_assert_int_eq(sites[i].requests, copies);
        ck_assert_int_eq(sites[i].sectors, copies * bytes / 32);
        ck_assert_int_eq(sites[i].cache_lines, copies * bytes / 128);
    }
    xg_trace_free(how.trace);
    ck_assert_int_eq(found, 2);
}
END_TEST
#endif

/* C = 1 + A * B of 64 × 256, k = 64. */
static xgemm_status multiply_wide(const xg_program *program, xg_sim_options how, xg_error *error)
{
    static _Alignas(16) uint16_t b[2 * UNIT_BYTES / 2];
    for (int half = 0; half < 2; half++)
        memcpy(b + half * (UNIT_BYTES / 2), packed_b + half * UNITS * (UNIT_BYTES / 2), UNIT_BYTES);
    const xg_args args = {.a = (const float *)(const void *)packed_a,
                          .b = (const float *)(const void *)b,
                          .c = result,
                          .c_row = 256};
    const xg_launch what = {.program = program,
                            .grid = {1, 1, 1},
                            .block = {128, 1, 1},
                            .shared_bytes = 3 * UNIT_BYTES + 8,
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return launch(&what, how, false, error);
}

static bool wide_is_right(void)
{
    for (int row = 0; row < 64; row++)
        for (int column = 0; column < 256; column++) {
            float sum = 1.0f;
            for (int l = 0; l < DEPTH; l++)
                sum += a_at(row, l) * b_at(column, l);
            if (result[row * 256 + column] != sum)
                return false;
        }
    return true;
}

START_TEST(wide_product_is_right)
{
    static const xg_program wide = PROGRAM(wide);
    xg_error error = {""};
    ck_assert_msg(multiply_wide(&wide, orders[_i], &error) == XGEMM_OK, "%s", error.text);
    ck_assert(wide_is_right());
}
END_TEST

START_TEST(wrong_swizzle_is_found)
{
    static const xg_program program = PROGRAM(wrong_swizzle);
    xg_error error = {""};
    ck_assert_int_eq(multiply_wide(&program, orders[_i], &error), XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, "swizzle mode 2") != NULL, "%s", error.text);
}
END_TEST

START_TEST(sums_used_too_early_are_found)
{
    static const xg_program program = PROGRAM(sums_too_early);
    xg_error error = {""};
    const xgemm_status status = multiply_wide(&program, orders[_i], &error);
    if (orders[_i].late)
        ck_assert_msg(strstr(error.text, "changed number 3 since it issued") != NULL, "%s",
                      error.text);
    else
        ck_assert_int_eq(status, XGEMM_OK);
}
END_TEST

/* A tile by one warpgroup with two sets of sums, of which one is always on its way. */
static xgemm_status multiply_in_turns(const xg_program *program, xg_sim_options how, bool watched,
                                      xg_error *error)
{
    enum { FEW = 3, PART = FEW * UNIT_BYTES / 4 };
    const xg_args args = {.k = FEW,
                          .a = (const float *)(const void *)packed_a,
                          .b = (const float *)(const void *)packed_b,
                          .c = result,
                          .c_row = TILE};
    const xg_launch what = {.program = program,
                            .grid = {1, 1, 1},
                            .block = {128, 1, 1},
                            .shared_bytes = 2 * FEW * UNIT_BYTES + 8,
                            .regions = {memory("A", args.a, 1, PART), memory("B", args.b, 1, PART),
                                        memory("C", result, TILE, TILE)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return launch(&what, how, watched, error);
}

static bool in_turns_is_right(void)
{
    for (int row = 0; row < TILE; row++)
        for (int column = 0; column < TILE; column++) {
            float sum = 0.0f;
            for (int l = 0; l < 3 * DEPTH; l++)
                sum += a_at(row, l) * b_at(column, l);
            if (result[row * TILE + column] != sum)
                return false;
        }
    return true;
}

START_TEST(sums_in_turns_are_right)
{
    static const xg_program turns = PROGRAM(in_turns), early = PROGRAM(turns_too_early);
    for (int watched = 0; watched <= CAN_WATCH; watched++) {
        xg_error error = {""};
        ck_assert_msg(!multiply_in_turns(&turns, orders[_i], watched, &error), "%s", error.text);
        ck_assert(in_turns_is_right());
        const xgemm_status status = multiply_in_turns(&early, orders[_i], watched, &error);
        ck_assert(status != XGEMM_OK || !in_turns_is_right());
    }
}
END_TEST

/* What threads stored and pass on: A's first rows as they are, to one block. */
static xgemm_status run_stored(const xg_program *program, uint32_t threads, xg_sim_options how,
                               bool watched, xg_error *error)
{
    static float numbers[TILE * DEPTH];
    for (int i = 0; i < TILE * DEPTH; i++)
        numbers[i] = a_at(i / DEPTH, i % DEPTH);
    const xg_args args = {.m = 9, .a = numbers, .c = result, .a_row = DEPTH, .c_row = TILE};
    const xg_launch what = {
        .program = program,
        .grid = {1, 1, 1},
        .block = {threads, 1, 1},
        .shared_bytes = UNIT_BYTES,
        .regions = {[0] = memory("A", numbers, TILE, DEPTH), [2] = memory("C", result, TILE, TILE)},
        .arguments = &args,
        .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return launch(&what, how, watched, error);
}

static bool stored_is_right(void)
{
    for (int row = 0; row < 64; row++)
        for (int column = 0; column < TILE; column++) {
            float sum = 0.0f;
            for (int l = 0; l < DEPTH; l++)
                sum += a_at(row, l) * a_at(column, l);
            if (result[row * TILE + column] != sum)
                return false;
        }
    return true;
}

/* So many columns, of which each 32 are turned around. */
static bool handed_is_right(int columns)
{
    for (int row = 0; row < 9; row++)
        for (int column = 0; column < columns; column++)
            if (result[row * TILE + column] != a_at(row, column / 32 * 32 + 31 - column % 32))
                return false;
    return true;
}

START_TEST(stored_operands_are_right)
{
    static const xg_program stored = PROGRAM(stored), handed = PROGRAM(handed);
    static const xg_program turned = PROGRAM(turned);
    for (int watched = 0; watched <= CAN_WATCH; watched++) {
        xg_error error = {""};
        ck_assert_msg(!run_stored(&stored, 128, orders[_i], watched, &error), "%s", error.text);
        ck_assert(stored_is_right());
        ck_assert_msg(!run_stored(&handed, 64, orders[_i], watched, &error), "%s", error.text);
        ck_assert(handed_is_right(32));
        ck_assert_msg(!run_stored(&turned, 64, orders[_i], watched, &error), "%s", error.text);
        ck_assert(handed_is_right(64));
    }
}
END_TEST

#ifdef WITH_TRACE
/* Found in every order, as the trace asks what came before, not what came first. */
START_TEST(trace_finds_unordered_stores)
{
    static const struct {
        xg_program program;
        uint32_t threads;
        const char *complaints[2];
    } wrong[] = {
        {PROGRAM(no_async_fence), 128, {"wrote without xg_fence_async() after it: dynamic[", "?"}},
        {PROGRAM(no_store_barrier),
         128,
         {"another thread writes without a barrier between: dynamic[", "?"}},
        {PROGRAM(handed_early),
         64,
         {"another thread writes without a barrier between: dynamic[", "what nothing wrote"}},
        {PROGRAM(overwritten),
         64,
         {"another thread reads without a barrier between: dynamic[",
          "waits without end at the barrier"}},
        {PROGRAM(taken_early),
         64,
         {"another thread writes without a barrier between: dynamic[", "what nothing wrote"}},
        {PROGRAM(turned_early),
         64,
         {"another thread writes without a barrier between: dynamic[", "what nothing wrote"}},
        {PROGRAM(turned_over),
         64,
         {"another thread reads without a barrier between: dynamic[",
          "another thread writes without a barrier between: dynamic["}},
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        xg_error error = {""};
        const xgemm_status status =
            run_stored(&wrong[i].program, wrong[i].threads, orders[_i], true, &error);
        ck_assert_msg(status == XGEMM_ERROR_LAUNCH, "%s passed", wrong[i].program.symbol);
        ck_assert_msg(strstr(error.text, wrong[i].complaints[0]) ||
                          strstr(error.text, wrong[i].complaints[1]),
                      "%s", error.text);
    }
}
END_TEST
#endif

/* Each of "blocks" blocks reads from the next one. */
static xgemm_status read_neighbours(const xg_program *program, uint32_t blocks, uint32_t threads,
                                    bool watched, xg_sim_options how, xg_error *error)
{
    static float numbers[4096];
    for (int i = 0; i < COUNT(numbers); i++)
        numbers[i] = (float)(i % 2048);
    const xg_args args = {.m = blocks, .k = 1, .a = numbers, .c = result};
    const xg_launch what = {.program = program,
                            .grid = {blocks, 1, 1},
                            .block = {threads, 1, 1},
                            .cluster = blocks,
                            .shared_bytes = threads * 4,
                            .regions = {[0] = memory("A", numbers, 1, COUNT(numbers)),
                                        [2] = memory("C", result, 1, COUNT(numbers))},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return launch(&what, how, watched, error);
}

START_TEST(blocks_read_one_another)
{
    static const xg_program program = PROGRAM(neighbour);
    static const struct {
        uint32_t blocks, threads;
    } sizes[] = {{1, 64}, {2, 512}, {4, 256}, {2, 384}, {16, 256}, {4, 1024}};
    for (int size = 0; size < COUNT(sizes); size++) {
        const uint32_t blocks = sizes[size].blocks, threads = sizes[size].threads;
        xg_error error = {""};
        ck_assert_msg(!read_neighbours(&program, blocks, threads, false, orders[_i], &error), "%s",
                      error.text);
        for (uint32_t i = 0; i < blocks * threads; i++)
            ck_assert_float_eq(result[i], (float)((i + threads) % (blocks * threads) % 2048));
    }
}
END_TEST

static int count_failed_reads(const xg_program *program, bool watched, const char *complaint)
{
    int found = 0;
    for (int order = 0; order < COUNT(orders); order++) {
        xg_error error = {""};
        const bool failed =
            read_neighbours(program, 2, 64, watched, orders[order], &error) != XGEMM_OK;
        bool wrong = false;
        for (int i = 0; !failed && i < 128; i++)
            wrong |= result[i] != (float)((i + 64) % 128);
        if (failed)
            ck_assert_msg(complaint && strstr(error.text, complaint), "%s", error.text);
        found += failed || wrong;
    }
    return found;
}

START_TEST(read_without_barrier_is_found)
{
    static const xg_program early = PROGRAM(read_too_early), leave = PROGRAM(leave_too_early);
    ck_assert_int_gt(count_failed_reads(&early, false, NULL), 0);
    ck_assert_int_gt(count_failed_reads(&leave, false, "reads shared memory of block"), 0);
}
END_TEST

#ifdef WITH_TRACE
START_TEST(trace_finds_read_without_barrier)
{
    static const xg_program right_one = PROGRAM(neighbour), early = PROGRAM(read_too_early);
    ck_assert_int_eq(count_failed_reads(&right_one, true, NULL), 0);
    ck_assert_int_gt(count_failed_reads(&early, true, "reads what "), 0);
}
END_TEST
#endif

static void assert_refuses(const xg_program *program, uint32_t blocks, uint32_t threads,
                           const char *complaint)
{
    xg_error error = {""};
    ck_assert_int_eq(read_neighbours(program, blocks, threads, false, orders[0], &error),
                     XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, complaint) != NULL, "%s", error.text);
}

START_TEST(impossible_clusters_are_refused)
{
    static const xg_program program = PROGRAM(neighbour);
    assert_refuses(&program, 17, 32, "at most 16 blocks and 4096 threads");
    assert_refuses(&program, 8, 1024, "at most 16 blocks and 4096 threads");
    assert_refuses(&program, 2, 48, "blocks of whole warps");
    xg_error error = {""};
    const xg_launch odd = {
        .program = &program, .grid = {3, 1, 1}, .block = {32, 1, 1}, .cluster = 2};
    ck_assert_int_eq(launch(&odd, orders[0], false, &error), XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, "a multiple of their 2 blocks") != NULL, "%s", error.text);
}
END_TEST

/* What xg_wrong_call is told for its case of that number. */
static const char *const wrong_calls[] = {
    "waits at a barrier at 0x808 of block 0, where none was initialised",
    "initialises the barrier at 0x800 a second time",
    "initialises a barrier with 0 arrivals",
    "at 0x804, which is no multiple of 8",
    "of block 1 of a cluster of 1",
    "announces 1048576 bytes",
    "waits for parity 2",
    "arrives at a barrier outside the dynamic shared memory: 8 bytes at 0xc00",
    "without having arrived there",
    "arrives at the cluster's barrier twice",
    "copies to shared memory outside the dynamic shared memory: 32 bytes at 0xbf0",
    "all three must be multiples of 16",
    "has not had 16 bytes that were announced",
    "has had 16 bytes that nobody announced",
    "reads 4 bytes at 0x402, which is no multiple of 4",
    "asks for 20 registers",
    "has changed its registers",
    "takes the shared address of what is not in the block's dynamic shared memory",
    "has not waited for the matrix product of sm90_kernels.cu",
    "multiplies what is outside the dynamic shared memory",
    "or it was overwritten",
    "was launched without one",
    "the barrier of number 0; they are 1 to 15",
    "for 48 threads; these must be whole warps",
    "threads, and others there for",
    "waits without end for 128 threads at a numbered barrier: 96 have come",
};

START_TEST(wrong_call_is_told)
{
    static const xg_program program = PROGRAM(wrong_call);
    static _Alignas(16) float numbers[32];
    const xg_args args = {.k = _i, .a = numbers};
    const xg_launch what = {.program = &program,
                            .grid = {1, 1, 1},
                            .block = {128, 1, 1},
                            .shared_bytes = 2048,
                            .arguments = &args,
                            .arguments_size = sizeof args};
    xg_error error = {""};
    ck_assert_int_eq(launch(&what, orders[0], false, &error), XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, wrong_calls[_i]) != NULL, "%s", error.text);
    ck_assert_msg(strncmp(error.text, "kernel wrong_call, block (0, 0, 0), thread (", 43) == 0,
                  "%s", error.text);
}
END_TEST

/* Blocks that count in C and wait for one another's counts. */
static xgemm_status wait_in_turn(const xg_program *program, bool watched, xg_sim_options how,
                                 xg_error *error)
{
    const xg_args args = {.c = result};
    const xg_launch what = {.program = program,
                            .grid = {3, 1, 1},
                            .block = {64, 1, 1},
                            .regions = {[2] = memory("C", result, 1, 3)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0, sizeof result);
    return launch(&what, how, watched, error);
}

START_TEST(blocks_wait_for_earlier_ones_alone)
{
    static const xg_program right = PROGRAM(in_turn), wrong = PROGRAM(out_of_turn);
    for (int watched = 0; watched <= CAN_WATCH; watched++) {
        unsigned counts[3];
        xg_error error = {""};
        ck_assert_msg(!wait_in_turn(&right, watched, orders[_i], &error), "%s", error.text);
        memcpy(counts, result, sizeof counts);
        for (int i = 0; i < COUNT(counts); i++)
            ck_assert_uint_eq(counts[i], 2);
        ck_assert_int_eq(wait_in_turn(&wrong, watched, orders[_i], &error), XGEMM_ERROR_LAUNCH);
        ck_assert_msg(strstr(error.text, "waits for a count of 2 that is 0") != NULL, "%s",
                      error.text);
    }
}
END_TEST

#ifndef WITHOUT_SECTIONS
START_TEST(static_memory_in_cluster_is_refused)
{
    static const xg_program with = PROGRAM(static_memory), without = PROGRAM(no_static);
    xg_error error = {""};
    ck_assert_msg(!read_neighbours(&without, 2, 64, false, orders[0], &error), "%s", error.text);
    assert_refuses(&with, 2, 64, "it has static shared memory");
}
END_TEST
#endif

/* The value of an FP16, from its definition. */
static double value_of_half(unsigned half)
{
    const int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 0x3ff);
    const double sign = half >> 15 ? -1.0 : 1.0;
    if (exponent == 31)
        return fraction ? (double)NAN : sign * (double)INFINITY;
    return exponent == 0 ? sign * ldexp(fraction, -24)
                         : sign * ldexp(1024 + fraction, exponent - 25);
}

START_TEST(halves_convert_exactly)
{
    for (unsigned half = 0; half < 1 << 16; half++) {
        const double value = value_of_half(half);
        const unsigned both = half << 16 | (half ^ 0x8000);
        if (isnan(value)) {
            ck_assert(isnan(xg_half2_high(both)) && isnan(xg_half2_low(both)));
            ck_assert(isnan(value_of_half(xg_sim_half2(xg_half2_high(both), 0.0f) & 0xffff)));
            continue;
        }
        ck_assert_double_eq((double)xg_half2_high(both), value);
        ck_assert_double_eq((double)xg_half2_low(both), -value);
        ck_assert_int_eq(!signbit(xg_half2_high(both)), !(half >> 15));
        ck_assert_uint_eq(xg_half2(xg_half2_low(both), xg_half2_high(both)),
                          half << 16 | (half ^ 0x8000));
    }
}
END_TEST

static unsigned rounded(double value)
{
    return xg_half2((float)value, 0.0f) & 0xffff;
}

/* Between two neighbours: the middle goes to the even one, and what is beside it to the nearer. */
START_TEST(halves_round_to_nearest_even)
{
    for (unsigned half = 0; half < 0x7c00; half++) {
        const double low = value_of_half(half);
        const double high = half == 0x7bff ? 65536.0 : value_of_half(half + 1);
        const float middle = (float)((low + high) / 2);
        const unsigned even = half + (half & 1);
        ck_assert_uint_eq(rounded((double)middle), even);
        ck_assert_uint_eq(rounded((double)nextafterf(middle, 0.0f)), half);
        ck_assert_uint_eq(rounded((double)nextafterf(middle, 1e6f)), half + 1);
        ck_assert_uint_eq(rounded(-(double)middle), even | 0x8000);
        ck_assert_uint_eq(rounded(-(double)nextafterf(middle, 1e6f)), (half + 1) | 0x8000);
    }
    ck_assert_uint_eq(rounded(3e38), 0x7c00);
    ck_assert_uint_eq(rounded(-3e38), 0xfc00);
    ck_assert_uint_eq(rounded(1e-40), 0);
    ck_assert_uint_eq(rounded(-1e-40), 0x8000);
    ck_assert_uint_eq(rounded(-0.0), 0x8000);
}
END_TEST

/* What is asked of pairs of FP16, for every magnitude beside 0.125 (0x3000). */
START_TEST(halves_compare)
{
    const unsigned limit = 0x3000, one = 0x3c00;
    for (unsigned half = 0; half < 1 << 16; half++) {
        const double value = value_of_half(half);
        const unsigned magnitude = half & 0x7fff, least = xg_half2_least(half, limit << 16 | limit);
        const unsigned expected = magnitude < limit ? magnitude : limit;
        ck_assert_uint_eq(least, isnan(value) ? 0x7fff : expected);
        ck_assert_uint_eq(xg_half2_least(limit << 16, half << 16) >> 16,
                          isnan(value) ? 0x7fff : expected);
        ck_assert_uint_eq(xg_half2_count(one << 16, half, limit << 16 | limit),
                          one << 16 | (value >= 0.125 ? one : 0));
        ck_assert_int_eq(xg_half2_any_to(half << 16 | one, limit << 16 | limit), !(value > 0.125));
        ck_assert_int_eq(xg_half2_any_to(one << 16 | half, limit << 16 | limit), !(value > 0.125));
    }
}
END_TEST

enum { PRODUCTS = 16, COLUMNS = 128 };

/* One sum of products, in all columns of all rows. */
static float add_up(float old, const float *a, const float *b)
{
    static float sums[64 * COLUMNS], left[64 * PRODUCTS], below[PRODUCTS * COLUMNS];
    for (int i = 0; i < 64 * COLUMNS; i++)
        sums[i] = old;
    for (int i = 0; i < 64 * PRODUCTS; i++)
        left[i] = a[i % PRODUCTS];
    for (int i = 0; i < PRODUCTS * COLUMNS; i++)
        below[i] = b[i / COLUMNS];
    xg_sim_product(sums, left, below, COLUMNS);
    /* Each is its neighbour's equal. */
    ck_assert_mem_eq(sums, sums + 1, sizeof sums - sizeof *sums);
    return sums[0];
}

/* "count" products of "each" units of 2^-23. */
static float add_units(float old, int count, float each)
{
    float a[PRODUCTS] = {0}, b[PRODUCTS] = {0};
    for (int i = 0; i < count; i++) {
        a[i] = each * 0x1p-11f;
        b[i] = 0x1p-12f;
    }
    return add_up(old, a, b);
}

/* What a card did with the same. */
START_TEST(sums_are_cut_as_on_a_card)
{
    ck_assert_float_eq(add_units(1.0f, 1, 0.75f), 1.0f);
    ck_assert_float_eq(add_units(-1.0f, 1, -0.75f), -1.0f);
    ck_assert_float_eq(add_units(1.0f, 1, -0.25f), 1.0f - 0x1p-24f);
    ck_assert_float_eq(add_units(1.0f, 2, 0.5f), 1.0f + 0x1p-23f);
    ck_assert_float_eq(add_units(1.0f, 4, 0.25f), 1.0f + 0x1p-23f);
    ck_assert_float_eq(add_units(1.0f, 8, 0.125f), 1.0f);
}
END_TEST

/* The same rule in other words. */
static float cut_sum(float old, const float *a, const float *b)
{
    double addend[PRODUCTS + 1], largest = fabs((double)old), sum = 0.0;
    addend[PRODUCTS] = (double)old;
    for (int i = 0; i < PRODUCTS; i++) {
        addend[i] = (double)a[i] * (double)b[i];
        largest = fmax(largest, fabs(addend[i]));
    }
    if (largest == 0.0)
        return 0.0f;
    const int exponent = ilogb(largest);
    for (int i = 0; i <= PRODUCTS; i++)
        sum += trunc(ldexp(addend[i], 25 - exponent));
    const int over = sum == 0.0 ? 0 : ilogb(sum) - 23;
    if (over > 0)
        sum = ldexp(trunc(ldexp(sum, -over)), over);
    return (float)ldexp(sum, exponent - 25);
}

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

static float draw_half(uint64_t *state, int spread)
{
    const uint32_t bits = draw(state);
    const int exponent = 15 - spread / 2 + (int)(bits >> 11 & 0xffff) % (spread + 1);
    return xg_sim_half_value((bits & 0x83ff) | (unsigned)exponent << 10);
}

START_TEST(sums_are_cut_by_the_rule)
{
    uint64_t state = 7;
    for (int round = 0; round < 400; round++) {
        float a[PRODUCTS], b[PRODUCTS];
        for (int i = 0; i < PRODUCTS; i++) {
            a[i] = draw_half(&state, round % 30);
            b[i] = i % 5 == 4 ? -b[i - 1] : draw_half(&state, round % 30);
        }
        const float old = round % 3 == 0 ? 0.0f : ldexpf(draw_half(&state, 8), round % 60 - 30);
        ck_assert_float_eq(add_up(old, a, b), cut_sum(old, a, b));
    }
}
END_TEST

START_TEST(special_sums_are_as_ieee_says)
{
    float a[PRODUCTS] = {1.0f, 1.0f}, b[PRODUCTS] = {0.0f};
    ck_assert_float_eq(add_up(0x1p-140f, a, b), 0x1p-140f);
    ck_assert_float_eq(add_up(-3e38f, a, b), -3e38f);
    b[0] = INFINITY;
    ck_assert_float_eq(add_up(1.0f, a, b), INFINITY);
    ck_assert(isnan(add_up(-INFINITY, a, b)));
    b[1] = -INFINITY;
    ck_assert(isnan(add_up(1.0f, a, b)));
    b[0] = 2.0f;
    ck_assert_float_eq(add_up(1.0f, a, b), -INFINITY);
    b[1] = NAN;
    ck_assert(isnan(add_up(1.0f, a, b)));
}
END_TEST

static Suite *sm90(void)
{
    Suite *suite = suite_create("sm90");
    TCase *kernels = tcase_create("kernels");
    tcase_add_unchecked_fixture(kernels, prepare, NULL);
    tcase_set_timeout(kernels, 120);
    tcase_add_loop_test(kernels, right_kernel_is_right, 0, COUNT(orders));
    tcase_add_loop_test(kernels, wrong_twin_is_found, 0, COUNT(mistakes));
    tcase_add_loop_test(kernels, right_kernel_is_right_after_wrong, 0, COUNT(mistakes));
    tcase_add_loop_test(kernels, wide_product_is_right, 0, COUNT(orders));
    tcase_add_loop_test(kernels, wrong_swizzle_is_found, 0, COUNT(orders));
    tcase_add_loop_test(kernels, sums_used_too_early_are_found, 0, COUNT(orders));
    tcase_add_loop_test(kernels, sums_in_turns_are_right, 0, COUNT(orders));
    tcase_add_loop_test(kernels, stored_operands_are_right, 0, COUNT(orders));
    tcase_add_loop_test(kernels, blocks_read_one_another, 0, COUNT(orders));
    tcase_add_test(kernels, read_without_barrier_is_found);
    tcase_add_loop_test(kernels, wrong_call_is_told, 0, COUNT(wrong_calls));
    tcase_add_test(kernels, impossible_clusters_are_refused);
    tcase_add_loop_test(kernels, blocks_wait_for_earlier_ones_alone, 0, COUNT(orders));
#ifndef WITHOUT_SECTIONS
    tcase_add_test(kernels, static_memory_in_cluster_is_refused);
#endif
#ifdef WITH_TRACE
    tcase_add_loop_test(kernels, trace_finds_nothing_in_right_kernel, 0, COUNT(orders));
    tcase_add_loop_test(kernels, trace_finds_wrong_twin, 0, COUNT(mistakes));
    tcase_add_loop_test(kernels, trace_finds_unordered_stores, 0, COUNT(orders));
    tcase_add_test(kernels, trace_finds_read_without_barrier);
    tcase_add_test(kernels, trace_counts_what_copies_read);
#endif
    suite_add_tcase(suite, kernels);

    TCase *numbers = tcase_create("numbers");
    tcase_set_timeout(numbers, 120);
    tcase_add_test(numbers, halves_convert_exactly);
    tcase_add_test(numbers, halves_round_to_nearest_even);
    tcase_add_test(numbers, halves_compare);
    tcase_add_test(numbers, sums_are_cut_as_on_a_card);
    tcase_add_test(numbers, sums_are_cut_by_the_rule);
    tcase_add_test(numbers, special_sums_are_as_ieee_says);
    suite_add_tcase(suite, numbers);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(sm90());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
