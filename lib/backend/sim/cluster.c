/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters: their barrier, arrive and wait apart, and reads of distributed shared memory. */
#include "model.h"
#include "running.h"
#include "scheduler.h"
#include "sm90_shim.h"
#include "trace_events.h"
#include "vector_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads that have left the kernel count as having come. */
static unsigned phase;
static int arrived; /* threads in this phase, of those that are there */
static bool has_arrived[XG_SIM_THREADS_MAX];
static unsigned arrived_in[XG_SIM_THREADS_MAX];
static xg_clock released; /* by arrivals */

static void complete_phase(void)
{
    if (arrived > 0 && arrived + xg_sim_exited() == xg_sim_all_threads()) {
        phase++;
        arrived = 0;
    }
}

unsigned xg_sim_cluster_size(void)
{
    return (unsigned)xg_sim_cluster_blocks();
}

unsigned xg_sim_cluster_rank(void)
{
    return (unsigned)xg_sim_rank();
}

void xg_sim_cluster_arrive(bool orders, const xg_sim_location *here)
{
    const int thread = xg_sim_thread();
    xg_sim_use_clocks();
    if (has_arrived[thread])
        xg_sim_fail_at(here, "arrives at the cluster's barrier twice without waiting there");
    has_arrived[thread] = true;
    arrived_in[thread] = phase;
    arrived++;
    if (orders && !xg_clock_release(thread, &released))
        xg_sim_no_memory("trace");
    complete_phase();
}

static bool has_passed(int thread)
{
    if (arrived_in[thread] == phase)
        complete_phase();
    return arrived_in[thread] != phase;
}

static void describe(int thread, char *text, size_t size)
{
    (void)thread;
    snprintf(text, size,
             "waits without end at the cluster's barrier: %d of %d threads have come, %d have left "
             "the kernel",
             arrived, xg_sim_all_threads(), xg_sim_exited());
}

void xg_sim_cluster_wait(const xg_sim_location *here)
{
    static const xg_sim_condition condition = {.met = has_passed, .describe = describe};
    const int thread = xg_sim_thread();
    if (!has_arrived[thread])
        xg_sim_fail_at(here, "waits at the cluster's barrier without having arrived there");
    xg_sim_sync_lanes(0xffffffff, false, here);
    xg_sim_wait(&condition, here);
    xg_clock_acquire(thread, released);
    has_arrived[thread] = false;
}

static void read_of(unsigned address, unsigned rank, void *to, unsigned bytes,
                    const xg_sim_location *here)
{
    if (address % bytes != 0)
        xg_sim_fail_at(here, "reads %u bytes at 0x%x, which is no multiple of %u", bytes, address,
                       bytes);
    const void *from = xg_sim_memory((int)rank, address, bytes, "reads shared memory", here);
    xg_sim_use_clocks();
    if (xg_sim_is_traced())
        xg_trace_model_reads(from, (int)bytes, XG_TRACE_THREAD, here);
    memcpy(to, from, bytes);
}

unsigned xg_sim_cluster_read(unsigned address, unsigned rank, const xg_sim_location *here)
{
    unsigned value;
    read_of(address, rank, &value, sizeof value, here);
    return value;
}

float4 xg_sim_cluster_read4(unsigned address, unsigned rank, const xg_sim_location *here)
{
    float4 value;
    read_of(address, rank, &value, sizeof value, here);
    return value;
}

void xg_sim_cluster_store2(unsigned address, unsigned rank, float2 value,
                           const xg_sim_location *here)
{
    if (address % sizeof value != 0)
        xg_sim_fail_at(here, "stores %zu bytes at 0x%x, which is no multiple of that", sizeof value,
                       address);
    void *to = xg_sim_memory((int)rank, address, sizeof value, "stores to shared memory", here);
    xg_sim_use_clocks();
    if (xg_sim_is_written((int)rank, address, sizeof value) ||
        xg_sim_is_read((int)rank, address, sizeof value))
        xg_sim_fail_at(here, "stores to what a copy or a product in flight uses: 0x%x", address);
    if (xg_sim_is_traced())
        xg_trace_model_writes(to, sizeof value, here);
    memcpy(to, &value, sizeof value);
}

static void thread_ends(int thread)
{
    if (has_arrived[thread] && arrived_in[thread] == phase)
        arrived--; /* it will be among those that have left */
    has_arrived[thread] = false;
}

static void reset(void)
{
    phase = 0;
    arrived = 0;
    memset(has_arrived, 0, sizeof has_arrived);
    free(released);
    released = NULL;
}

const xg_sim_model xg_sim_cluster_model = {.thread_ends = thread_ends, .reset = reset};
