/* SPDX-License-Identifier: BSD-3-Clause */
/* What the compiler reported of each kernel, a table that make makes. */
#ifndef XGEMM_LIB_RESOURCES_H
#define XGEMM_LIB_RESOURCES_H

typedef struct {
    const char *symbol; /* NULL ends the table */
    int compute_capability;
    int only; /* runs on no other */
    int registers, shared_bytes, stack_bytes, constant_bytes;
} xg_record;

/* A row of a report; of the spills only a test asks. */
#define XG_RECORD(symbol, cc, only, registers, shared, stack, stores, loads, constant)             \
    {symbol, cc, only, registers, shared, stack, constant},
#define XG_LAST_RECORD {0, 0, 0, 0, 0, 0, 0},

extern const xg_record xg_records[];

#endif
