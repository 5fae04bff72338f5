/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the drop-ins did, counted in memory that "xgemm run" shares with the program and with all
 * that the program starts. Its own process prints the counts, so that they are there however the
 * program ends: by exit, a signal, or another program in its place.
 *
 * The memory is a file that $XGEMM_RUN_COUNTERS names: a header, and an open hash table of kinds
 * of calls, which only grows. All may be used by several processes and threads.
 */
#ifndef XGEMM_SHIM_COUNTERS_H
#define XGEMM_SHIM_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#define COUNTERS_VARIABLE "XGEMM_RUN_COUNTERS"
#define COUNTERS_MAGIC    UINT64_C(0x31746e756f636778) /* of this layout */

/* A kind has one of some places: in a full table a search is short, and 95 % are in use first. */
enum { COUNTERS_KINDS = 4096, COUNTERS_PLACES = 64 };

/* What makes two calls of one kind; unused bytes are 0. The texts are for the reader. */
typedef struct {
    char function[40];
    char type[8], math[8], transposes[8];
    char reason[64]; /* why the call was passed on; "": it was served */
    int64_t m, n, k, batch;
} counters_key;

typedef struct {
    _Atomic uint64_t hash; /* 0: free */
    _Atomic uint32_t is_ready;
    counters_key key;
    double predicted_us, library_us; /* of one call: here, and by the library below; 0: unknown */
    _Atomic uint64_t calls;
} counters_kind;

typedef struct {
    uint64_t magic;
    _Atomic uint64_t processes; /* that had a call */
    _Atomic uint64_t lost;      /* calls of kinds that found no place */
    counters_kind kinds[COUNTERS_KINDS];
} counters;

/* Maps the file of the environment, once; NULL: there is none. */
counters *counters_open(void);

/*
 * The kind of these calls, which stays where it is; NULL: they are not counted, or have no place,
 * and will have none. The times are those of the first call of a kind.
 */
counters_kind *counters_find(const counters_key *key, double predicted_us, double library_us);

/* One more call; of NULL it is one that is lost. */
void counters_count(counters_kind *kind);

#endif
