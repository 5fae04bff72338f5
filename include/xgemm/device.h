/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/device.h
 * \brief   Which devices there are.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/device.h>"
#endif
#ifndef XGEMM_DEVICE_H
#define XGEMM_DEVICE_H

/** \brief Devices that are not a CUDA ordinal (0, 1, ...). */
enum {
    XGEMM_DEVICE_AUTO = -1, /**< $XGEMM_DEVICE if set, else GPU 0 if there is one, else the CPU. */
    XGEMM_DEVICE_CPU = -2,  /**< The host's processors: a BLAS, or plain C. */
    XGEMM_DEVICE_SIM = -3   /**< The simulator: the GPU's own kernels, run on the CPU. */
};

/**
 * \brief   What is known of a device.
 *
 * Set struct_size to sizeof(xgemm_device) before the call: a program compiled
 * against an older, smaller struct goes on working with a newer library.
 * A field that the device does not have, or that is unknown, is 0 (or "").
 */
typedef struct {
    size_t struct_size;           /**< In: sizeof(xgemm_device). */
    int ordinal;                  /**< CUDA ordinal, XGEMM_DEVICE_CPU or XGEMM_DEVICE_SIM. */
    int compute_capability;       /**< 10 * major + minor: 90 for sm_90. */
    char name[128];               /**< Product name. */
    char detail[128];             /**< GPU: driver version; CPU: the BLAS in use. */
    int multiprocessors;          /**< Streaming multiprocessors; CPU: online processors. */
    int fp32_lanes;               /**< FP32 FMA units in one multiprocessor. */
    int threads_per_sm;           /**< Most resident threads in one multiprocessor. */
    int blocks_per_sm;            /**< Most resident blocks in one multiprocessor. */
    int threads_per_block;        /**< Most threads in a block. */
    int registers_per_sm;         /**< 32-bit registers in one multiprocessor. */
    int64_t shared_per_sm;        /**< Shared memory in one multiprocessor, bytes. */
    int64_t shared_per_block;     /**< Most shared memory a block can opt in to, bytes. */
    int64_t l2_bytes;             /**< L2 cache, bytes. */
    int64_t memory_bytes;         /**< Device memory (CPU: main memory), bytes. */
    int64_t memory_bus_bits;      /**< Width of the memory bus, bits. */
    double core_clock_mhz;        /**< Peak clock of the multiprocessors, MHz. */
    double memory_clock_mhz;      /**< Peak clock of the memory, MHz. */
    double peak_fp32_gflops;      /**< multiprocessors * fp32_lanes * 2 * core clock, GFLOP/s. */
    double peak_bandwidth_gbs;    /**< 2 * memory clock * bus width / 8, GB/s (10^9 bytes). */
} xgemm_device;

/**
 * \brief   The number of CUDA devices that the driver reports.
 *
 * \return  0 when there is no driver or no device; never negative.
 */
XGEMM_API int xgemm_device_count(void);

/**
 * \brief   Describes a device.
 *
 * \param   ordinal  0 ... xgemm_device_count() - 1, XGEMM_DEVICE_CPU or
 *                   XGEMM_DEVICE_SIM.
 * \param   device   Caller's struct, its struct_size set; filled in.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NO_DEVICE; for a GPU also
 *          XGEMM_ERROR_NO_DRIVER, XGEMM_ERROR_DRIVER_TOO_OLD and
 *          XGEMM_ERROR_DRIVER; XGEMM_ERROR_NULL_POINTER;
 *          XGEMM_ERROR_INVALID_VALUE if struct_size is not set. After a failure
 *          xgemm_last_error(NULL) has the sentence.
 */
XGEMM_API xgemm_status xgemm_device_get(int ordinal, xgemm_device *device);

#endif
