/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be done where the driver cannot be used: faults of the system, not of a call. */
#ifndef XGEMM_CUDA_ADVICE_H
#define XGEMM_CUDA_ADVICE_H

/* The driver's control device: there once its kernel module is loaded. */
#define XG_CU_CONTROL "/dev/nvidiactl"

/* What the GPU is used by in Linux under Windows, where there is no control device. */
#define XG_CU_WINDOWS "/dev/dxg"

enum { XG_CU_ADVICE = 320 }; /* bytes */

/* What goes after a sentence that names the driver's result: "; ..." or "". */
const char *xg_cu_advice(unsigned result);

/*
 * The same where the driver finds no GPU, or does not say what is wrong: whether the control device
 * is missing, it or a GPU's not permitted, and what CUDA_VISIBLE_DEVICES says. In text, which it
 * gives back.
 */
const char *xg_cu_access_advice(const char *control, char text[XG_CU_ADVICE]);

#endif
