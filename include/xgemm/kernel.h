/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/kernel.h
 * \brief   The ladder: which kernels there are, and what they are made of.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/kernel.h>"
#endif
#ifndef XGEMM_KERNEL_H
#define XGEMM_KERNEL_H

/** \brief Where a kernel runs; bits of xgemm_kernel_info.devices. */
enum {
    XGEMM_RUNS_ON_CUDA = 1, /**< On a GPU. */
    XGEMM_RUNS_ON_SIM = 2,  /**< On the simulator. */
    XGEMM_RUNS_ON_CPU = 4   /**< On the CPU. */
};

/**
 * \brief   A kernel's fixed facts.
 *
 * Set struct_size to sizeof(xgemm_kernel_info) before the call. Strings are
 * static. Numbers that do not apply to a kernel are 0.
 */
typedef struct {
    size_t struct_size;   /**< In: sizeof(xgemm_kernel_info). */
    const char *name;     /**< For xgemm_set_kernel(). */
    const char *summary;  /**< One line: the idea. */
    unsigned devices;     /**< XGEMM_RUNS_ON_ bits, of this build. */
    int tile_m;           /**< Rows of C that one block computes. */
    int tile_n;           /**< Columns of C that one block computes. */
    int tile_k;           /**< The k of one iteration of its main loop. */
    int threads;          /**< Threads in a block. */
    int shared_bytes;     /**< Shared memory of a block, bytes. */
    double flop_per_byte; /**< FP32 operations per byte requested from global memory. */
    xgemm_math math;      /**< The strictest mode that allows it: STRICT: all do; DEFAULT: all but
                               STRICT; TF32: this one alone. */
    int compute_capability; /**< The one that its GPU must have, no other, later ones included: 90
                                 is 9.0; 0: any that the library supports. */
} xgemm_kernel_info;

/** \brief The number of kernels, those this build cannot run included. */
XGEMM_API int xgemm_kernel_count(void);

/**
 * \brief   Describes a kernel.
 *
 * \param   index  0 ... xgemm_kernel_count() - 1, from the textbook's first
 *                 to the fastest, the CPU's last.
 * \param   info   Caller's struct, its struct_size set; filled in.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_INVALID_VALUE; XGEMM_ERROR_NULL_POINTER.
 */
XGEMM_API xgemm_status xgemm_kernel_get(int index, xgemm_kernel_info *info);

/**
 * \brief   What a kernel takes on a GPU, as the driver or the compiler has it.
 *
 * Set struct_size to sizeof(xgemm_kernel_resources) before the call.
 */
typedef struct {
    size_t struct_size; /**< In: sizeof(xgemm_kernel_resources). */
    int registers;      /**< 32-bit registers a thread. */
    int shared_bytes;   /**< Static shared memory a block, bytes. */
    int local_bytes;    /**< Local memory a thread, its stack (room for spills included), bytes. */
    int constant_bytes; /**< Constant memory, the arguments not included, bytes. */
    int max_threads;    /**< Most threads a block can have: with these registers and, as the
                             driver says it, the kernel's own launch bounds. */
    int binary_version; /**< Compute capability it was compiled for: 80. */
} xgemm_kernel_resources;

/**
 * \brief   Asks the driver for a kernel's resources.
 *
 * \param   handle     A handle on a GPU.
 * \param   name       The kernel's name.
 * \param   resources  Caller's struct, its struct_size set; filled in.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_UNKNOWN_KERNEL; XGEMM_ERROR_NOT_SUPPORTED on
 *          the CPU and the simulator; XGEMM_ERROR_NULL_POINTER;
 *          XGEMM_ERROR_INVALID_VALUE; XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_kernel_resources_get(xgemm_handle *handle, const char *name,
                                                  xgemm_kernel_resources *resources);

/**
 * \brief   A kernel's resources on a GPU that need not be there, as the compiler
 *          reported them when the library was built.
 *
 * \param   name       The kernel's name.
 * \param   device     From xgemm_device_find() or the like. Of the architectures
 *                     that the kernel was compiled for, the newest that is not
 *                     newer than the device answers: resources->binary_version.
 *                     What the driver compiles for a newer card may differ.
 *                     Its compute capability alone is enough.
 * \param   resources  Caller's struct, its struct_size set; filled in.
 *                     max_threads follows from the registers alone.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_UNKNOWN_KERNEL; XGEMM_ERROR_NOT_SUPPORTED for
 *          a kernel of the CPU, a build without CUDA, a compiler whose report was
 *          not understood, and a GPU older than all that the kernel was compiled
 *          for; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_INVALID_VALUE if a
 *          struct_size is not set and for a device that is no GPU. After a
 *          failure xgemm_last_error(NULL) has the sentence. Any thread may call.
 */
XGEMM_API xgemm_status xgemm_kernel_resources_find(const char *name, const xgemm_device *device,
                                                   xgemm_kernel_resources *resources);

/**
 * \brief   The kernel that the handle's last product ran.
 *
 * \return  A static string; NULL before the first, and when the last call had
 *          nothing to multiply (m, n or k = 0, or alpha = 0), but for ragged
 *          groups, of which it is the kernel that scaled C.
 */
XGEMM_API const char *xgemm_last_kernel(const xgemm_handle *handle);

#endif
