/* SPDX-License-Identifier: BSD-3-Clause */
/* What blocks of a cluster do together: their barrier in two halves, and reads. */
#include "order.h"
#include "scheduler.h"
#include "sm90_shim.h"
#include "specialised.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads that have left the kernel count as having come. */
static unsigned phase;
static int arrived; /* threads in this phase, of those that are there */
static bool has_arrived[XG_SIM_THREADS_MAX];
static unsigned arrived_in[XG_SIM_THREADS_MAX];
static xg_order_news gathered;

static void end_phase(void)
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

void xg_sim_cluster_arrive(bool orders, const xg_sim_place *here)
{
    const int thread = xg_sim_thread();
    xg_sim_specialise();
    if (has_arrived[thread])
        xg_sim_blame(here, "arrives at the cluster's barrier twice without waiting there");
    has_arrived[thread] = true;
    arrived_in[thread] = phase;
    arrived++;
    if (orders && !xg_order_pass_on(thread, &gathered))
        xg_sim_abandon("%s: no memory for the simulator's trace", xg_sim_where());
    end_phase();
}

static bool has_passed(int thread)
{
    if (arrived_in[thread] == phase)
        end_phase();
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

void xg_sim_cluster_wait(const xg_sim_place *here)
{
    static const xg_sim_condition condition = {.met = has_passed, .describe = describe};
    const int thread = xg_sim_thread();
    if (!has_arrived[thread])
        xg_sim_blame(here, "waits at the cluster's barrier without having arrived there");
    xg_sim_meet(0xffffffff, false, here);
    xg_sim_wait(&condition, here);
    xg_order_learn(thread, gathered);
    has_arrived[thread] = false;
}

static void read_of(unsigned address, unsigned rank, void *to, unsigned bytes,
                    const xg_sim_place *here)
{
    if (address % bytes != 0)
        xg_sim_blame(here, "reads %u bytes at 0x%x, which is no multiple of %u", bytes, address,
                     bytes);
    const void *from = xg_sim_memory((int)rank, address, bytes, "reads shared memory", here);
    xg_sim_specialise();
    if (xg_sim_is_watched())
        xg_trace_model_reads(from, (int)bytes, false, here);
    memcpy(to, from, bytes);
}

unsigned xg_sim_cluster_read(unsigned address, unsigned rank, const xg_sim_place *here)
{
    unsigned value;
    read_of(address, rank, &value, sizeof value, here);
    return value;
}

float4 xg_sim_cluster_read4(unsigned address, unsigned rank, const xg_sim_place *here)
{
    float4 value;
    read_of(address, rank, &value, sizeof value, here);
    return value;
}

void xg_sim_cluster_thread_ends(int thread)
{
    if (has_arrived[thread] && arrived_in[thread] == phase)
        arrived--; /* it will be among those that have left */
    has_arrived[thread] = false;
}

void xg_sim_cluster_forget(void)
{
    phase = 0;
    arrived = 0;
    memset(has_arrived, 0, sizeof has_arrived);
    free(gathered);
    gathered = NULL;
}
