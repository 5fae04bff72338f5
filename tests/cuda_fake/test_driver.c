/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA backend on fake_cuda.c's drivers: drivers that cannot be used,
 * failures of every function, and the whole of it without a GPU. The tests are
 * in driver_*.c.
 *
 * The dynamic linker reads LD_LIBRARY_PATH when a program starts, so this one
 * starts itself again with a folder of its own in it. Each test, in a process
 * of its own, puts the driver there that it wants.
 */
#include "driver_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER_VARIABLE "XGEMM_TEST_DRIVER_FOLDER"

enum { SKIPPED = 77, CANNOT_RUN = 99 };

static int run_suite(void)
{
    Suite *suite = suite_create("driver");
    add_load_cases(suite);
    add_query_cases(suite);
    if (with_cuda()) {
        add_device_cases(suite);
        add_memory_cases(suite);
        add_kernel_cases(suite);
        add_batch_cases(suite);
        add_stream_cases(suite);
        add_translation_cases(suite);
        add_timer_cases(suite);
        add_probe_cases(suite);
        add_context_cases(suite);
        add_failure_cases(suite);
        add_workspace_cases(suite);
    }
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (failed)
        return EXIT_FAILURE;
    if (!with_cuda())
        printf("SKIP: most of it: there are no GPU kernels in this build\n");
    return with_cuda() ? EXIT_SUCCESS : SKIPPED;
}

/* --- the folder --- */

static int cannot(const char *what)
{
    fprintf(stderr, "test_driver: %s\n", what);
    return CANNOT_RUN;
}

/* Libtool puts modules and, with a shared library, also programs into .libs. */
static bool find_fakes(const char *program)
{
    static const char *const folders[] = {"", "/.libs"};
    const int length = (int)(strrchr(program, '/') - program);
    for (int i = 0; i < 2; i++) {
        char path[PATH_BYTES];
        snprintf(fakes, sizeof fakes, "%.*s%s", length, program, folders[i]);
        snprintf(path, sizeof path, "%s/fake_cuda.so", fakes);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static int start_again(const char *program, char **arguments)
{
    char folder[PATH_BYTES / 4], path[PATH_BYTES * 4];
    const char *temporary = getenv("TMPDIR"), *libraries = getenv("LD_LIBRARY_PATH");
    snprintf(folder, sizeof folder, "%s/xgemm-driver-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return cannot("no temporary folder");
    snprintf(path, sizeof path, "%s%s%s", folder, libraries && *libraries ? ":" : "",
             libraries && *libraries ? libraries : "");
    setenv("LD_LIBRARY_PATH", path, 1);
    setenv(FOLDER_VARIABLE, folder, 1);
    execv(program, arguments);
    rmdir(folder);
    return cannot("the test cannot start itself");
}

int main(int argc, char **argv)
{
    char program[PATH_BYTES / 4] = "";
    const char *folder = getenv(FOLDER_VARIABLE);
    (void)argc;
    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0 || *program != '/')
        return cannot("no /proc/self/exe");
    if (!find_fakes(program)) {
        printf("SKIP: there is no fake_cuda.so: shared libraries are not built\n");
        return SKIPPED;
    }
    if (!folder)
        return start_again(program, argv);
    snprintf(libcuda, sizeof libcuda, "%s/libcuda.so.1", folder);
    const int status = run_suite();
    unlink(libcuda);
    rmdir(folder);
    return status;
}
