/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace_races.h"

const char *const xg_trace_while_written[] = {
    "reads what another thread writes without a barrier between:",
    "writes what another thread writes without a barrier between:",
    "writes what another thread writes without a barrier between:",
    "copies to what another thread writes without a barrier between:"};
const char *const xg_trace_while_read[] = {
    "", "writes what another thread reads without a barrier between:",
    "writes what another thread reads without a barrier between:",
    "copies to what another thread reads without a barrier between:"};
const char *const xg_trace_while_in_flight[] = {
    "reads what an asynchronous copy has not brought yet:",
    "writes what an asynchronous copy has not brought yet:",
    "writes what an asynchronous copy has not brought yet:",
    "copies to what an asynchronous copy has not brought yet:"};

void xg_trace_conflict(const char *what, bool across_blocks, const char *array, int64_t element,
                       int site)
{
    int64_t in_array;
    const char *name = across_blocks ? NULL : xg_trace_shared_array((size_t)element, &in_array);
    xg_trace_fail(what, name ? name : array, name ? in_array : element, site);
}
