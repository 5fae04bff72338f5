/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU: a launch is a function call. */
#include "backend/host.h"

#include <stdio.h>

static bool can_run(const xg_program *program)
{
    return program->host != NULL;
}

static int count(void)
{
    return 1;
}

static int processors(const xg_device *device)
{
    (void)device;
    return 1;
}

static int architecture(const xg_device *device)
{
    (void)device;
    return 0;
}

static xgemm_status describe(int ordinal, xgemm_device *device, xg_error *error)
{
    (void)ordinal, (void)error;
    xg_host_describe(device);
    snprintf(device->detail, sizeof device->detail, "BLAS: %s", XGEMM_BLAS_NAME);
    return XGEMM_OK;
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
    .can_run = can_run,
    .count = count,
    .processors = processors,
    .architecture = architecture,
    .describe = describe,
    .open = open_cpu,
    .close = close_cpu,
    .make_current = xg_host_make_current,
    .allocate = xg_host_allocate,
    .release = xg_host_release,
    .memory_info = xg_host_memory_info,
    .upload = xg_host_copy,
    .download = xg_host_copy,
    .launch = launch,
    .wait = xg_host_wait,
    .drain = xg_host_drain,
    .mark_create = xg_host_mark_create,
    .mark_destroy = xg_host_mark_destroy,
    .mark_record = xg_host_mark_record,
    .mark_elapsed = xg_host_mark_elapsed,
    .resources = xg_host_resources,
};
