/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous copies of the threads that the scheduler runs. */
#ifndef XGEMM_SIM_ASYNC_H
#define XGEMM_SIM_ASYNC_H

/* The running thread has left the kernel: what it never waited for arrives, or not at all. */
void xg_sim_async_ends(void);

/* No thread of the launch goes on. */
void xg_sim_async_forget(void);

#endif
