/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU: a launch is a function call. */
#include "backend/host.h"

#include <stdio.h>

static bool can_run(const xg_program *program)
{
    return program->host != NULL;
}

static int multiprocessors(const xg_device *device)
{
    (void)device;
    return 1;
}

static int compute_capability(const xg_device *device)
{
    (void)device;
    return 0;
}

static xgemm_status describe(int ordinal, xgemm_device *device, xg_error *error)
{
    (void)ordinal;
    snprintf(device->detail, sizeof device->detail, "BLAS: %s", XGEMM_BLAS_NAME);
    return xg_host_describe(device, error);
}

static xgemm_status open_cpu(int ordinal, xg_device **device, xg_error *error)
{
    (void)ordinal, (void)error;
    *device = NULL;
    return XGEMM_OK;
}

static void close_cpu(xg_device *device)
{
    (void)device;
}

static xgemm_status launch(xg_device *device, void *stream, const xg_launch *what, xg_error *error)
{
    (void)device, (void)stream, (void)error;
    what->program->host(what->arguments);
    return XGEMM_OK;
}

const xg_backend xg_backend_cpu = {
    .name = "CPU",
    .has_streams = false,
    .host_memory = true,
    .runs_host_code = true,
    .can_run = can_run,
    .multiprocessors = multiprocessors,
    .compute_capability = compute_capability,
    .describe = describe,
    .open = open_cpu,
    .close = close_cpu,
    .launch = launch,
    XG_HOST_FUNCTIONS,
};
