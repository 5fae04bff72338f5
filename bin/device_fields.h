/* SPDX-License-Identifier: BSD-3-Clause */
/* What there is to say of a device, each figure with its name, label and unit. */
#ifndef XGEMM_BIN_DEVICE_FIELDS_H
#define XGEMM_BIN_DEVICE_FIELDS_H

#include "report.h"

/* All there is to say; CSV and JSON have every field, in this order. */
typedef enum {
    DEVICE,
    NAME,
    CAPABILITY,
    MULTIPROCESSORS,
    MEMORY,
    CORE_CLOCK,
    MEMORY_CLOCK,
    FP32,
    BANDWIDTH,
    DETAIL,
    BALANCE,
    TF32,
    FP16,
    BF16,
    FP64,
    FP64_TENSOR,
    BUS,
    L2,
    LANES,
    SM_THREADS,
    SM_WARPS,
    SM_BLOCKS,
    SM_REGISTERS,
    SM_SHARED,
    BLOCK_THREADS,
    BLOCK_REGISTERS,
    BLOCK_SHARED,
    BLOCK_STATIC,
    BLOCK_RESERVED,
    THREAD_REGISTERS,
    REGISTER_GRANULE,
    WARP_GRANULE,
    SHARED_GRANULE,
    CLUSTER,
    LIMITS_FROM,
    SOURCE,
    PCI_ADDRESS,
    UUID,
    ECC,
    MIG,
    NUMA_NODE,
    FIELDS
} device_field;

typedef struct {
    column column;
    const char *label, *unit; /* for one device in full */
} device_field_row;

extern const device_field_row device_fields[FIELDS];

enum { CAPABILITY_TEXT = 16 };

/* A cell for each field; the texts are the description's and the device's. */
typedef struct {
    cell cells[FIELDS];
    char device[16], capability[CAPABILITY_TEXT], limits_from[CAPABILITY_TEXT];
} description;

void describe_device(description *to, const xgemm_device *device);

/* Adds all there is to say of a device to the facts of a JSON result, under that key. */
void device_add(json_t *facts, const char *key, const xgemm_device *device);

/*
 * The same for a device of this machine, as "device"; null where it cannot be asked. Without memory
 * it ends the program with 1.
 */
void device_add_ordinal(json_t *facts, int ordinal);

/* A compute capability as a cell, "9.0" of 90, in text; none of 0. */
cell capability_cell(char text[CAPABILITY_TEXT], int capability);

/* A figure that is unknown when it is 0. */
cell known(double value, int digits);

#endif
