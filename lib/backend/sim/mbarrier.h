/* SPDX-License-Identifier: BSD-3-Clause */
/* mbarrier, for instructions that complete there: bulk copies and st.async. */
#ifndef XGEMM_SIM_MBARRIER_H
#define XGEMM_SIM_MBARRIER_H

#include "cuda_shim.h"

#include <stdbool.h>

/* Fails the launch where there is no barrier; or none that copies see, if it is for a copy. */
void xg_sim_mbarrier_check(int rank, unsigned barrier, bool by_copy, const char *does,
                           const xg_sim_location *here);

/* complete_tx: bytes have come of what the thread issued in that epoch. */
void xg_sim_mbarrier_complete(int rank, unsigned barrier, unsigned bytes, int issuer,
                              uint32_t epoch, const xg_sim_location *here);

#endif
