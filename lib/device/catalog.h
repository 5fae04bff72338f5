/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue of GPUs: catalog.txt, which explains each figure, as make turns it into C. */
#ifndef XGEMM_LIB_DEVICE_CATALOG_H
#define XGEMM_LIB_DEVICE_CATALOG_H

#include "names.h"

#include <xgemm.h>

typedef struct {
    const char *names; /* the product's, then others, with commas between them */
    int compute_capability, multiprocessors;
    double core_clock_mhz;
    double memory_gib;
    int memory_bus_bits;
    double bandwidth_gbs;
    double l2_mib;
    double tf32_tflops, fp16_tflops, bf16_tflops;
    const char *source;
} xg_catalog_row;

extern const xg_catalog_row xg_catalog[];
extern const int xg_catalog_count;

/* Fills in a device from a row. */
void xg_catalog_describe(const xg_catalog_row *row, xgemm_device *device);

/*
 * The first row with a name that is the whole of what was asked for (xg_name) and,
 * unless that is 0, with so many multiprocessors; NULL if there is none.
 */
const xg_catalog_row *xg_catalog_named(const xg_name *name, int multiprocessors);

#endif
