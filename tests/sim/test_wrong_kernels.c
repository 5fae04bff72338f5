/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator's trace catches wrong kernels, wherever in the order of threads
 * the mistake shows, and its sentence says where they are; their right twins
 * pass. Without the library: accesses are numbered by assembly file, so that the library's kernels
 * cannot be in the program too.
 */
#include "args.h"
#include "backend/sim/simulator.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { THREADS = 64, ROWS = 3, STEP = 160, FLOATS = ROWS * STEP, GUARD = 256 };

/* Block and thread are those of the sentence when threads run forward. */
typedef struct {
    const char *name;
    xg_program wrong, right;
    int rows, columns, blocks;
    const char *complaint;
    int block, thread; /* a thread's number; its x where the block is a line */
    bool cubic;        /* the block is 4 x 4 x 4 */
} mistake;

#define PROGRAM(name)                                                                              \
    {                                                                                              \
        .symbol = "xg_" #name, .simulated = xg_simulated_##name, .traced = xg_traced_##name        \
    }
#define PROGRAMS(name) #name, PROGRAM(name), PROGRAM(name##_right)
#define DECLARE(name)                                                                              \
    void xg_simulated_##name(const void *), xg_simulated_##name##_right(const void *);             \
    void xg_traced_##name(const void *), xg_traced_##name##_right(const void *);

DECLARE(missing_barrier)
DECLARE(early_return)
DECLARE(no_bounds_check)
DECLARE(write_into_gap)
DECLARE(nothing_written)
DECLARE(shared_place)
DECLARE(overlapping_blocks)
DECLARE(order_of_blocks)
DECLARE(writes_input)
DECLARE(missing_copy_wait)
DECLARE(copy_without_barrier)
DECLARE(stage_too_early)
DECLARE(missing_syncwarp)
DECLARE(warp_for_block)
DECLARE(absent_lane)
DECLARE(absent_factor)
DECLARE(warp_hangs)
DECLARE(lost_update)
DECLARE(unfinished_sum)
DECLARE(past_dynamic)
DECLARE(forgotten_z)
DECLARE(other_product)
DECLARE(other_pointer)

static const mistake mistakes[] = {
    {PROGRAMS(missing_barrier), ROWS, THREADS, 1,
     "reads what another thread writes without a barrier between: tile[31]", 0, 32, false},
    {PROGRAMS(early_return), 1, 50, 1, "50 of 64 threads that wait at __syncthreads()", 0, 0,
     false},
    {PROGRAMS(no_bounds_check), 1, 50, 1, "reads 4 bytes outside every array", 0, 50, false},
    {PROGRAMS(write_into_gap), ROWS, 50, 1, "writes past the end of a line: C[50]", 0, 50, false},
    {PROGRAMS(nothing_written), 1, 50, 1, "reads what nothing wrote: tile[63]", 0, 0, false},
    {PROGRAMS(shared_place), 1, THREADS, 1,
     "writes what another thread writes without a barrier between: tile[0]", 0, 1, false},
    {PROGRAMS(overlapping_blocks), 1, 2 * THREADS, 2, "writes what another block writes: C[32]", 1,
     0, false},
    {PROGRAMS(order_of_blocks), 1, 2 * THREADS, 2, "reads what another block writes: C[0]", 1, 0,
     false},
    {PROGRAMS(writes_input), 1, 50, 1, "writes an array that is only read: A[0]", 0, 0, false},
    {PROGRAMS(missing_copy_wait), 1, 50, 1,
     "reads what an asynchronous copy has not brought yet: tile[63]", 0, 0, false},
    {PROGRAMS(copy_without_barrier), 1, THREADS, 1, "reads what nothing wrote: tile[63]", 0, 0,
     false},
    {PROGRAMS(stage_too_early), ROWS, THREADS, 1,
     "reads what an asynchronous copy has not brought yet: tile[31]", 0, 32, false},
    {PROGRAMS(missing_syncwarp), ROWS, THREADS, 1,
     "reads what another thread writes without a barrier between: tile[0]", 0, 1, false},
    {PROGRAMS(warp_for_block), 1, THREADS, 1, "reads what nothing wrote: tile[32]", 0, 0, false},
    {PROGRAMS(absent_lane), 1, 50, 1, "which brings none", 0, 34, false},
    {PROGRAMS(absent_factor), 1, 50, 1, "with a warp of which lane 18 brings nothing", 0, 32,
     false},
    {PROGRAMS(warp_hangs), 1, THREADS, 1, "waits for threads of its warp (mask 0xffffffff)", 0, 0,
     false},
    {PROGRAMS(lost_update), 1, THREADS, 1,
     "reads what another thread writes without a barrier between: count[0]", 0, 2, false},
    {PROGRAMS(unfinished_sum), 1, THREADS, 1,
     "writes what another thread reads without a barrier between: C[0]", 0, 1, false},
    {PROGRAMS(past_dynamic), 1, THREADS, 1,
     "accesses dynamic shared memory past the launch's end: dynamic[64]", 0, 63, false},
    {PROGRAMS(forgotten_z), 1, THREADS, 1,
     "writes what another thread writes without a barrier between: C[0]", 0, 16, true},
};

static const xg_sim_options orders[] = {
    {.order = XG_SIM_FORWARD},
    {.order = XG_SIM_REVERSE},
    {.order = XG_SIM_SHUFFLE, .seed = 1},
    {.order = XG_SIM_SHUFFLE, .seed = 20261121},
    {.order = XG_SIM_FORWARD, .late = true},
    {.order = XG_SIM_SHUFFLE, .seed = 2, .late = true},
};
enum { LATE = 4 };

/* A and C with room around, so that nothing else of the launch is near either. */
typedef struct {
    float before_a[GUARD], a[FLOATS], between[GUARD], c[FLOATS], after_c[GUARD];
} memory;

static memory fresh_memory(void)
{
    memory all;
    memset(&all, 0, sizeof all);
    for (int i = 0; i < FLOATS; i++)
        all.a[i] = (float)(i + 1);
    return all;
}

static xg_region region_of(const char *name, const float *base, const mistake *of)
{
    return (xg_region){.name = name,
                       .base = base,
                       .rows = of->rows,
                       .row_bytes = of->columns * (int64_t)sizeof *base,
                       .stride_bytes = STEP * sizeof *base};
}

static xgemm_status run(const xg_program *program, const mistake *of, const xg_sim_options *how,
                        memory *all, xg_error *error)
{
    const xg_test_args args = {.m = of->rows,
                               .n = of->columns,
                               .a = all->a,
                               .c = all->c,
                               .a_stride_m = STEP,
                               .a_stride_k = 1,
                               .c_stride_m = STEP};
    const xg_launch launch = {
        .program = program,
        .grid = {(uint32_t)of->blocks, 1, 1},
        .block = {of->cubic ? 4 : THREADS, of->cubic ? 4 : 1, of->cubic ? 4 : 1},
        .shared_bytes = THREADS * sizeof(float),
        .regions = {[XG_REGION_A] = region_of("A", all->a, of),
                    [XG_REGION_C] = region_of("C", all->c, of)},
        .arguments = &args,
        .arguments_size = sizeof args};
    return xg_sim_launch(&launch, how, error);
}

static xgemm_status run_traced(const xg_program *program, const mistake *of, xg_sim_options how,
                               xg_error *error)
{
    memory all = fresh_memory();
    how.trace = xg_trace_new();
    ck_assert_ptr_nonnull(how.trace);
    const xgemm_status status = run(program, of, &how, &all, error);
    xg_trace_free(how.trace);
    return status;
}

/* The line of the source that has the mistake's marker; 0: it has none. */
static int marked_line(const char *name)
{
    char path[1024], marker[64], text[256];
    const char *top = getenv("srcdir");
    int line = 0, found = 0;
    snprintf(path, sizeof path, "%s/tests/sim/wrong_kernels.cu", top ? top : ".");
    snprintf(marker, sizeof marker, "/* WRONG: %s */", name);
    FILE *source = fopen(path, "r");
    ck_assert_msg(source != NULL, "cannot read %s", path);
    while (!found && fgets(text, sizeof text, source)) {
        line++;
        found = strstr(text, marker) ? line : 0;
    }
    fclose(source);
    return found;
}

static void assert_says(const xg_error *error, const char *part)
{
    ck_assert_msg(strstr(error->text, part) != NULL, "\"%s\" lacks \"%s\"", error->text, part);
}

static void assert_blames_kernel(const mistake *of, const xg_error *error)
{
    char part[128];
    snprintf(part, sizeof part, "kernel %s, block (%d, 0, 0)", of->name, of->block);
    assert_says(error, part);
    const int line = marked_line(of->name);
    ck_assert_msg(line > 0, "no line of wrong_kernels.cu is marked for %s", of->name);
    snprintf(part, sizeof part, ": wrong_kernels.cu:%d ", line);
    assert_says(error, part);
}

/* Up to the element, which depends on the order of the threads. */
static void assert_complains(const mistake *of, const xg_error *error)
{
    char part[128];
    snprintf(part, sizeof part, "%s", of->complaint);
    char *element = strrchr(part, '[');
    if (element)
        element[1] = '\0';
    assert_says(error, part);
}

START_TEST(wrong_kernel_is_caught)
{
    const mistake *of = &mistakes[_i];
    xg_error error = {""};
    ck_assert_int_eq(run_traced(&of->wrong, of, orders[0], &error), XGEMM_ERROR_LAUNCH);
    assert_blames_kernel(of, &error);
    assert_says(&error, of->complaint);
    const int x = of->cubic ? of->thread % 4 : of->thread;
    char part[64];
    snprintf(part, sizeof part, "thread (%d, %d, %d):", x, of->cubic ? of->thread / 4 % 4 : 0,
             of->cubic ? of->thread / 16 : 0);
    assert_says(&error, part);
}
END_TEST

START_TEST(wrong_kernel_is_caught_in_any_order)
{
    const mistake *of = &mistakes[_i];
    for (int order = 0; order < COUNT(orders); order++) {
        xg_error error = {""};
        ck_assert_int_eq(run_traced(&of->wrong, of, orders[order], &error), XGEMM_ERROR_LAUNCH);
        assert_blames_kernel(of, &error);
        assert_complains(of, &error);
    }
}
END_TEST

START_TEST(right_twin_passes)
{
    const mistake *of = &mistakes[_i];
    for (int order = 0; order < COUNT(orders); order++) {
        xg_error error = {""};
        const xgemm_status status = run_traced(&of->right, of, orders[order], &error);
        ck_assert_msg(status == XGEMM_OK, "order %d: %s", order, error.text);
    }
}
END_TEST

/* Threads that were stopped in the middle of a kernel leave nothing behind. */
START_TEST(right_twin_passes_after_wrong)
{
    const mistake *of = &mistakes[_i];
    for (int i = 0; i < 3; i++) {
        xg_error error = {""};
        ck_assert_int_eq(run_traced(&of->wrong, of, orders[0], &error), XGEMM_ERROR_LAUNCH);
        const xgemm_status status = run_traced(&of->right, of, orders[0], &error);
        ck_assert_msg(status == XGEMM_OK, "%s", error.text);
    }
}
END_TEST

/* ---- Batches: a block is held to the matrices of its own product ---- */

enum { PRODUCTS = 3, WIDTH = 50 };

static const mistake strays[] = {
    {PROGRAMS(other_product), 1, WIDTH, 1, "reads 4 bytes outside every array", 0, 0, false},
    {PROGRAMS(other_pointer), 1, WIDTH, 1, "reads 8 bytes outside every array", 0, 0, false},
};

/* Rows of A and C one after the other, or where pointer arrays say. */
static xgemm_status run_batch(const xg_program *program, bool lists, int order, xg_error *error)
{
    memory all = fresh_memory();
    const float *a[PRODUCTS];
    float *c[PRODUCTS];
    for (int i = 0; i < PRODUCTS; i++) {
        a[i] = all.a + (PRODUCTS - 1 - i) * WIDTH;
        c[i] = all.c + i * WIDTH;
    }
    const xg_test_args args = {.m = 1,
                               .n = WIDTH,
                               .a = lists ? (const float *)(const void *)a : all.a,
                               .c = lists ? (float *)(void *)c : all.c,
                               .a_batch_stride = lists ? XG_POINTER_ARRAYS : WIDTH,
                               .c_batch_stride = WIDTH};
    const xg_region from = {.name = "A",
                            .base = lists ? (const void *)a : all.a,
                            .rows = 1,
                            .row_bytes = WIDTH * sizeof(float),
                            .stride_bytes = WIDTH * sizeof(float),
                            .batch_stride_bytes = WIDTH * sizeof(float),
                            .is_pointer_array = lists};
    xg_region to = from;
    to.name = "C";
    to.base = lists ? (const void *)c : all.c;
    const xg_launch launch = {.program = program,
                              .grid = {1, 1, PRODUCTS},
                              .block = {THREADS, 1, 1},
                              .regions = {[XG_REGION_A] = from, [XG_REGION_C] = to},
                              .arguments = &args,
                              .arguments_size = sizeof args};
    xg_sim_options how = orders[order];
    how.trace = xg_trace_new();
    ck_assert_ptr_nonnull(how.trace);
    const xgemm_status status = xg_sim_launch(&launch, &how, error);
    xg_trace_free(how.trace);
    for (int i = 0; i < PRODUCTS && !status; i++)
        ck_assert_mem_eq(all.c + i * WIDTH, lists ? a[i] : all.a + i * WIDTH,
                         WIDTH * sizeof(float));
    return status;
}

START_TEST(stray_into_another_product)
{
    const mistake *of = &strays[_i];
    for (int order = 0; order < COUNT(orders); order++) {
        xg_error error = {""};
        ck_assert_int_eq(run_batch(&of->wrong, _i == 1, order, &error), XGEMM_ERROR_LAUNCH);
        assert_says(&error, "block (0, 0, 1)");
        assert_says(&error, of->complaint);
        char part[64];
        snprintf(part, sizeof part, ": wrong_kernels.cu:%d ", marked_line(of->name));
        assert_says(&error, part);
        const xgemm_status status = run_batch(&of->right, _i == 1, order, &error);
        ck_assert_msg(status == XGEMM_OK, "%s", error.text);
    }
}
END_TEST

/* C after a run without a trace. */
static memory after_plain(const xg_program *program, const mistake *of, int order)
{
    memory all = fresh_memory();
    xg_error error = {""};
    const xgemm_status status = run(program, of, &orders[order], &all, &error);
    ck_assert_msg(status == XGEMM_OK, "%s", error.text);
    return all;
}

START_TEST(race_shows_in_the_order_of_threads)
{
    const mistake *of = &mistakes[0];
    const memory forward = after_plain(&of->wrong, of, 0), reverse = after_plain(&of->wrong, of, 1);
    ck_assert_str_eq(of->name, "missing_barrier");
    ck_assert_mem_eq(forward.a, reverse.a, sizeof forward.a);
    ck_assert_mem_ne(forward.c, reverse.c, sizeof forward.c);
}
END_TEST

/* Without a trace a copy that comes at once hides that nobody waited. */
START_TEST(missing_wait_shows_when_copies_are_late)
{
    const mistake *of = &mistakes[9];
    /* First: a build with AddressSanitizer leaves in shared memory what ran before. */
    const memory wrong_late = after_plain(&of->wrong, of, LATE);
    const memory wrong_early = after_plain(&of->wrong, of, 0);
    const memory right_late = after_plain(&of->right, of, LATE);
    ck_assert_str_eq(of->name, "missing_copy_wait");
    ck_assert_mem_eq(right_late.c, wrong_early.c, sizeof right_late.c);
    ck_assert_mem_ne(right_late.c, wrong_late.c, sizeof right_late.c);
}
END_TEST

START_TEST(right_twin_gives_the_same_in_any_order)
{
    const mistake *of = &mistakes[_i];
    const memory forward = after_plain(&of->right, of, 0);
    for (int order = 1; order < COUNT(orders); order++) {
        const memory other = after_plain(&of->right, of, order);
        ck_assert_mem_eq(&forward, &other, sizeof forward);
    }
}
END_TEST

/* Without a trace only the barrier is checked. */
START_TEST(plain_run_finds_the_barrier)
{
    const mistake *of = &mistakes[1];
    memory all = fresh_memory();
    xg_error error = {""};
    ck_assert_str_eq(of->name, "early_return");
    ck_assert_int_eq(run(&of->wrong, of, &orders[0], &all, &error), XGEMM_ERROR_LAUNCH);
    assert_says(&error, of->complaint);
}
END_TEST

static Suite *wrong_kernels(void)
{
    Suite *suite = suite_create("wrong kernels");
    TCase *each = tcase_create("each mistake");
    tcase_set_timeout(each, 1800);
    tcase_add_loop_test(each, wrong_kernel_is_caught, 0, COUNT(mistakes));
    tcase_add_loop_test(each, wrong_kernel_is_caught_in_any_order, 0, COUNT(mistakes));
    tcase_add_loop_test(each, right_twin_passes, 0, COUNT(mistakes));
    tcase_add_loop_test(each, right_twin_passes_after_wrong, 0, COUNT(mistakes));
    tcase_add_loop_test(each, right_twin_gives_the_same_in_any_order, 0, COUNT(mistakes));
    suite_add_tcase(suite, each);

    TCase *batches = tcase_create("batches");
    tcase_add_loop_test(batches, stray_into_another_product, 0, COUNT(strays));
    suite_add_tcase(suite, batches);

    TCase *plain = tcase_create("without a trace");
    tcase_add_test(plain, race_shows_in_the_order_of_threads);
    tcase_add_test(plain, plain_run_finds_the_barrier);
    tcase_add_test(plain, missing_wait_shows_when_copies_are_late);
    suite_add_tcase(suite, plain);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(wrong_kernels());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
