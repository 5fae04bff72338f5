/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator's models of what compute capability 9.0 has: a kernel that uses
 * all of it computes what plain C does in every order, and each of its wrong
 * twins is found in one of them. With the simulator's own source, as in
 * test_wrong_kernels.c.
 */
#include "sm90.h"

#include "backend/sim/specialised.h"

#include <stdlib.h>
#include <string.h>

const xg_sim_options sm90_orders[SM90_ORDERS] = {
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

xg_region sm90_memory(const char *name, const float *base, int lines, int width)
{
    return (xg_region){.name = name, .base = base, .lines = lines, .width = width, .step = width};
}

xgemm_status sm90_launch(const xg_launch *what, xg_sim_options how, bool watched, xg_error *error)
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
                          .c_stride_m = N};
    const xg_launch what = {.program = program,
                            .grid = {M / TILE, N / TILE, 1},
                            .block = {384, 1, 1},
                            .cluster = 2,
                            .shared_bytes = SHARED_BYTES,
                            .regions = {sm90_memory("A", args.a, 1, M * K / 2),
                                        sm90_memory("B", args.b, 1, N * K / 2),
                                        sm90_memory("C", result, M, N)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return sm90_launch(&what, how, watched, error);
}

static const xg_program right = PROGRAM(right);

START_TEST(right_kernel_is_right)
{
    xg_error error = {""};
    const xgemm_status status = multiply(&right, sm90_orders[_i], false, &error);
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
    for (int order = 0; order < SM90_ORDERS; order++) {
        xg_error error = {""};
        const xgemm_status status = multiply(&of->program, sm90_orders[order], watched, &error);
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
        ck_assert_msg(found == SM90_ORDERS, "%s: found in %d orders", of->program.symbol, found);
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
    const xgemm_status status = multiply(&right, sm90_orders[_i], true, &error);
    ck_assert_msg(status == XGEMM_OK, "%s", error.text);
    ck_assert_mem_eq(result, expected, sizeof result);
}
END_TEST

START_TEST(trace_finds_wrong_twin)
{
    const mistake *of = &mistakes[_i];
    bool complained;
    ck_assert_int_ge(count_found(of, true, &complained), of->in_all ? SM90_ORDERS : 1);
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
                          .c_stride_m = 256};
    const xg_launch what = {.program = program,
                            .grid = {1, 1, 1},
                            .block = {128, 1, 1},
                            .shared_bytes = 3 * UNIT_BYTES + 8,
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return sm90_launch(&what, how, false, error);
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
    ck_assert_msg(multiply_wide(&wide, sm90_orders[_i], &error) == XGEMM_OK, "%s", error.text);
    ck_assert(wide_is_right());
}
END_TEST

START_TEST(wrong_swizzle_is_found)
{
    static const xg_program program = PROGRAM(wrong_swizzle);
    xg_error error = {""};
    ck_assert_int_eq(multiply_wide(&program, sm90_orders[_i], &error), XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, "swizzle mode 2") != NULL, "%s", error.text);
}
END_TEST

START_TEST(sums_used_too_early_are_found)
{
    static const xg_program program = PROGRAM(sums_too_early);
    xg_error error = {""};
    const xgemm_status status = multiply_wide(&program, sm90_orders[_i], &error);
    if (sm90_orders[_i].late)
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
                          .c_stride_m = TILE};
    const xg_launch what = {.program = program,
                            .grid = {1, 1, 1},
                            .block = {128, 1, 1},
                            .shared_bytes = 2 * FEW * UNIT_BYTES + 8,
                            .regions = {sm90_memory("A", args.a, 1, PART),
                                        sm90_memory("B", args.b, 1, PART),
                                        sm90_memory("C", result, TILE, TILE)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return sm90_launch(&what, how, watched, error);
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
        ck_assert_msg(!multiply_in_turns(&turns, sm90_orders[_i], watched, &error), "%s",
                      error.text);
        ck_assert(in_turns_is_right());
        const xgemm_status status = multiply_in_turns(&early, sm90_orders[_i], watched, &error);
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
    const xg_args args = {
        .m = 9, .a = numbers, .c = result, .a_stride_m = DEPTH, .c_stride_m = TILE};
    const xg_launch what = {.program = program,
                            .grid = {1, 1, 1},
                            .block = {threads, 1, 1},
                            .shared_bytes = UNIT_BYTES,
                            .regions = {[0] = sm90_memory("A", numbers, TILE, DEPTH),
                                        [2] = sm90_memory("C", result, TILE, TILE)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return sm90_launch(&what, how, watched, error);
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
    static const xg_program turned = PROGRAM(turned), bf16 = PROGRAM(stored_bf16);
    for (int watched = 0; watched <= CAN_WATCH; watched++) {
        xg_error error = {""};
        ck_assert_msg(!run_stored(&stored, 128, sm90_orders[_i], watched, &error), "%s",
                      error.text);
        ck_assert(stored_is_right());
        ck_assert_msg(!run_stored(&bf16, 128, sm90_orders[_i], watched, &error), "%s", error.text);
        ck_assert(stored_is_right());
        ck_assert_msg(!run_stored(&handed, 64, sm90_orders[_i], watched, &error), "%s", error.text);
        ck_assert(handed_is_right(32));
        ck_assert_msg(!run_stored(&turned, 64, sm90_orders[_i], watched, &error), "%s", error.text);
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
            run_stored(&wrong[i].program, wrong[i].threads, sm90_orders[_i], true, &error);
        ck_assert_msg(status == XGEMM_ERROR_LAUNCH, "%s passed", wrong[i].program.symbol);
        ck_assert_msg(strstr(error.text, wrong[i].complaints[0]) ||
                          strstr(error.text, wrong[i].complaints[1]),
                      "%s", error.text);
    }
}
END_TEST
#endif

/* One thread issues a product of BF16, the others of FP16. */
START_TEST(different_types_are_found)
{
    static const xg_program program = PROGRAM(different_types);
    xg_error error = {""};
    ck_assert_int_eq(run_stored(&program, 128, sm90_orders[_i], false, &error),
                     XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, "issues another matrix product than") != NULL, "%s",
                  error.text);
}
END_TEST

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
                            .regions = {[0] = sm90_memory("A", numbers, 1, COUNT(numbers)),
                                        [2] = sm90_memory("C", result, 1, COUNT(numbers))},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0xff, sizeof result);
    return sm90_launch(&what, how, watched, error);
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
        ck_assert_msg(!read_neighbours(&program, blocks, threads, false, sm90_orders[_i], &error),
                      "%s", error.text);
        for (uint32_t i = 0; i < blocks * threads; i++)
            ck_assert_float_eq(result[i], (float)((i + threads) % (blocks * threads) % 2048));
    }
}
END_TEST

static int count_failed_reads(const xg_program *program, bool watched, const char *complaint)
{
    int found = 0;
    for (int order = 0; order < SM90_ORDERS; order++) {
        xg_error error = {""};
        const bool failed =
            read_neighbours(program, 2, 64, watched, sm90_orders[order], &error) != XGEMM_OK;
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
    ck_assert_int_eq(read_neighbours(program, blocks, threads, false, sm90_orders[0], &error),
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
    ck_assert_int_eq(sm90_launch(&odd, sm90_orders[0], false, &error), XGEMM_ERROR_LAUNCH);
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
    "waits at a barrier for parity 2",
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
    "copies a tile, and was launched without maps",
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
    ck_assert_int_eq(sm90_launch(&what, sm90_orders[0], false, &error), XGEMM_ERROR_LAUNCH);
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
                            .regions = {[2] = sm90_memory("C", result, 1, 3)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(result, 0, sizeof result);
    return sm90_launch(&what, how, watched, error);
}

START_TEST(blocks_wait_for_earlier_ones_alone)
{
    static const xg_program right = PROGRAM(in_turn), wrong = PROGRAM(out_of_turn);
    for (int watched = 0; watched <= CAN_WATCH; watched++) {
        unsigned counts[3];
        xg_error error = {""};
        ck_assert_msg(!wait_in_turn(&right, watched, sm90_orders[_i], &error), "%s", error.text);
        memcpy(counts, result, sizeof counts);
        for (int i = 0; i < COUNT(counts); i++)
            ck_assert_uint_eq(counts[i], 2);
        ck_assert_int_eq(wait_in_turn(&wrong, watched, sm90_orders[_i], &error),
                         XGEMM_ERROR_LAUNCH);
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
    ck_assert_msg(!read_neighbours(&without, 2, 64, false, sm90_orders[0], &error), "%s",
                  error.text);
    assert_refuses(&with, 2, 64, "it has static shared memory");
}
END_TEST
#endif

static Suite *sm90(void)
{
    Suite *suite = suite_create("sm90");
    TCase *kernels = tcase_create("kernels");
    tcase_add_unchecked_fixture(kernels, prepare, NULL);
    tcase_set_timeout(kernels, 120);
    tcase_add_loop_test(kernels, right_kernel_is_right, 0, SM90_ORDERS);
    tcase_add_loop_test(kernels, wrong_twin_is_found, 0, COUNT(mistakes));
    tcase_add_loop_test(kernels, right_kernel_is_right_after_wrong, 0, COUNT(mistakes));
    tcase_add_loop_test(kernels, wide_product_is_right, 0, SM90_ORDERS);
    tcase_add_loop_test(kernels, wrong_swizzle_is_found, 0, SM90_ORDERS);
    tcase_add_loop_test(kernels, sums_used_too_early_are_found, 0, SM90_ORDERS);
    tcase_add_loop_test(kernels, sums_in_turns_are_right, 0, SM90_ORDERS);
    tcase_add_loop_test(kernels, stored_operands_are_right, 0, SM90_ORDERS);
    tcase_add_loop_test(kernels, different_types_are_found, 0, SM90_ORDERS);
    tcase_add_loop_test(kernels, blocks_read_one_another, 0, SM90_ORDERS);
    tcase_add_test(kernels, read_without_barrier_is_found);
    tcase_add_loop_test(kernels, wrong_call_is_told, 0, COUNT(wrong_calls));
    tcase_add_test(kernels, impossible_clusters_are_refused);
    tcase_add_loop_test(kernels, blocks_wait_for_earlier_ones_alone, 0, SM90_ORDERS);
#ifndef WITHOUT_SECTIONS
    tcase_add_test(kernels, static_memory_in_cluster_is_refused);
#endif
#ifdef WITH_TRACE
    tcase_add_loop_test(kernels, trace_finds_nothing_in_right_kernel, 0, SM90_ORDERS);
    tcase_add_loop_test(kernels, trace_finds_wrong_twin, 0, COUNT(mistakes));
    tcase_add_loop_test(kernels, trace_finds_unordered_stores, 0, SM90_ORDERS);
    tcase_add_test(kernels, trace_finds_read_without_barrier);
    tcase_add_test(kernels, trace_counts_what_copies_read);
#endif
    suite_add_tcase(suite, kernels);

    suite_add_tcase(suite, sm90_full_range());
    suite_add_tcase(suite, sm90_tiles());
    suite_add_tcase(suite, sm90_numbers());
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
