/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/trace.h
 * \brief   What a kernel does, counted: memory requests, sectors, bank conflicts, divergence.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/trace.h>"
#endif
#ifndef XGEMM_TRACE_H
#define XGEMM_TRACE_H

/**
 * \brief   The product whose kernel is traced.
 *
 * Set struct_size to sizeof(xgemm_trace_problem), and the rest to 0 where the
 * default is wanted: row order, no transposes, tight leading dimensions.
 */
typedef struct {
    size_t struct_size;     /**< In: sizeof(xgemm_trace_problem). */
    xgemm_order order;      /**< 0: XGEMM_ROW_MAJOR. */
    xgemm_transpose transa; /**< 0: XGEMM_NO_TRANS. */
    xgemm_transpose transb; /**< 0: XGEMM_NO_TRANS. */
    int64_t m, n, k;        /**< Sizes, at least 1. */
    int64_t lda, ldb, ldc;  /**< Leading dimensions in elements; 0: as small as they may be. */
    float beta;             /**< 0: C is not read. Alpha is 1. */
    int64_t most_blocks;    /**< Blocks to run, spread over the launch; 0: all, and so for a kernel
                                 of several launches. */
} xgemm_trace_problem;

/**
 * \brief   One source line of the kernel that accesses one array.
 *
 * A request is one instruction of a warp: up to 32 threads at once. Threads of
 * a warp are taken to execute it together when they have reached the line equally
 * often since the last barrier: exact for uniform control flow.
 */
typedef struct {
    const char *file;         /**< Source file: "tiled.inc". */
    int line;                 /**< Its line. */
    const char *source;       /**< The line's text, without indentation. */
    const char *array;        /**< "A", "B", "C", or its name in the workspace or shared memory. */
    int is_shared;            /**< 1: shared memory, 0: global. */
    int is_store;             /**< 1: a store, 0: a load. */
    int is_atomic;            /**< 1: an atomic operation, which is a load and a store in one. */
    int bytes;                /**< One thread's access, bytes. */
    int64_t requests;         /**< Requests. */
    int64_t partial_requests; /**< Those in which fewer threads took part than the warp has. */
    int64_t lanes;            /**< Threads in all requests. */
    int64_t sectors;          /**< 32-byte sectors touched, summed over requests; global only. */
    int64_t ideal_sectors;    /**< The fewest that could hold the words requested. */
    int64_t cache_lines;      /**< 128-byte lines touched, likewise. */
    int64_t wavefronts;       /**< Passes over the 32 banks; shared only. */
    int64_t ideal_wavefronts; /**< The same without bank conflicts. */
    int most_sectors;         /**< In one request. */
    int most_ways;            /**< Most different words that one bank gives to threads that are
                                   served together; 1: no conflict. */
    int is_constant;          /**< 1: constant memory, a pass for each different word; 0 for the
                                   library's kernels. */
} xgemm_trace_site;

/**
 * \brief   What a traced product did. Owned by the library: xgemm_trace_free().
 *
 * Counts are of the kernel's source ("source-level"): the compiler for the GPU
 * may merge accesses. They are of the blocks that ran; multiply by
 * blocks / blocks_run for the whole launch.
 */
typedef struct {
    size_t struct_size;            /**< Of this struct in the running library. */
    const char *kernel;            /**< The kernel's name. */
    int64_t grid[3];               /**< Blocks of the product's launch. */
    int block[3];                  /**< Threads of a block. */
    int64_t blocks;                /**< Blocks of all launches. */
    int64_t k_parts;               /**< Split-K: split_k of xgemm_plan. */
    int64_t blocks_run;            /**< Blocks that were simulated. */
    int64_t warps_run;             /**< Warps in these. */
    int64_t barriers;              /**< Barriers that their blocks passed. */
    double flops;                  /**< 2 m n k; of complex numbers 8 m n k. */
    double bytes_asked;            /**< By all threads, of global memory; scaled to all blocks. */
    double bytes_moved;            /**< 32 bytes for each sector of each request; scaled. */
    double flop_per_byte_asked;    /**< flops / bytes_asked. */
    double flop_per_byte_moved;    /**< flops / bytes_moved. */
    double simt_efficiency;        /**< Mean share of a warp's 32 threads in a basic block. */
    double bytes_least;            /**< A and B read once, C written once (and read, with beta). */
    double flop_per_byte_least;    /**< flops / bytes_least: what a perfect cache leaves to DRAM. */
    char device[128];              /**< The GPU's name; "" when none was given, and then the fields
                                       from here to roof_least_gflops are 0, but for
                                       shared_bytes. */
    int registers;                 /**< 32-bit registers a thread; 0: this build has no record, and
                                       the occupancy leaves them out. */
    int registers_version;         /**< Compute capability that the registers were compiled for. */
    int shared_bytes;              /**< Shared memory of a block, bytes. */
    int blocks_per_sm;             /**< Blocks that a multiprocessor holds at once. */
    double warp_occupancy;         /**< Their warps, over the most that it can hold. */
    unsigned limiters;             /**< What limits them: XGEMM_LIMITED_BY_ bits. */
    double waves;                  /**< Blocks of the product's launch / blocks the GPU holds. */
    double peak_gflops;            /**< The GPU's peak for the kernel's products, GFLOP/s: in FP32,
                                        or for a kernel of tensor cores that of FP16 over its
                                        products (3 for fp16x3); of a kernel of
                                        xgemm_trace_source() that of the type in which most
                                        operations are, FP64's or that of tensor cores;
                                        0, and the roofs: not known. */
    double peak_gbs;               /**< Its memory's bandwidth, GB/s. */
    double roof_asked_gflops;      /**< min(peak, bandwidth * flop_per_byte_asked): no cache. */
    double roof_moved_gflops;      /**< The same with flop_per_byte_moved. */
    double roof_least_gflops;      /**< The same with flop_per_byte_least: a perfect cache. */
    size_t site_size;              /**< sizeof(xgemm_trace_site) in the running library. */
    int site_count;                /**< Sites. */
    const xgemm_trace_site *sites; /**< In the order of the source. */
    int64_t shared_tiles;          /**< Tiles computed by stream-K, as in xgemm_plan. */
} xgemm_trace_report;

/**
 * \brief   Runs a kernel on the simulator and counts what it does.
 *
 * Needs no GPU. The matrices are made for it, all zeros (no kernel's control
 * flow depends on values), and every access is checked as with XGEMM_SIM=check.
 *
 * \param   kernel   A kernel that runs on the simulator.
 * \param   problem  The product; its struct_size set.
 * \param   device   A GPU, which need not be there (xgemm_device_find()): the
 *                   launches are those that it would run, and its occupancy and
 *                   roofline are put into the report. NULL: the launches are an
 *                   H200's, as they are for a GPU older than compute capability
 *                   8.0, on which the library does not run.
 * \param   report   Receives the report, NULL on failure.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_UNKNOWN_KERNEL; XGEMM_ERROR_NOT_SUPPORTED for
 *          a kernel of the CPU or of another compute capability than the
 *          device's, for a product that the kernel computes in panels of a long
 *          k, and when this build's compiler could not trace;
 *          XGEMM_ERROR_INVALID_VALUE; XGEMM_ERROR_NULL_POINTER;
 *          XGEMM_ERROR_OVERFLOW; XGEMM_ERROR_OUT_OF_MEMORY; XGEMM_ERROR_LAUNCH
 *          when the kernel did something wrong. After a failure
 *          xgemm_last_error(NULL) has the sentence. Any thread may call; traces
 *          wait for one another.
 */
XGEMM_API xgemm_status xgemm_trace(const char *kernel, const xgemm_trace_problem *problem,
                                   const xgemm_device *device, xgemm_trace_report **report);

/**
 * \brief   The same for a product of any element type, with its epilogue.
 *
 * \param   kernel       A kernel that runs on the simulator and computes such products.
 * \param   product      As for xgemm_gemm_plan(): the matrices and the bias are
 *                       never followed, since others are made for it, but for a
 *                       bias that is not NULL there is one. alpha and beta are
 *                       read, and alpha is not 0. flags is 0 and batch_count 1.
 * \param   most_blocks  As in xgemm_trace_problem.
 * \param   device       As for xgemm_trace().
 * \param   report       Receives the report, NULL on failure. flops is 8 m n k of
 *                       complex numbers; of F64 and C64 by residues the peak is
 *                       not known.
 *
 * \return  What xgemm_trace() returns; XGEMM_ERROR_NOT_SUPPORTED also for a batch,
 *          for flags, and for what the kernel does not compute.
 */
XGEMM_API xgemm_status xgemm_gemm_trace(const char *kernel, const xgemm_product *product,
                                        int64_t most_blocks, const xgemm_device *device,
                                        xgemm_trace_report **report);

/** \brief Frees a report; NULL is fine. */
XGEMM_API void xgemm_trace_free(xgemm_trace_report *report);

#endif
