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
    const void *image;               /* for the CUDA driver: backend/cuda/image.h */
    void (*simulated)(const void *); /* one thread of it, for the simulator; takes the arguments */
    void (*traced)(const void *);    /* the same, every load and store watched */
    void (*host)(const void *);      /* a plain function, for the CPU */
    int index;                       /* 0 ... XG_PROGRAMS_MAX - 1, its own */
    int compute_capability;          /* that it is for alone; 0: for all */
} xg_program;

enum { XG_PROGRAMS_MAX = 192 };

/*
 * Memory that a CTA may use: rows, so many bytes from one to the next. For the CTAs whose z is not
 * 0 it begins z * batch_stride further on; or where pointer number z of an array says. But where
 * "matrices" is not 0, all CTAs may use so many of them, batch_stride apart or by the array.
 */
typedef struct {
    const char *name; /* "A" */
    const void *base;
    int64_t rows, row_bytes, stride_bytes, batch_stride_bytes, matrices;
    bool is_pointer_array; /* base is an array of pointers */
    bool of_halves;        /* elements of 16 bits */
} xg_region;

/*
 * By the dialect's rule a kernel writes to one of them, its C, and to a workspace if it has one.
 * Unused regions have no rows.
 */
enum {
    XG_REGION_A,
    XG_REGION_B,
    XG_REGION_C,
    XG_REGION_WORKSPACE,
    XG_REGION_BIAS,
    XG_REGION_ALPHA,
    XG_REGION_BETA,
    XG_REGION_OFFSETS, /* of ragged groups */
    XG_REGIONS_MAX
};

/*
 * A matrix as TMA is to know it: rows of so many elements, and the box of a copy. Aligned to 16
 * bytes, also from row to row. Elements are copied as bits; outside of the matrix they are 0.
 */
typedef struct {
    const void *base;
    int element_bytes;
    int64_t columns, rows, stride_bytes;
    int box_columns, box_rows;             /* 0: there is none */
    int64_t matrices, matrix_stride_bytes; /* of a batch; 0: the map has no third dimension */
    bool swizzled; /* box rows of 128 bytes, of which 16-byte chunk c of row r goes to c ^ r % 8 */
} xg_tensor;

/* Those of A, B and C. */
enum { XG_TENSORS_MAX = 3 };

typedef struct {
    const xg_program *program;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
    uint32_t cluster;      /* CTAs along x that form a cluster; 0 or 1: none */
    bool pdl;    /* programmatic dependent launch: may begin before the stream's last launch has
                    ended, and waits itself */
    bool spread; /* no multiprocessor is to hold more of its CTAs than its share */
    xg_region regions[XG_REGIONS_MAX]; /* for a backend that watches accesses; else no rows */
    const void *arguments;             /* the one argument, passed by value to the kernel */
    size_t arguments_size;
    xg_tensor tensors[XG_TENSORS_MAX]; /* of a kernel with tensor maps beside its argument */
} xg_launch;

typedef struct xg_device xg_device; /* a backend's own; one is shared by a device's handles */
typedef struct xg_mark xg_mark;     /* a point in a stream */
typedef struct xg_arena xg_arena;   /* memory that grows where it is */

/* Rows of the host's memory to the device's, or back. */
typedef struct {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, rows; /* bytes; bytes of a row */
    bool to_device;
} xg_row_copy;

typedef struct {
    const char *name;
    bool has_streams;
    bool host_memory;      /* what the kernels read and write, the host can too */
    bool watches_accesses; /* launches need their regions */
    bool runs_host_code;   /* programs are plain functions of the host, not kernels */
    bool (*can_run)(const xg_program *);
    int (*count)(xg_error *); /* 0, and why, without a device; NULL where there is always one */
    int (*multiprocessors)(const xg_device *);    /* that a launch is to fill; device may be NULL */
    int (*compute_capability)(const xg_device *); /* whose own kernels it can launch; 0: none */
    /* The driver's function that 9.0's kernels need and that is missing, so that
       compute_capability() is below the GPU's; gives NULL if none is. The member is NULL without a
       driver. */
    const char *(*lacks_function)(const xg_device *);
    int64_t (*shared_per_block)(const xg_device *); /* bytes; NULL: no such limit */
    xgemm_status (*describe)(int ordinal, xgemm_device *, xg_error *);
    xgemm_status (*open)(int ordinal, xg_device **, xg_error *);
    void (*close)(xg_device *);
    xgemm_status (*make_current)(xg_device *, xg_error *);
    xgemm_status (*allocate)(xg_device *, size_t bytes, void **, xg_error *);
    xgemm_status (*release)(xg_device *, void *, xg_error *);
    /*
     * At least so many bytes, in an arena (NULL: a new one), at the address that it keeps. NULL, or
     * XGEMM_ERROR_NOT_SUPPORTED without a sentence: the backend, or the GPU, has none.
     */
    xgemm_status (*arena_grow)(xg_device *, xg_arena **, size_t bytes, void **, xg_error *);
    void (*arena_free)(xg_device *, xg_arena *);
    void (*arena_keep)(xg_device *, xg_arena *); /* until a later drain: kernels may use it */
    /* Host memory that the GPU copies from and to by itself; NULL where that is no difference. */
    xgemm_status (*allocate_pinned)(xg_device *, size_t bytes, void **, xg_error *);
    xgemm_status (*release_pinned)(xg_device *, void *, xg_error *);
    xgemm_status (*memory_info)(xg_device *, uint64_t *free_bytes, uint64_t *total, xg_error *);
    xgemm_status (*upload)(xg_device *, void *stream, void *to, const void *from, size_t,
                           xg_error *);
    xgemm_status (*download)(xg_device *, void *stream, void *to, const void *from, size_t,
                             xg_error *);
    /* The same, but back before they are done: "wait" says so. NULL: there are none. */
    xgemm_status (*upload_begin)(xg_device *, void *stream, void *to, const void *from, size_t,
                                 xg_error *);
    xgemm_status (*download_begin)(xg_device *, void *stream, void *to, const void *from, size_t,
                                   xg_error *);
    /* Whether the device copies host memory from its first to its last byte by itself; and such a
     * copy, done when it is back. NULL: no. */
    bool (*is_pinned)(xg_device *, const void *first, const void *last);
    xgemm_status (*copy_rows)(xg_device *, void *stream, const xg_row_copy *, xg_error *);
    /* Loads a kernel, which a launch does otherwise. NULL: there is nothing to load. */
    xgemm_status (*load)(xg_device *, const xg_program *, xg_error *);
    /*
     * Of PTX, which the driver translates when a kernel is loaded. NULL: there is none.
     *
     * ptx_bytes: how much of a kernel that is not loaded; 0: it is, or has machine code.
     * load_begin: begins to load it beside the caller; false: there is nothing to begin, or the
     * driver is too old for it, so that nothing else runs first.
     * load_wait: waits for what was begun for so many milliseconds; false: it takes longer.
     */
    size_t (*ptx_bytes)(const xg_device *, const xg_program *);
    bool (*load_begin)(xg_device *, const xg_program *);
    bool (*load_wait)(xg_device *, const xg_program *, int milliseconds);
    /* Whether the stream is being captured into a graph. NULL: there are no graphs. */
    bool (*is_captured)(xg_device *, void *stream);
    xgemm_status (*launch)(xg_device *, void *stream, const xg_launch *, xg_error *);
    /* The same for the same stream alone, where a token may mean one of several (a thread's default
       stream). NULL: the token itself is. */
    const void *(*stream_identity)(void *stream);
    xgemm_status (*wait)(xg_device *, void *stream, xg_error *);
    /* Waits for all streams; false: the driver refused, as while a stream is captured. */
    bool (*drain)(xg_device *);
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

/* What tells a stream from others: where a token means one of each thread's own, the calling
   thread's. */
static inline const void *xg_stream_identity(const xg_backend *backend, void *stream)
{
    return backend->stream_identity ? backend->stream_identity(stream) : stream;
}

#endif
