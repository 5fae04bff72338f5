/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA backend: kernels that the driver translates from PTX, beside other products and before
 * them. By tests/cuda_fake/nvcc.sh these are the sliced ones, which auto chooses here, and the one
 * that scales C.
 */
#include "driver_support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a product waits for; and what two products beside it end before, also under load. */
enum { TRANSLATION_MS = 400, LONG_MS = 5000 };

static bool is_sliced(const char *kernel)
{
    return strncmp(kernel, "sliced-", strlen("sliced-")) == 0;
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void sleep_ms(int time)
{
    const struct timespec wanted = {.tv_sec = time / 1000, .tv_nsec = time % 1000 * 1000000L};
    nanosleep(&wanted, NULL);
}

static void translation_takes(int time)
{
    set("FAKE_CUDA_TRANSLATION", time);
}

/*
 * Only where the kernels that auto chooses are PTX, and others are not, what is here can be told
 * apart: in the build for the fake driver. What this takes of the driver does not count.
 */
static int translated_before, unloaded_before;

static bool is_mixed(void)
{
    const bool is = is_ptx("sliced-64x64") && !is_ptx("naive");
    translated_before = fake.calls("cuLibraryLoadData");
    unloaded_before = fake.calls("cuLibraryUnload");
    return is;
}

/* The kernels that the driver has translated, or failed to; and given up. */
static int translations(void)
{
    return fake.calls("cuLibraryLoadData") - translated_before;
}

static int unloads(void)
{
    return fake.calls("cuLibraryUnload") - unloaded_before;
}

static xgemm_handle *create_irreproducible(void)
{
    xgemm_handle *handle = create(0);
    OK(handle, xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_NONE));
    return handle;
}

/* Such a handle, where translations take so long, and a product; NULL: not in this build. */
static xgemm_handle *begin(int time, problem *p)
{
    if (!is_mixed())
        return NULL;
    translation_takes(time);
    xgemm_handle *handle = create_irreproducible();
    *p = prepare(handle, &odd);
    return handle;
}

static void run_and_check(xgemm_handle *handle, problem *p)
{
    OK(handle, run(handle, p));
    download_and_check(handle, p);
    OK(handle, xgemm_upload(handle, p->device_c, p->c, p->c_count * sizeof(float)));
}

/* The compact program runs until the translation has ended, with the same bits as what is then. */
START_TEST(test_same_bits)
{
    if (!is_mixed())
        return;
    translation_takes(LONG_MS);
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    const size_t bytes = p.c_count * sizeof(float);
    float *const first = malloc(bytes);
    ck_assert_ptr_nonnull(first);
    run_and_check(handle, &p);
    memcpy(first, p.result, bytes);
    ck_assert_int_eq(translations(), 0);
    for (int64_t fallbacks = 1; xgemm_fallback_count(handle) == fallbacks; fallbacks++) {
        ck_assert(is_sliced(xgemm_last_kernel(handle)));
        sleep_ms(TRANSLATION_MS / 4);
        run_and_check(handle, &p);
    }
    ck_assert(is_sliced(xgemm_last_kernel(handle)));
    ck_assert_int_eq(translations(), 1);
    ck_assert(memcmp(first, p.result, bytes) == 0);
    free(first);
    finish(handle, &p);
    destroy(handle);
    ck_assert_int_eq(unloads(), 1);
}
END_TEST

/* For PTX that the driver is too old for nothing else runs first: another kernel has other bits. */
START_TEST(test_of_older_driver)
{
    setenv("FAKE_CUDA_VERSION", "11030", 1); /* which is asked for once in a process */
    if (!is_mixed())
        return;
    translation_takes(LONG_MS);
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    run_and_check(handle, &p);
    ck_assert_int_eq(xgemm_fallback_count(handle), 0);
    ck_assert_int_eq(translations(), 0);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* Another kernel serves until the translation has ended, and none waits for it. */
START_TEST(test_does_not_wait)
{
    problem p;
    xgemm_handle *handle = begin(LONG_MS, &p);
    if (!handle)
        return;
    for (int i = 1; i <= 2; i++) {
        run_and_check(handle, &p);
        ck_assert_int_eq(translations(), 0);
        ck_assert(!is_sliced(xgemm_last_kernel(handle)));
        ck_assert_int_eq(xgemm_fallback_count(handle), i);
    }
    while (!is_sliced(xgemm_last_kernel(handle))) { /* Check's limit ends what never does */
        sleep_ms(TRANSLATION_MS / 4);
        run_and_check(handle, &p);
    }
    const int64_t fallbacks = xgemm_fallback_count(handle);
    run_and_check(handle, &p);
    ck_assert_int_eq(xgemm_fallback_count(handle), fallbacks);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* What the driver has in its cache is there soon enough. */
START_TEST(test_is_cached)
{
    problem p;
    xgemm_handle *handle = begin(0, &p);
    if (!handle)
        return;
    bool served = false; /* beside other work a thread may begin late */
    for (int i = 0; i < 20 && !served; i++) {
        run_and_check(handle, &p);
        served = is_sliced(xgemm_last_kernel(handle));
    }
    ck_assert(served);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

static void waits_by(xgemm_handle *handle, problem *p)
{
    run_and_check(handle, p);
    ck_assert(is_sliced(xgemm_last_kernel(handle)));
    ck_assert_int_eq(xgemm_fallback_count(handle), 0);
}

/* A kernel that was named, and what a graph would keep. */
START_TEST(test_waits)
{
    problem p;
    xgemm_handle *handle = begin(TRANSLATION_MS, &p);
    if (!handle)
        return;
    if (_i > 0)
        OK(handle, xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_RUN));
    OK(handle, xgemm_set_kernel(handle, "sliced-64x64"));
    const double begun = milliseconds();
    waits_by(handle, &p);
    ck_assert(milliseconds() - begun >= TRANSLATION_MS);
    ck_assert_int_eq(translations(), 1);
    OK(handle, xgemm_set_kernel(handle, "auto"));
    setenv("FAKE_CUDA_CAPTURE", "1", 1);
    OK(handle, run(handle, &p));
    unsetenv("FAKE_CUDA_CAPTURE");
    ck_assert(is_sliced(xgemm_last_kernel(handle)));
    ck_assert_int_eq(xgemm_fallback_count(handle), 0);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* There is nothing that could run in place of the scaling of C. */
START_TEST(test_waits_for_scaling)
{
    problem p;
    xgemm_handle *handle = begin(TRANSLATION_MS, &p);
    if (!handle)
        return;
    OK(handle, xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, odd.m, odd.n,
                           odd.k, 0.0f, NULL, odd.k, NULL, odd.n, 0.0f, p.device_c, p.ldc));
    ck_assert_int_eq(translations(), 1);
    OK(handle, xgemm_download(handle, p.result, p.device_c, p.c_count * sizeof(float)));
    ck_assert(p.result[0] == 0.0f);
    ck_assert_int_eq(xgemm_fallback_count(handle), 0);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

static const char *const steps[] = {"cuLibraryLoadData", "cuLibraryGetModule",
                                    "cuModuleGetFunction", "cuFuncGetAttribute"};

/* What fails leaves nothing, and is tried again by the next product. */
START_TEST(test_fails)
{
    enum { STEPS = sizeof steps / sizeof *steps };
    if (!is_mixed())
        return;
    xgemm_handle *handle = _i < STEPS ? create(0) : create_irreproducible();
    problem p = prepare(handle, &odd);
    const char *const step = steps[_i % STEPS];
    OK(handle, xgemm_set_kernel(handle, "sliced-64x64"));
    fail_next(step, 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    says(handle, step);
    fail_no_more();
    const bool had_library = _i % STEPS > 0;
    ck_assert_int_eq(unloads(), had_library);
    run_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* A handle's end waits for what is being translated; a child has no thread to wait for. */
START_TEST(test_ends_meanwhile)
{
    enum { LONGEST_S = 20 };
    int status = -1;
    problem p;
    xgemm_handle *handle = begin(TRANSLATION_MS, &p);
    if (!handle)
        return;
    OK(handle, run(handle, &p));
    const pid_t child = fork();
    if (child == 0) {
        alarm(LONGEST_S);
        xgemm_destroy(handle);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    finish(handle, &p);
    destroy(handle);
    ck_assert_int_eq(translations(), 1);
    ck_assert_int_eq(unloads(), 1);
}
END_TEST

/* By element k is not split, as sliced kernels do: others are chosen, and those are refused. */
static const struct {
    const char *text;
    bool is_sliced;
    xgemm_status by_sliced;
} values[] = {{"none", false, XGEMM_OK},
              {"run", true, XGEMM_OK},
              {"element", false, XGEMM_ERROR_NOT_SUPPORTED},
              {"", true, XGEMM_OK},
              {"auto", true, XGEMM_OK}};

START_TEST(test_environment)
{
    if (!is_mixed())
        return;
    translation_takes(values[_i].is_sliced ? TRANSLATION_MS : LONG_MS);
    setenv("XGEMM_REPRODUCIBLE", values[_i].text, 1);
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    run_and_check(handle, &p);
    ck_assert(is_sliced(xgemm_last_kernel(handle)) == values[_i].is_sliced);
    OK(handle, xgemm_set_kernel(handle, "sliced-64x64"));
    GIVES(values[_i].by_sliced, handle, run(handle, &p));
    finish(handle, &p);
    destroy(handle);
    setenv("XGEMM_REPRODUCIBLE", "maybe", 1);
    cannot_create(XGEMM_ERROR_ENVIRONMENT, 0, "XGEMM_REPRODUCIBLE=\"maybe\"; it takes none, run");
    unsetenv("XGEMM_REPRODUCIBLE");
}
END_TEST

void add_translation_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "translation", setup, teardown);
    tcase_add_test(tcase, test_same_bits);
    tcase_add_test(tcase, test_of_older_driver);
    tcase_add_test(tcase, test_does_not_wait);
    tcase_add_test(tcase, test_is_cached);
    tcase_add_loop_test(tcase, test_waits, 0, 2);
    tcase_add_test(tcase, test_waits_for_scaling);
    tcase_add_loop_test(tcase, test_fails, 0, 2 * (int)(sizeof steps / sizeof *steps));
    tcase_add_test(tcase, test_ends_meanwhile);
    tcase_add_loop_test(tcase, test_environment, 0, (int)(sizeof values / sizeof *values));
}
