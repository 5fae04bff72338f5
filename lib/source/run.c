/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 60, GRACE = 15 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* So many bytes from the child, before the deadline; how many came. */
static size_t receive(int from, void *to, size_t count, double deadline)
{
    size_t got = 0;
    while (got < count) {
        struct pollfd one = {.fd = from, .events = POLLIN};
        const double left = deadline - now();
        const int ready = left > 0.0 ? poll(&one, 1, (int)(left * 1000.0) + 1) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            break;
        const ssize_t part = read(from, (char *)to + got, count - got);
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            break;
        got += (size_t)part;
    }
    return got;
}

static bool receive_array(int from, void *to, size_t count, size_t size, double deadline)
{
    void *array = calloc(count + 1, size);
    memcpy(to, &array, sizeof array);
    return array && receive(from, array, count * size, deadline) == count * size;
}

static bool receive_result(int from, xg_run_result *result, double deadline)
{
    if (receive(from, result, sizeof *result, deadline) != sizeof *result) {
        memset(result, 0, sizeof *result);
        return false;
    }
    result->sites = NULL;
    result->faults = NULL;
    result->steps = NULL;
    return receive_array(from, &result->sites, (size_t)result->site_count, sizeof *result->sites,
                         deadline) &&
           receive_array(from, &result->faults, (size_t)result->fault_count, sizeof *result->faults,
                         deadline) &&
           receive_array(from, &result->steps, (size_t)result->step_count, sizeof *result->steps,
                         deadline);
}

xgemm_status xg_run(const xgemm_source_launch *launch, const xg_compiled *compiled,
                    const xg_image *image, xg_arguments *arguments, int64_t most_blocks,
                    xg_run_result *result, xg_error *error)
{
    const int64_t gibibyte = (int64_t)1 << 30;
    int ends[2], how = 0;
    xg_child told = {.launch = launch,
                     .compiled = compiled,
                     .image = image,
                     .arguments = arguments,
                     .most_blocks = most_blocks,
                     .seconds = launch->seconds > 0 ? launch->seconds : SECONDS,
                     .memory_bytes =
                         launch->memory_bytes > 0 ? launch->memory_bytes : 4 * gibibyte};
    memset(result, 0, sizeof *result);
    if (pipe(ends) != 0)
        return xg_fail(error, XGEMM_ERROR_LAUNCH, "no pipe to a child process: %s",
                       strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        told.to = ends[1];
        xg_child_main(&told);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return xg_fail(error, XGEMM_ERROR_LAUNCH, "no child process: %s", strerror(errno));
    }
    const double deadline = now() + told.seconds + GRACE;
    const bool got = receive_result(ends[0], result, deadline);
    close(ends[0]);
    if (!got)
        kill(child, SIGKILL);
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        ;
    if (!got && WIFSIGNALED(how))
        return xg_fail(
            error, XGEMM_ERROR_LAUNCH,
            now() >= deadline
                ? "kernel %s did not end in time (signal %d), with no word of what it did"
                : "kernel %s was ended by signal %d, with no word of what it did",
            compiled->kernel, WTERMSIG(how));
    if (!got)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s ended its process, with no word of "
                       "what it did",
                       compiled->kernel);
    if (result->status)
        return xg_fail(error, result->status, "%s", result->text);
    return XGEMM_OK;
}

void xg_run_result_free(xg_run_result *result)
{
    free(result->sites);
    free(result->faults);
    free(result->steps);
    memset(result, 0, sizeof *result);
}
