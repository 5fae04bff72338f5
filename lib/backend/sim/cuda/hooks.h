/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a compiled kernel of the user's own reaches the simulator: by a table of functions that it is
 * given. Shared by the library (C) and by what the shim compiles (C++), from the same installation.
 */
#ifndef XGEMM_CUDA_HOOKS_H
#define XGEMM_CUDA_HOOKS_H

#include <stddef.h>
#include <stdint.h>

/* A line of the user's source. */
typedef struct {
    const char *file;
    int line;
} xg_source_location;

/* What tensor cores multiply. */
enum { XG_TENSOR_FP16, XG_TENSOR_BF16, XG_TENSOR_TF32, XG_TENSOR_TYPES };

/* ASYNC: the store of a copy that its thread has to wait for. */
enum { XG_HOOK_READ, XG_HOOK_WRITE, XG_HOOK_ATOMIC, XG_HOOK_ASYNC };

/* Of the running thread and of the launch: x, y, z. */
typedef struct {
    unsigned thread_index[3], block_index[3], block_dim[3], grid_dim[3];
} xg_indices;

typedef struct {
    uint32_t version; /* XG_HOOKS_VERSION of who made it */
    /* Each access, by the number of its site: of 1, 2, 4, 8 and 16 bytes. */
    void (*read[5])(const void *address, int site);
    void (*write[5])(const void *address, int site);
    void (*access)(const void *address, int bytes, int kind, int site);
    /* Of any size; "aligned": what its type's alignment is at most. */
    void (*range)(const void *address, size_t bytes, size_t aligned, int kind, int site);
    void (*block)(int site); /* a basic block begins */
    void (*syncthreads)(const xg_source_location *here);
    void (*syncwarp)(uint32_t mask, const xg_source_location *here);
    void (*shuffle)(uint32_t mask, void *value, unsigned bytes, int from,
                    const xg_source_location *here);
    uint32_t (*ballot)(uint32_t mask, int vote, const xg_source_location *here);
    uint32_t (*reduce)(uint32_t mask, uint32_t value, int add, const xg_source_location *here);
    void (*fence)(void);
    void (*copy_async)(void *to, const void *from, unsigned whole, unsigned bytes);
    void (*copy_commit)(void);
    void (*copy_wait)(int groups_left);
    void (*fail)(const xg_source_location *here, const char *what);
    void (*tensor)(int type, int flops); /* a thread's part of a product on tensor cores */
    void (*indices)(xg_indices *seen);   /* where the kernel reads them, kept up from now on */
} xg_hooks;

enum { XG_HOOKS_VERSION = 3 };

/* An argument of the kernel, as its parameter will take it. */
typedef union {
    void *pointer;
    long long integer;
    double real;
} xg_value;

/* A parameter of the kernel. */
typedef struct {
    char kind;    /* 'p': pointer; 'i', 'u': integer, without a sign; 'f': floating point */
    char element; /* of a pointer: the same of what it points to; 'v': anything */
    int bytes;    /* of the parameter; of a pointer, of what it points to: 0 not known */
} xg_parameter;

#endif
