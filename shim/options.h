/* SPDX-License-Identifier: BSD-3-Clause */
/* What the environment says to either drop-in: "xgemm run" sets it, or the user does. */
#ifndef XGEMM_SHIM_OPTIONS_H
#define XGEMM_SHIM_OPTIONS_H

#include <xgemm.h>

#include <stdbool.h>

typedef struct {
    xgemm_math math;     /* XGEMM_RUN_MATH: strict or tf32; else DEFAULT */
    bool serves_all;     /* XGEMM_SERVE=all: also what is slower, or was not measured */
    bool serves_none;    /* XGEMM_SERVE=none */
    bool without_tf32;   /* NVIDIA_TF32_OVERRIDE=0: where the program allows TF32, too */
    const char *mistake; /* why nothing is served: a variable's value has no meaning; else NULL */
} dropin_options;

/* Read when the library is loaded; nobody else changes it. */
extern dropin_options options;

#endif
