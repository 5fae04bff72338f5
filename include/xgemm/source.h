/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/source.h
 * \brief   A CUDA kernel of one's own, counted and checked on the simulator: no GPU, no nvcc.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/source.h>"
#endif
#ifndef XGEMM_SOURCE_H
#define XGEMM_SOURCE_H

/**
 * \brief   A launch of a kernel in a file of CUDA C++.
 *
 * Set struct_size to sizeof(xgemm_source_launch), and the rest to 0 where the default is wanted.
 * The strings stay the caller's, and are not needed after the call.
 *
 * An argument is "NAME=TYPE[N]:INIT" or "NAME=TYPE[ROWSxCOLUMNS]:INIT" for an array, which is made
 * in global memory for the launch, or "NAME=TYPE:VALUE" for a number. NAME is the parameter's.
 * TYPE is float, double, half, bfloat16, char, uchar, short, ushort, int, uint, long, ulong, int8
 * to int64, uint8 to uint64 or bool; INIT is random, random=LOW..HIGH, zero, one, index (0, 1, 2,
 * ...), undefined (reading it before it is written is a fault) or a number. An array whose name is
 * no parameter's is what the file's __constant__ or __device__ variable of that name holds.
 */
typedef struct {
    size_t struct_size;           /**< In: sizeof(xgemm_source_launch). */
    const char *file;             /**< The file; its local headers are found beside it. */
    const char *kernel;           /**< "tiled<16>"; NULL: the only kernel of the file. */
    unsigned grid[3];             /**< Blocks; 0: 1. */
    unsigned block[3];            /**< Threads of a block; 0: 1. */
    unsigned shared_bytes;        /**< Dynamic shared memory of a block. */
    const char *const *arguments; /**< For the kernel's parameters, as above, in any order. */
    int argument_count;           /**< How many. */
    const char *const *defines;   /**< "TILE=16", as the compiler's -D. */
    int define_count;             /**< How many. */
    int64_t most_blocks;          /**< Blocks to run, spread over the grid; 0: as many as take about
                                       eight seconds; -1: all. */
    int seconds;                  /**< After which the kernel is ended; 0: 60. */
    int64_t memory_bytes; /**< That the kernel's arrays and their trace may take; 0: 4 GiB. */
    int registers;        /**< A thread's, as nvcc -Xptxas -v reports; 0: not known. */
    int messages;         /**< File descriptor for the compiler's messages and for what the
                               kernel prints; 0: none. */
    const char *text;     /**< The file's text, which then is not read: file is its name, and its
                               local headers are beside that; NULL: it is read. */
} xgemm_source_launch;

/** \brief What is wrong with a kernel: the kinds of xgemm_source_fault. */
enum {
    XGEMM_FAULT_RACE = 1,   /**< Two threads, one of them writing, and nothing between. */
    XGEMM_FAULT_BLOCKS,     /**< The same of two blocks. */
    XGEMM_FAULT_UNDEFINED,  /**< Reads what nothing wrote. */
    XGEMM_FAULT_OUTSIDE,    /**< An access outside of every array. */
    XGEMM_FAULT_MISALIGNED, /**< An access at no multiple of its size. */
    XGEMM_FAULT_CONSTANT,   /**< A write to constant memory. */
    XGEMM_FAULT_BARRIER,    /**< A barrier that not all threads reach together. */
    XGEMM_FAULT_STOPPED     /**< The kernel crashed, or did not end. */
};

/** \brief A fault: the first of its kind at these lines, and how many there were. */
typedef struct {
    int kind;         /**< XGEMM_FAULT_... */
    int line;         /**< Of the source; 0: not known, or of a header. */
    int other_line;   /**< Of a race: the other access's; else 0. */
    int64_t count;    /**< How often, in the blocks that ran. */
    const char *text; /**< The sentence, with line, thread, block, array and element. */
} xgemm_source_fault;

/** \brief One request of a site: where each thread of a warp went. */
typedef struct {
    unsigned lanes;    /**< Which took part, a bit each. */
    uint32_t word[32]; /**< Words of 4 bytes from the array's beginning (of its 128-byte line). */
} xgemm_source_request;

/** \brief How much of a warp was at work at a line: over the basic blocks that begin there. */
typedef struct {
    int line;      /**< Of the source. */
    int64_t steps; /**< Basic blocks, once for each warp that ran one. */
    int64_t lanes; /**< The same for each thread: lanes / (32 steps) is the share at work. */
    double flops;  /**< Floating-point operations, in the blocks that ran. */
} xgemm_source_line;

/** \brief What a kernel did. Owned by the library: xgemm_source_report_free(). */
typedef struct {
    size_t struct_size;               /**< Of this struct in the running library. */
    const xgemm_trace_report *trace;  /**< Its counts, as xgemm_trace() has them; sites are in the
                                           order of the source; bytes_least is 0 unless all blocks
                                           ran. flops are FP32's and FP64's. */
    double flops64;                   /**< Those of flops that are FP64's. */
    double instructions;              /**< Threads' instructions, of the host's code: about what a
                                           GPU's has; scaled to all blocks. */
    double seconds;                   /**< That the simulator took. */
    int fault_count;                  /**< Faults. */
    const xgemm_source_fault *faults; /**< In the order of their appearance. */
    const xgemm_source_request *requests; /**< One of each site, of those with most sectors or
                                               passes: trace->site_count of them. */
    int line_count;                       /**< Lines with basic blocks; none of headers. */
    const xgemm_source_line *lines;       /**< In order. */
    int static_shared_bytes;              /**< Of the kernel's file; trace->shared_bytes has all. */
    const char *text;                     /**< The file as it was compiled. */
} xgemm_source_report;

/**
 * \brief   Runs a kernel of one's own on the simulator, counts and checks what it does.
 *
 * Compiles the file with the host's C++ compiler ($CXX, c++, g++ or clang++, found when called)
 * against libxgemm's headers for CUDA C++, in a temporary directory, and runs it in a child
 * process, so that a crash or an endless loop is a fault in the report. Host code in the file is
 * compiled and does not run.
 *
 * \param   launch  What to launch; its struct_size set.
 * \param   device  A GPU, which need not be there (xgemm_device_find()), for occupancy and
 *                  roofline; NULL: neither.
 * \param   report  Receives the report, also where the kernel has faults; NULL on failure.
 *
 * \return  XGEMM_OK, also with faults; XGEMM_ERROR_NOT_SUPPORTED when there is no compiler, and
 *          for what the simulator has not (inline PTX, textures), with its line;
 *          XGEMM_ERROR_INVALID_VALUE for a file that does not compile, or that has no such kernel
 *          or parameter; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_OUT_OF_MEMORY;
 *          XGEMM_ERROR_LAUNCH for a launch that is not possible. After a failure
 *          xgemm_last_error(NULL) has the sentence. Any thread may call; the process must not
 *          reap children that it did not start.
 */
XGEMM_API xgemm_status xgemm_trace_source(const xgemm_source_launch *launch,
                                          const xgemm_device *device, xgemm_source_report **report);

/** \brief Frees a report; NULL is fine. */
XGEMM_API void xgemm_source_report_free(xgemm_source_report *report);

#endif
