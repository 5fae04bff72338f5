/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public structs of every size that a program could have been compiled with, and of sizes that a
 * later library will have: what is filled in is the same, nothing beyond struct_size is written,
 * and of a struct that is read nothing beyond it is used.
 */
#include <xgemm.h>

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MORE = 64, FILL = 0xa5 };

static xgemm_handle *handle;
static xgemm_device gpu;

static xgemm_status get_device(void *to)
{
    return xgemm_device_get(XGEMM_DEVICE_CPU, to);
}

static xgemm_status get_catalog(void *to)
{
    return xgemm_device_catalog_get(3, to);
}

static xgemm_status find_device(void *to)
{
    return xgemm_device_find("H200", to);
}

static xgemm_status get_kernel(void *to)
{
    return xgemm_kernel_get(2, to);
}

static xgemm_status get_probe(void *to)
{
    return xgemm_probe_get(1, to);
}

static xgemm_status get_occupancy(void *to)
{
    return xgemm_occupancy(&gpu, 256, 64, 4096, 0, to);
}

static xgemm_status find_resources(void *to)
{
    return xgemm_kernel_resources_find("tiled16", &gpu, to);
}

static xgemm_status get_plan(void *to)
{
    static float matrix[1];
    ((xgemm_plan *)to)->device = &gpu;
    return xgemm_sgemm_plan(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 300, 200, 100,
                            1.0f, matrix, 100, matrix, 200, 0.0f, matrix, 200, to);
}

/* least: what a caller sets, which every size has; end: of the last field, padding may follow. */
#define SIZES(type, member, last)                                                                  \
    sizeof(type), offsetof(type, member), offsetof(type, last) + sizeof(((type *)0)->last)
static const struct {
    const char *name;
    size_t size, least, end;
    xgemm_status (*fill)(void *);
} structs[] = {
    {"xgemm_device", SIZES(xgemm_device, ordinal, peak_fp64_tensor_gflops), get_device},
    {"xgemm_device", SIZES(xgemm_device, ordinal, peak_fp64_tensor_gflops), get_catalog},
    {"xgemm_device", SIZES(xgemm_device, ordinal, peak_fp64_tensor_gflops), find_device},
    {"xgemm_kernel_info", SIZES(xgemm_kernel_info, name, compute_capability), get_kernel},
    {"xgemm_probe_info", SIZES(xgemm_probe_info, name, devices), get_probe},
    {"xgemm_occupancy_info", SIZES(xgemm_occupancy_info, blocks, clusters), get_occupancy},
    {"xgemm_kernel_resources", SIZES(xgemm_kernel_resources, registers, binary_version),
     find_resources},
    {"xgemm_plan", SIZES(xgemm_plan, kernel, measured_on), get_plan},
};
enum { STRUCTS = (int)(sizeof structs / sizeof *structs) };

typedef union {
    size_t struct_size;
    unsigned char bytes[sizeof(xgemm_device) + 2 * MORE];
    double aligned;
} buffer;

static void setup(void)
{
    gpu.struct_size = sizeof gpu;
    ck_assert_int_eq(xgemm_device_find("H200", &gpu), XGEMM_OK);
    ck_assert_int_eq(xgemm_create(&handle, XGEMM_DEVICE_SIM), XGEMM_OK);
}

static void teardown(void)
{
    xgemm_destroy(handle);
}

START_TEST(test_filled)
{
    static buffer full, part;
    const size_t whole = structs[_i].size;
    memset(&full, 0, sizeof full);
    full.struct_size = whole;
    const xgemm_status status = structs[_i].fill(&full);
    if (status == XGEMM_ERROR_NOT_SUPPORTED) /* a build without a record of kernels */
        return;
    ck_assert_msg(status == XGEMM_OK, "%s: %s", structs[_i].name, xgemm_last_error(NULL));
    for (size_t size = structs[_i].least; size <= whole + MORE; size++) {
        const size_t filled = size < whole ? size : whole;
        memset(&part, FILL, sizeof part);
        part.struct_size = size;
        ck_assert_int_eq(structs[_i].fill(&part), XGEMM_OK);
        ck_assert_msg(part.struct_size == size, "%s: struct_size changed", structs[_i].name);
        ck_assert_msg(memcmp(part.bytes + sizeof size, full.bytes + sizeof size,
                             (filled < structs[_i].end ? filled : structs[_i].end) - sizeof size) ==
                          0,
                      "%s of %zu bytes is filled in otherwise", structs[_i].name, size);
        for (size_t i = filled; i < sizeof part; i++)
            ck_assert_msg(part.bytes[i] == FILL, "%s of %zu bytes: byte %zu is written",
                          structs[_i].name, size, i);
    }
}
END_TEST

START_TEST(test_too_small)
{
    static buffer part;
    for (size_t size = 0; size < sizeof size; size++) {
        part.struct_size = size;
        ck_assert_int_eq(structs[_i].fill(&part), XGEMM_ERROR_INVALID_VALUE);
    }
}
END_TEST

/* A device that is read, of an older program's size: in memory that ends there. */
START_TEST(test_read)
{
    float matrix[1];
    for (size_t size = offsetof(xgemm_device, fp32_lanes); size <= sizeof gpu; size += 4) {
        xgemm_device *const older = malloc(size);
        xgemm_occupancy_info info = {.struct_size = sizeof info};
        xgemm_plan plan = {.struct_size = sizeof plan};
        ck_assert_ptr_nonnull(older);
        memcpy(older, &gpu, size);
        older->struct_size = size;
        plan.device = older;
        ck_assert_int_eq(xgemm_occupancy(older, 256, 64, 4096, 0, &info), XGEMM_OK);
        const xgemm_status planned =
            xgemm_sgemm_plan(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 300, 200, 100,
                             1.0f, matrix, 100, matrix, 200, 0.0f, matrix, 200, &plan);
        ck_assert_msg(planned == XGEMM_OK, "a device of %zu bytes: %s", size,
                      xgemm_last_error(handle));
        free(older);
    }
}
END_TEST

/* Of a later library, a problem and a launch that are read are larger: the rest is left out. */
START_TEST(test_read_larger)
{
    struct {
        xgemm_trace_problem problem;
        unsigned char more[MORE];
    } problem = {.problem = {.m = 4, .n = 4, .k = 4}};
    struct {
        xgemm_source_launch launch;
        unsigned char more[MORE];
    } launch = {.launch = {.file = "none.cu"}};
    xgemm_trace_report *trace;
    xgemm_source_report *source;
    memset(problem.more, FILL, sizeof problem.more);
    memset(launch.more, FILL, sizeof launch.more);
    problem.problem.struct_size = sizeof problem.problem + (size_t)_i;
    launch.launch.struct_size = sizeof launch.launch + (size_t)_i;
    const xgemm_status traced = xgemm_trace("naive", &problem.problem, NULL, &trace);
    ck_assert_msg(traced == XGEMM_OK || traced == XGEMM_ERROR_NOT_SUPPORTED, "%s",
                  xgemm_last_error(NULL));
    xgemm_trace_free(trace);
    ck_assert_int_ne(xgemm_trace_source(&launch.launch, NULL, &source), XGEMM_OK);
    ck_assert_ptr_null(strstr(xgemm_last_error(NULL), "struct_size"));
    problem.problem.struct_size = sizeof problem.problem - 1 - (size_t)_i % 8;
    launch.launch.struct_size = offsetof(xgemm_source_launch, messages) - (size_t)_i % 8;
    ck_assert_int_eq(xgemm_trace("naive", &problem.problem, NULL, &trace),
                     XGEMM_ERROR_INVALID_VALUE);
    ck_assert_int_eq(xgemm_trace_source(&launch.launch, NULL, &source), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "struct_size"));
}
END_TEST

/* Those that are read: what a struct of the size given has beyond its end is not read. */
static void read_device(void *of)
{
    xgemm_occupancy_info info = {.struct_size = sizeof info};
    xgemm_occupancy(of, 256, 64, 4096, 0, &info);
}

static void read_problem(void *of)
{
    xgemm_trace_report *report;
    ck_assert_int_ne(xgemm_trace("none", of, NULL, &report), XGEMM_OK);
}

static void read_launch(void *of)
{
    xgemm_source_report *report;
    ck_assert_int_ne(xgemm_trace_source(of, NULL, &report), XGEMM_OK);
}

static void read_product(void *of)
{
    xgemm_gemm(handle, of);
}

static const struct {
    size_t size;
    void (*read)(void *);
} readers[] = {{sizeof(xgemm_device), read_device},
               {sizeof(xgemm_trace_problem), read_problem},
               {sizeof(xgemm_source_launch), read_launch},
               {sizeof(xgemm_product), read_product}};

START_TEST(test_read_at_the_end_of_memory)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const memory =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_int_eq(mprotect(memory + page, page, PROT_NONE), 0);
    for (size_t size = sizeof size; size <= readers[_i].size; size += sizeof size) {
        memset(memory, 0, page);
        memcpy(memory + page - size, &size, sizeof size);
        readers[_i].read(memory + page - size);
    }
    munmap(memory, 2 * page);
}
END_TEST

/* A string of a launch that is NULL, and fewer strings than none. */
START_TEST(test_strings_of_a_launch)
{
    static const char *const texts[] = {"a=1", NULL};
    xgemm_source_launch launch = {
        .struct_size = sizeof launch, .file = "none.cu", .arguments = texts, .argument_count = 2};
    xgemm_source_report *source;
    ck_assert_int_eq(xgemm_trace_source(&launch, NULL, &source), XGEMM_ERROR_NULL_POINTER);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "arguments[1] is NULL"));
    launch.argument_count = -1;
    ck_assert_int_eq(xgemm_trace_source(&launch, NULL, &source), XGEMM_ERROR_INVALID_VALUE);
    launch.argument_count = 0;
    launch.defines = texts;
    launch.define_count = 2;
    ck_assert_int_eq(xgemm_trace_source(&launch, NULL, &source), XGEMM_ERROR_NULL_POINTER);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "defines[1] is NULL"));
    launch.define_count = 0;
    launch.text = "void on_the_host(void) {}\n"; /* in place of the file, which is not there */
    const xgemm_status traced = xgemm_trace_source(&launch, NULL, &source);
    ck_assert(traced == XGEMM_ERROR_INVALID_VALUE || traced == XGEMM_ERROR_NOT_SUPPORTED);
    if (traced == XGEMM_ERROR_INVALID_VALUE)
        ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "none.cu has no kernel"));
}
END_TEST

/* Of a process that ignores SIGCHLD no child's end is known: that is said, not that none ran. */
START_TEST(test_children_of_a_launch)
{
    const xgemm_source_launch launch = {.struct_size = sizeof launch,
                                        .file = "none.cu",
                                        .text = "__global__ void kernel(void) {}\n"};
    xgemm_source_report *source;
    if (xgemm_trace_source(&launch, NULL, &source) == XGEMM_OK)
        xgemm_source_report_free(source);
    else if (!strstr(xgemm_last_error(NULL), "XGEMM_CUDA_HEADERS")) /* which are asked for later */
        return;                                                     /* no compiler */
    void (*const before)(int) = signal(SIGCHLD, SIG_IGN);
    const xgemm_status traced = xgemm_trace_source(&launch, NULL, &source);
    signal(SIGCHLD, before);
    ck_assert_int_eq(traced, XGEMM_ERROR_LAUNCH);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "ignores SIGCHLD"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("structs");
    TCase *tcase = tcase_create("sizes");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, test_filled, 0, STRUCTS);
    tcase_add_loop_test(tcase, test_too_small, 0, STRUCTS);
    tcase_add_test(tcase, test_read);
    tcase_add_loop_test(tcase, test_read_larger, 0, MORE);
    tcase_add_loop_test(tcase, test_read_at_the_end_of_memory, 0,
                        (int)(sizeof readers / sizeof *readers));
    tcase_add_test(tcase, test_strings_of_a_launch);
    tcase_add_test(tcase, test_children_of_a_launch);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
