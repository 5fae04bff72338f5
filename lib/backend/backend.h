/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a backend can do: memory, copies, launches, waiting, time. None knows
 * what a matrix is. A function that can fail takes an error to fill in (whole
 * sentence, no function name) and gives the status back.
 */
#ifndef XGEMM_LIB_BACKEND_H
#define XGEMM_LIB_BACKEND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One kernel as the backends see it: the forms in which this build has it; NULL where it has none.
 */
typedef struct {
    const char *symbol;              /* its name inside the image */
    const void *image;               /* fatbin for the CUDA driver */
    void (*simulated)(const void *); /* one thread of it, for the simulator; takes the arguments */
    void (*traced)(const void *);    /* the same, every load and store watched */
    void (*host)(const void *);      /* a plain function, for the CPU */
    int index;                       /* 0 ... XG_PROGRAMS_MAX - 1, its own */
    int architecture;                /* the compute capability that it is for alone; 0: for all */
} xg_program;

enum { XG_PROGRAMS_MAX = 96 };

/*
 * Memory that a block may use: lines of width floats, step floats apart. For the
 * blocks whose z is not 0 it begins z * apart floats further on; or, with a list of
 * pointers, where pointer number z says.
 */
typedef struct {
    const char *name; /* "A" */
    const float *base;
    int64_t lines, width, step;
    int64_t apart;
    const float *const *list; /* NULL: base it is */
} xg_region;

/* By the dialect's rule a kernel writes to one of them, its C, and to a list if it has one. */
enum { XG_REGIONS_MAX = 4, XG_REGION_WRITTEN = 2, XG_REGION_LIST = 3 };

/*
 * A matrix as the copy engine is to know it: lines of width floats, step floats apart; and a tile
 * of it, so many floats of so many lines. Aligned to 16 bytes, also from line to line.
 */
typedef struct {
    const float *base;
    int64_t width, lines, step;
    int tile_width, tile_lines; /* 0: there is none */
} xg_tiled;

typedef struct {
    const xg_program *program;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
    uint32_t cluster;      /* blocks along x that form a cluster; 0 or 1: none */
    bool overlaps; /* may begin before the stream's last launch has ended, and waits itself */
    bool even;     /* no multiprocessor is to hold more of its blocks than its share */
    xg_region regions[XG_REGIONS_MAX]; /* for a backend that watches; unused ones have no lines */
    const void *arguments;             /* the one argument, passed by value to the kernel */
    size_t arguments_size;
    xg_tiled tiled[2]; /* A and B of a kernel that has their maps beside it (XG_TILE_MAPS) */
} xg_launch;

typedef struct xg_device xg_device; /* a backend's own; one is shared by a device's handles */
typedef struct xg_mark xg_mark;     /* a point in a stream */

typedef struct {
    const char *name;
    bool has_streams;
    bool host_memory; /* what the kernels read and write, the host can too */
    bool (*can_run)(const xg_program *);
    int (*count)(void);
    int (*processors)(const xg_device *);   /* that a launch is to fill; the device may be NULL */
    int (*architecture)(const xg_device *); /* its compute capability; 0: it has none */
    int64_t (*block_shared)(const xg_device *); /* bytes a block may have; NULL: no such limit */
    xgemm_status (*describe)(int ordinal, xgemm_device *, xg_error *);
    xgemm_status (*open)(int ordinal, xg_device **, xg_error *);
    void (*close)(xg_device *);
    xgemm_status (*make_current)(xg_device *, xg_error *);
    xgemm_status (*allocate)(xg_device *, size_t bytes, void **, xg_error *);
    xgemm_status (*release)(xg_device *, void *, xg_error *);
    /* Host memory that the GPU copies from and to by itself; NULL where that is no difference. */
    xgemm_status (*allocate_pinned)(xg_device *, size_t bytes, void **, xg_error *);
    xgemm_status (*release_pinned)(xg_device *, void *, xg_error *);
    xgemm_status (*memory_info)(xg_device *, uint64_t *free_bytes, uint64_t *total, xg_error *);
    xgemm_status (*upload)(xg_device *, void *stream, void *to, const void *from, size_t,
                           xg_error *);
    xgemm_status (*download)(xg_device *, void *stream, void *to, const void *from, size_t,
                             xg_error *);
    xgemm_status (*launch)(xg_device *, void *stream, const xg_launch *, xg_error *);
    xgemm_status (*wait)(xg_device *, void *stream, xg_error *);
    void (*drain)(xg_device *); /* waits for all streams */
    xgemm_status (*mark_create)(xg_device *, xg_mark **, xg_error *);
    void (*mark_destroy)(xg_device *, xg_mark *);
    xgemm_status (*mark_record)(xg_device *, void *stream, xg_mark *, xg_error *);
    xgemm_status (*mark_elapsed)(xg_device *, xg_mark *from, xg_mark *to, double *us, xg_error *);
    xgemm_status (*resources)(xg_device *, const xg_program *, xgemm_kernel_resources *,
                              xg_error *);
} xg_backend;

extern const xg_backend xg_backend_cuda, xg_backend_cpu, xg_backend_sim;

/* The backend of an ordinal, XGEMM_DEVICE_CPU or XGEMM_DEVICE_SIM; NULL for anything else. */
const xg_backend *xg_backend_of(int device);

#endif
