/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator: host memory, and the GPU's kernels run on fibers. */
#include "backend/host.h"
#include "simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool can_run(const xg_program *program)
{
    return program->simulated != NULL;
}

/* How a handle's launches are simulated: from $XGEMM_SIM when it was made. */
struct xg_device {
    xg_sim_options options;
    int multiprocessors; /* 0: the usual number */
    bool check;
};

/* Those of the GPU that it stands for, an H100 or H200: it chooses as these would. */
static int multiprocessors(const xg_device *device)
{
    return device && device->multiprocessors > 0 ? device->multiprocessors : 132;
}

/* It stands for the same. */
static int compute_capability(const xg_device *device)
{
    (void)device;
    return 90;
}

static xgemm_status describe(int ordinal, xgemm_device *device, xg_error *error)
{
    (void)ordinal;
    const xgemm_status status = xg_host_describe(device, error);
    snprintf(device->name, sizeof device->name, "libxgemm simulator");
    snprintf(device->detail, sizeof device->detail, "the GPU's kernels on one host thread");
    device->multiprocessors = 1;
    device->threads_per_block = 1024;
    return status;
}

/* One word of $XGEMM_SIM. */
static bool take_word(xg_device *device, const char *word)
{
    char rest;
    unsigned long long seed;
    int number;
    if (strcmp(word, "forward") == 0)
        device->options.order = XG_SIM_FORWARD;
    else if (strcmp(word, "reverse") == 0)
        device->options.order = XG_SIM_REVERSE;
    else if (strcmp(word, "shuffle") == 0)
        device->options.order = XG_SIM_SHUFFLE;
    else if (sscanf(word, "shuffle=%llu%c", &seed, &rest) == 1) {
        device->options.order = XG_SIM_SHUFFLE;
        device->options.seed = seed;
    } else if ((sscanf(word, "multiprocessors=%4d%c", &number, &rest) == 1 ||
                sscanf(word, "processors=%4d%c", &number, &rest) == 1) && /* the older word */
               number > 0)
        device->multiprocessors = number;
    else if (strcmp(word, "early") == 0)
        device->options.late = false;
    else if (strcmp(word, "late") == 0)
        device->options.late = true;
    else if (strcmp(word, "check") == 0)
        device->check = true;
    else
        return false;
    return true;
}

static xgemm_status take_environment(xg_device *device, xg_error *error)
{
    const char *text = getenv("XGEMM_SIM");
    char words[128], *rest = words;
    snprintf(words, sizeof words, "%s", text ? text : "");
    for (char *word; *words && (word = strsep(&rest, ",")) != NULL;)
        if (!take_word(device, word))
            return xg_fail(
                error, XGEMM_ERROR_ENVIRONMENT,
                "the environment has XGEMM_SIM=\"%.64s\"; it takes forward, reverse, "
                "shuffle or shuffle=SEED, early or late, multiprocessors=N and check, with "
                "commas between",
                text);
    if (device->check && !xg_trace_available())
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "XGEMM_SIM has \"check\", and this build of libxgemm has no traced kernels: "
                       "its compiler was not able");
    return XGEMM_OK;
}

static xgemm_status open_sim(int ordinal, xg_device **device, xg_error *error)
{
    (void)ordinal;
    *device = calloc(1, sizeof **device);
    if (!*device)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    const xgemm_status status = take_environment(*device, error);
    if (status) {
        free(*device);
        *device = NULL;
    }
    return status;
}

static void close_sim(xg_device *device)
{
    free(device);
}

static bool has_halves(const xg_launch *what)
{
    for (int i = 0; i < XG_REGIONS_MAX; i++)
        if (what->regions[i].rows > 0 && what->regions[i].of_halves)
            return true;
    return false;
}

static xgemm_status launch(xg_device *device, void *stream, const xg_launch *what, xg_error *error)
{
    xg_sim_options options = device->options;
    (void)stream;
    options.of_halves = device->check && has_halves(what);
    if (device->check && !(options.trace = xg_trace_new()))
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the simulator's trace");
    const xgemm_status status = xg_sim_launch(what, &options, error);
    xg_trace_free(options.trace);
    return status;
}

const xg_backend xg_backend_sim = {
    .name = "simulator",
    .has_streams = false,
    .host_memory = true,
    .watches_accesses = true,
    .can_run = can_run,
    .multiprocessors = multiprocessors,
    .compute_capability = compute_capability,
    .describe = describe,
    .open = open_sim,
    .close = close_sim,
    .launch = launch,
    XG_HOST_FUNCTIONS,
};
