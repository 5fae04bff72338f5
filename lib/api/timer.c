/* SPDX-License-Identifier: BSD-3-Clause */
#include "handle.h"

#include <stdlib.h>

struct xgemm_timer {
    xgemm_handle *handle;
    xg_mark *from, *to;
    bool started, stopped;
};

static xgemm_status create(xgemm_handle *handle, xgemm_timer **result)
{
    xgemm_timer *timer = calloc(1, sizeof *timer);
    if (!timer)
        return xg_fail(&handle->error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    timer->handle = handle;
    xgemm_status status =
        handle->backend->mark_create(handle->device, &timer->from, &handle->error);
    if (!status)
        status = handle->backend->mark_create(handle->device, &timer->to, &handle->error);
    if (status)
        xgemm_timer_destroy(timer);
    else
        *result = timer;
    return status;
}

xgemm_status xgemm_timer_create(xgemm_handle *handle, xgemm_timer **timer)
{
    if (timer)
        *timer = NULL;
    if (!handle)
        return xg_no_handle(__func__);
    if (!timer)
        return xg_fail(&handle->error, XGEMM_ERROR_NULL_POINTER, "%s: timer is NULL", __func__);
    return xg_handle_done(handle, create(handle, timer), __func__);
}

void xgemm_timer_destroy(xgemm_timer *timer)
{
    if (!timer)
        return;
    const xg_backend *backend = timer->handle->backend;
    if (timer->from)
        backend->mark_destroy(timer->handle->device, timer->from);
    if (timer->to)
        backend->mark_destroy(timer->handle->device, timer->to);
    free(timer);
}

/* Sets *made when the mark is in the stream. */
static xgemm_status record(xgemm_timer *timer, xg_mark *mark, bool *made, const char *function)
{
    xgemm_handle *handle = timer->handle;
    const xgemm_status status =
        handle->backend->mark_record(handle->device, handle->stream, mark, &handle->error);
    *made = status == XGEMM_OK;
    return xg_handle_done(handle, status, function);
}

static xgemm_status no_timer(const char *function)
{
    return xg_fail(xg_thread_error(), XGEMM_ERROR_NULL_POINTER, "%s: timer is NULL", function);
}

xgemm_status xgemm_timer_start(xgemm_timer *timer)
{
    if (!timer)
        return no_timer(__func__);
    timer->stopped = false;
    return record(timer, timer->from, &timer->started, __func__);
}

xgemm_status xgemm_timer_stop(xgemm_timer *timer)
{
    if (!timer)
        return no_timer(__func__);
    return record(timer, timer->to, &timer->stopped, __func__);
}

xgemm_status xgemm_timer_elapsed(xgemm_timer *timer, double *microseconds)
{
    if (!timer)
        return no_timer(__func__);
    xgemm_handle *handle = timer->handle;
    if (!microseconds)
        return xg_fail(&handle->error, XGEMM_ERROR_NULL_POINTER, "%s: microseconds is NULL",
                       __func__);
    if (!timer->started || !timer->stopped)
        return xg_fail(&handle->error, XGEMM_ERROR_INVALID_VALUE,
                       "%s: the timer was not started and stopped", __func__);
    return xg_handle_done(handle,
                          handle->backend->mark_elapsed(handle->device, timer->from, timer->to,
                                                        microseconds, &handle->error),
                          __func__);
}
