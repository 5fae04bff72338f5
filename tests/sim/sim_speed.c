/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast the simulator is on this machine: prints a table, and fails when it
 * is so slow that the tests which run on it would be of no use.
 */
#include <xgemm.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIZE = 256, REPEATS = 5 };

/* A quarter of what one core of 2020 gives: its other thread, and the caches, may be busy. */
static const double least_plain_mflops = 100.0, least_traced_mflops = 15.0;

/* Of this process on a core, which does not pass while others run there. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run_plain(const char *kernel)
{
    static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    xgemm_handle *handle;
    if (xgemm_create(&handle, XGEMM_DEVICE_SIM))
        return -1;
    int status = xgemm_set_kernel(handle, kernel);
    if (!status)
        status = xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, SIZE, SIZE,
                             SIZE, 1.0f, a, SIZE, b, SIZE, 0.0f, c, SIZE);
    xgemm_destroy(handle);
    return status;
}

static int run_traced(const char *kernel)
{
    const xgemm_trace_problem problem = {
        .struct_size = sizeof problem, .m = SIZE, .n = SIZE, .k = SIZE};
    xgemm_trace_report *report;
    const int status = xgemm_trace(kernel, &problem, NULL, &report);
    xgemm_trace_free(report);
    return status;
}

/* The best of a few runs, in MFLOP/s; 0: it did not run. */
static double speed(int (*run)(const char *), const char *kernel)
{
    double best = 0.0;
    for (int i = 0; i < REPEATS; i++) {
        const double start = seconds();
        if (run(kernel))
            return 0.0;
        const double mflops = 2e-6 * SIZE * SIZE * SIZE / (seconds() - start);
        best = mflops > best ? mflops : best;
    }
    return best;
}

/* Whether this build can trace at all. */
static int can_trace(void)
{
    return run_traced("naive") != XGEMM_ERROR_NOT_SUPPORTED;
}

int main(void)
{
    static const char *const kernels[] = {"tiled16", "tiled32", "coarsened", "vectorized"};
    const int traced_too = can_trace();
    int failures = 0;
    printf("the simulator, %d x %d x %d, MFLOP/s on one core\n%-12s %10s %10s\n", SIZE, SIZE, SIZE,
           "kernel", "plain", "traced");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const double plain = speed(run_plain, kernels[i]);
        const double traced = traced_too ? speed(run_traced, kernels[i]) : 0.0;
        printf("%-12s %10.0f %10.0f\n", kernels[i], plain, traced);
        failures += plain < least_plain_mflops || (traced_too && traced < least_traced_mflops);
    }
    if (failures > 0)
        printf("%d kernels ran slower than %.0f plain or %.0f traced\n", failures,
               least_plain_mflops, least_traced_mflops);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
