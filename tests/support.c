/* SPDX-License-Identifier: BSD-3-Clause */
#include "support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, KERNELS_MAX = 64, TIME_LIMIT_S = 1800 };

/* ---- The programs ---- */

/* A whole number at least 0; the program ends when the variable has anything else. */
static int number_of(const char *variable, const char *text)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || value < 0 || value > INT_MAX) {
        fprintf(stderr, "%s=\"%s\" is no number that it takes\n", variable, text);
        exit(EXIT_FAILURE);
    }
    return (int)value;
}

int test_device(void)
{
    const char *text = getenv("XGEMM_TEST_DEVICE");
    if (!text || !*text || strcmp(text, "sim") == 0)
        return XGEMM_DEVICE_SIM;
    if (strcmp(text, "cpu") == 0)
        return XGEMM_DEVICE_CPU;
    return number_of("XGEMM_TEST_DEVICE", text);
}

int test_effort(void)
{
    const char *text = getenv("XGEMM_TEST_EFFORT");
    return text && *text ? number_of("XGEMM_TEST_EFFORT", text) : 100;
}

static bool means_absent(xgemm_status status)
{
    return status == XGEMM_ERROR_NO_DRIVER || status == XGEMM_ERROR_DRIVER_TOO_OLD ||
           status == XGEMM_ERROR_NO_DEVICE || status == XGEMM_ERROR_NOT_SUPPORTED;
}

static int try_device(int device)
{
    xgemm_handle *handle;
    const xgemm_status status = xgemm_create(&handle, device);
    if (means_absent(status))
        fprintf(stderr, "skipped: %s\n", xgemm_last_error(NULL));
    xgemm_destroy(handle);
    return means_absent(status) ? SKIPPED : 0;
}

/* In a child: CUDA does not work in children of a process that has used it. */
static bool device_is_there(int device)
{
    int status = 0;
    if (device < 0)
        return true;
    const pid_t child = fork();
    if (child == 0)
        exit(try_device(device));
    if (child > 0)
        waitpid(child, &status, 0);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED);
}

int run_anywhere(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int run_suite(Suite *suite)
{
    unsetenv("XGEMM_DEVICE");
    unsetenv("XGEMM_KERNEL");
    if (device_is_there(test_device()))
        return run_anywhere(suite);
    srunner_free(srunner_create(suite)); /* frees the suite */
    return SKIPPED;
}

TCase *add_case(Suite *suite, const char *name)
{
    TCase *made = tcase_create(name);
    tcase_set_timeout(made, TIME_LIMIT_S);
    suite_add_tcase(suite, made);
    return made;
}

TCase *new_case(Suite *suite, const char *name, double seconds)
{
    (void)seconds;
    return add_case(suite, name);
}

/* ---- What is refused ---- */

void assert_says(const char *sentence, const char *part)
{
    ck_assert_msg(strstr(sentence, part) != NULL, "\"%s\" lacks \"%s\"", sentence, part);
}

void assert_refused(const xgemm_handle *handle, xgemm_status status, xgemm_status wanted,
                    const char *function, const char *part)
{
    ck_assert_msg(status == wanted, "%s gives %s, not %s; wanted: %s", function,
                  xgemm_status_name(status), xgemm_status_name(wanted), part);
    const char *sentence = xgemm_last_error(handle);
    ck_assert_msg(strncmp(sentence, function, strlen(function)) == 0,
                  "\"%s\" does not begin with %s", sentence, function);
    assert_says(sentence, part);
}

/* ---- Handles and kernels ---- */

/* 0 when there is no such device. Asked in a child, see device_is_there(). */
static int compute_capability_of(int device)
{
    static int asked = -1, answer;
    int status = 0;
    if (asked == device)
        return answer;
    const pid_t child = fork();
    if (child == 0) {
        xgemm_device record = {.struct_size = sizeof record};
        _exit(xgemm_device_get(device, &record) == XGEMM_OK ? record.compute_capability : 0);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    asked = device;
    answer = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return answer;
}

void require(bool holds, const char *sentence)
{
    if (!holds)
        ck_abort_msg("%s", sentence);
}

void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    require(memory != NULL, "out of memory");
    return memory;
}

xgemm_handle *open_handle(int device)
{
    xgemm_handle *handle;
    const xgemm_status status = xgemm_create(&handle, device);
    require(status == XGEMM_OK && handle, xgemm_last_error(NULL));
    return handle;
}

static xgemm_kernel_info info_of(int index)
{
    xgemm_kernel_info info = {.struct_size = sizeof info};
    require(xgemm_kernel_get(index, &info) == XGEMM_OK, xgemm_last_error(NULL));
    return info;
}

int kernels_of(int device, int indices[], int most)
{
    const unsigned bit = device == XGEMM_DEVICE_CPU   ? XGEMM_RUNS_ON_CPU
                         : device == XGEMM_DEVICE_SIM ? XGEMM_RUNS_ON_SIM
                                                      : XGEMM_RUNS_ON_CUDA;
    const int here = device >= 0 ? compute_capability_of(device) : 90;
    int found = 0;
    for (int i = 0; i < xgemm_kernel_count() && found < most; i++) {
        const xgemm_kernel_info info = info_of(i);
        if (info.devices & bit && info.math != XGEMM_MATH_TF32 &&
            (info.compute_capability == 0 || info.compute_capability == here))
            indices[found++] = i;
    }
    return found;
}

int test_kernels(void)
{
    int indices[KERNELS_MAX];
    return kernels_of(test_device(), indices, KERNELS_MAX) + 1;
}

xgemm_kernel_info test_kernel_info(int number)
{
    int indices[KERNELS_MAX];
    const xgemm_kernel_info automatic = {.struct_size = sizeof automatic, .name = "auto"};
    return number < kernels_of(test_device(), indices, KERNELS_MAX) ? info_of(indices[number])
                                                                    : automatic;
}

const char *test_kernel(int number)
{
    return test_kernel_info(number).name;
}

xgemm_handle *open_with_kernel(int number)
{
    xgemm_handle *handle = open_handle(test_device());
    require(xgemm_set_kernel(handle, test_kernel(number)) == XGEMM_OK, xgemm_last_error(handle));
    return handle;
}

xgemm_handle *open_by_name(const char *kernel)
{
    xgemm_handle *handle = open_handle(test_device());
    require(xgemm_set_math(handle, XGEMM_MATH_TF32) == XGEMM_OK, xgemm_last_error(handle));
    if (xgemm_set_kernel(handle, kernel) == XGEMM_OK)
        return handle;
    xgemm_destroy(handle);
    return NULL;
}

/* ---- Random numbers ---- */

/* A Weyl sequence, its bits mixed by two multiplications. */
uint32_t random_bits(generator *from)
{
    uint64_t x = from->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 32);
}

int random_below(generator *from, int limit)
{
    return (int)(random_bits(from) % (uint32_t)limit);
}

float random_dyadic(generator *from)
{
    return (float)(random_below(from, 257) - 128) / 128.0f;
}

float random_real(generator *from)
{
    const uint32_t bits = random_bits(from);
    const float size = (float)(bits >> 8) / 16777216.0f;
    return bits & 1 ? -size : size;
}
