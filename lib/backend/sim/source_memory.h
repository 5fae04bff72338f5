/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a kernel of the user's own, as its trace sees it. */
#ifndef XGEMM_SIM_SOURCE_MEMORY_H
#define XGEMM_SIM_SOURCE_MEMORY_H

#include "source.h"
#include "source_path.h"
#include "trace_state.h"

/* Who last wrote and read a word (or byte), as word_state, and where in the source. */
typedef struct {
    uint64_t write_phase, read_phase; /* 0: never */
    uint32_t write_epoch, read_epoch;
    int32_t write_site, read_site;
    int16_t writer, reader; /* thread; -2 - WARP: several of one warp */
    bool atomic, in_flight;
} cell;

typedef struct {
    const xg_source_array *array;
    uintptr_t base;
    uint64_t bytes;
    cell *cells; /* a cell a word; a byte, once something smaller was accessed; NULL: constant */
    int cell_bits;
    uint32_t first_word; /* requests number the words of all memories, this one's from here on */
    bool is_shared, is_constant;
    bool is_used; /* something accessed it */
    int least;    /* bytes of the smallest access to it so far; 0: none */
} memory;

/* A store of what may be there already: two threads that store the same do no harm. */
typedef struct {
    bool is_open;
    uintptr_t address;
    int bytes;
    unsigned char before[16];
    xg_source_fault fault;
} pending_store;

/* How often a lane came to a site with one key. */
typedef struct {
    uint64_t key, stop; /* the warp's stops so far */
    uint64_t again;
} visit;

/* A site's last access. */
typedef struct {
    int memory, bytes, access;
    int merged; /* its site in the report; -1: not met yet */
} last_access;

struct source_memories {
    const xg_source *of;
    memory *memories;
    last_access *last_at; /* by site */
    uint8_t *parts;       /* by site: the most bytes of a struct that one load can have; 0: any */
    bool any_fence;       /* a thread of this block or of one before it has used a fence */
    bool block_atomic;    /* the running block has used an atomic of global memory */
    const xg_source_location *barrier_of[XG_SIM_BLOCK_MAX]; /* where each waits */
    xg_source_location barriers[XG_SIM_BLOCK_MAX];
    pending_store pending;
    xg_source_fault faults[XG_FAULTS_MOST];
    int fault_count;
    int last_site;
    xg_path paths[XG_SIM_BLOCK_MAX];
    visit (*visits)[WARP]; /* by site */
    uint64_t stops;        /* of warps */
};

/* The scheduler's events. */
void xg_source_block_begins(struct source_memories *s);
void xg_source_barrier_passes(struct source_memories *s);
void xg_source_free(struct source_memories *s);

/* An asynchronous copy is done: its thread waited for it. */
void xg_source_copy_completes(struct source_memories *s, const void *to, int bytes);

/* Notes a fault of the running thread, unless there was one like it; race: the other's site. */
void xg_source_found(struct source_memories *s, const xg_source_fault *fault);
xg_source_fault xg_source_fault_of(xg_fault_kind kind, const memory *m, uintptr_t address,
                                   int access, int site);
xg_source_fault xg_source_race_of(const memory *m, uintptr_t address, int access, int site,
                                  const cell *with, bool with_write);
/* No memory of the launch is there. */
_Noreturn void xg_source_outside(struct source_memories *s, uintptr_t address, int bytes,
                                 int access, int site);
_Noreturn void xg_source_stops(const xg_source_fault *fault);

/* The store before was of something else than was there: then it is a fault. */
void xg_source_settle(struct source_memories *s);

/* An access that may be, to one memory: races, and reads of what nothing wrote. */
void xg_source_check(struct source_memories *s, memory *m, uintptr_t address, int bytes, int access,
                     int site);

#endif
