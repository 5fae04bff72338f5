/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel of the user's own, compiled against cuda/: what its code has (sites, by number), which
 * memory it may use, and what was found wrong with it.
 */
#ifndef XGEMM_SIM_SOURCE_H
#define XGEMM_SIM_SOURCE_H

#include "cuda/hooks.h"
#include "options.h"
#include "trace.h"

/* An access or a basic block in the code. */
typedef struct {
    const char *file; /* "user.cu" */
    int line;
    const char *text; /* the line's, without indentation */
    int flops;        /* of a block: floating-point operations in it, in FP32 and in FP64 */
    int flops64;
    int function;     /* of a block: the number of its function */
    int loop_end;     /* of a block that begins a loop: the last site in it; else -1 */
    int instructions; /* of a block: the host's, about what a thread on a GPU has */
} xg_source_site;

typedef enum { XG_GLOBAL_MEMORY, XG_CONSTANT_MEMORY, XG_SHARED_MEMORY } xg_source_space;

typedef struct {
    const char *name;
    char *base;
    int64_t bytes;
    int element_bytes; /* 0: not known; then the accesses tell */
    xg_source_space space;
    bool undefined; /* global memory that holds nothing until it is written */
} xg_source_array;

typedef struct {
    const xg_source_site *sites;
    int site_count;
    const xg_source_array *arrays;
    int array_count;
    const char *image; /* where the code is loaded: what else it reads there are its constants */
    int64_t image_bytes;
} xg_source;

typedef enum {
    XG_FAULT_RACE,
    XG_FAULT_BLOCKS_RACE, /* between two blocks */
    XG_FAULT_UNDEFINED,   /* reads what nothing wrote */
    XG_FAULT_OUTSIDE,
    XG_FAULT_MISALIGNED,
    XG_FAULT_CONSTANT,  /* writes constant memory */
    XG_FAULT_IN_FLIGHT, /* uses what an asynchronous copy has not brought */
    XG_FAULT_DIVERGENT_BARRIER,
    XG_FAULT_LAUNCH /* anything that ends the launch */
} xg_fault_kind;

enum { XG_FAULT_TEXT = 640, XG_FAULTS_MOST = 32 };

/* The first of its kind at these lines. */
typedef struct {
    xg_fault_kind kind;
    int line, other_line; /* of a race: what was accessed before; 0: none */
    int site, other_site;
    int64_t count;
    char text[XG_FAULT_TEXT];
} xg_source_fault;

/* A trace for launches of the kernel; "of" stays until xg_trace_free(). NULL: out of memory. */
xg_trace *xg_trace_new_of_source(const xg_source *of);

/* What was wrong, in the order of its appearance; the launch went on where it could. */
const xg_source_fault *xg_trace_faults(const xg_trace *trace, int *count);

/* How often the block of that site ran: once for each warp, for each thread. */
int64_t xg_trace_steps(const xg_trace *trace, int site, int64_t *lanes);

/* One more fault, which ended the launch. */
void xg_trace_add_fault(xg_trace *trace, const char *text);

/* Different bytes of global memory that the launch read and wrote, of 4 at a time. */
void xg_trace_touched_bytes(const xg_trace *trace, int64_t *read, int64_t *written);

/* Whether the launch accessed that array. */
bool xg_trace_is_used(const xg_trace *trace, int array);

/* The site that the running thread came by last; -1: none. For a handler of signals. */
int xg_trace_last_site(void);

/* "block (0, 1, 0), thread (3, 2, 0)" of the running thread; static text. */
const char *xg_trace_thread_text(void);

/* What a kernel is given when it is loaded. */
const xg_hooks *xg_sim_hooks(void);

#endif
