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
    XGEMM_DEVICE_CPU = -2,  /**< The host: a BLAS, or plain C. */
    XGEMM_DEVICE_SIM = -3,  /**< The simulator: the GPU's own kernels, run on the CPU. */
    XGEMM_DEVICE_CATALOG = -4 /**< The ordinal of a GPU of the catalogue, which nothing runs on. */
};

/**
 * \brief   What is known of a device.
 *
 * Set struct_size to sizeof(xgemm_device) before the call: a program compiled
 * against an older, smaller struct goes on working with a newer library.
 * A field that the device does not have, or that is unknown, is 0 (or ""; numa_node is -1).
 */
typedef struct {
    size_t struct_size;           /**< In: sizeof(xgemm_device). */
    int ordinal;                  /**< CUDA ordinal, or one of XGEMM_DEVICE_CPU, _SIM, _CATALOG. */
    int compute_capability;       /**< 10 * major + minor: 90 for sm_90. */
    char name[128];               /**< Product name. */
    char detail[128];             /**< GPU: driver version; CPU: the BLAS in use. */
    int multiprocessors;          /**< Streaming multiprocessors; CPU: logical CPUs online. */
    int fp32_lanes;               /**< FP32 FMA units in one multiprocessor. */
    int threads_per_sm;           /**< Most resident threads in one multiprocessor. */
    int blocks_per_sm;            /**< Most resident blocks in one multiprocessor. */
    int threads_per_block;        /**< Most threads in a block. */
    int registers_per_sm;         /**< 32-bit registers in one multiprocessor. */
    int64_t shared_per_sm;        /**< Shared memory in one multiprocessor, bytes. */
    int64_t shared_per_block;     /**< Most shared memory a block can opt in to, bytes. */
    int64_t l2_bytes;             /**< L2 cache, bytes. */
    int64_t memory_bytes;         /**< Device memory (CPU: main memory), bytes; in the catalogue as
                                       sold, 2^30 bytes to a GB. */
    int64_t memory_bus_bits;      /**< Width of the memory bus, bits. */
    double core_clock_mhz;        /**< Peak clock of the multiprocessors, MHz. */
    double memory_clock_mhz;      /**< Peak clock of the memory, MHz; 0 in the catalogue. */
    double peak_fp32_gflops;      /**< multiprocessors * fp32_lanes * 2 * core clock, GFLOP/s. */
    double peak_bandwidth_gbs;    /**< Memory bandwidth, GB/s (10^9 bytes): of a live GPU 2 * memory
                                       clock * bus width / 8, else the maker's figure. */
    double balance_flop_per_byte; /**< peak_fp32_gflops / peak_bandwidth_gbs, OP/B: a kernel with
                                       less arithmetic intensity waits for memory. */
    double peak_tf32_gflops;      /**< Tensor cores, TF32 products, dense, GFLOP/s: the maker's
                                       figure, of a live GPU that of its product in the catalogue
                                       (same name, compute capability and multiprocessors). */
    double peak_fp16_gflops;      /**< Tensor cores, FP16 products summed in FP32, dense. */
    double peak_bf16_gflops;      /**< Tensor cores, BF16 products summed in FP32, dense. */
    int warps_per_sm;             /**< Most resident warps of 32 threads in one multiprocessor. */
    int registers_per_block;      /**< Most 32-bit registers that a block can have. */
    int registers_per_thread;     /**< Most 32-bit registers that a thread can have. */
    int register_granule;         /**< Registers are given to a warp in multiples of this. */
    int warp_granule;             /**< Warps of a block are rounded up to multiples of this for the
                                       register file: its partitions in one multiprocessor. */
    int64_t shared_granule;       /**< Shared memory is given to a block in multiples, bytes. */
    int64_t shared_reserved;      /**< Shared memory of each block that the system takes, bytes. */
    int64_t shared_per_block_static; /**< Most that a block has without opting in, bytes. */
    int cluster_blocks;              /**< Most blocks in a portable cluster; 0: no clusters. */
    int limits_from;      /**< The compute capability whose table gave the granules, lanes
                               and registers of a thread: its own, or for an unknown GPU
                               the nearest older one. */
    char source[256];     /**< Where the figures are from; "" for a live device. */
    char pci_address[16]; /**< GPU: its PCI address, "0000:18:00.0" (domain, bus, device, function).
                           */
    char uuid[48];        /**< GPU: its UUID as nvidia-smi writes it, "GPU-..."; "MIG-..." of a MIG
                               instance. Needs a driver of CUDA 11.4 or later. */
    int ecc;              /**< ECC of the GPU's memory: 1 on, -1 off, 0 unknown. */
    int mig;              /**< Whether it is an instance of a GPU that MIG divides: 1 yes, -1 no, 0
                               unknown. */
    int numa_node;        /**< The host's NUMA node next to the GPU; -1: unknown, or not a GPU. */
    double peak_fp64_gflops; /**< CUDA cores, FP64, by lanes and core clock as for FP32. */
    double
        peak_fp64_tensor_gflops; /**< Tensor cores, FP64, by the core clock; 0: they have none. */
} xgemm_device;

/**
 * \brief   The number of CUDA devices that the driver reports.
 *
 * \return  0 when there is no driver or no device, or when the driver fails;
 *          then xgemm_last_error(NULL) has the sentence. Never negative. Any
 *          thread may call.
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
 *          XGEMM_ERROR_DRIVER; XGEMM_ERROR_OUT_OF_MEMORY;
 *          XGEMM_ERROR_NULL_POINTER;
 *          XGEMM_ERROR_INVALID_VALUE if struct_size is not set. After a failure
 *          xgemm_last_error(NULL) has the sentence, and the struct is as it was.
 *          Any thread may call.
 */
XGEMM_API xgemm_status xgemm_device_get(int ordinal, xgemm_device *device);

/**
 * \brief   The number of GPUs in the catalogue, which needs no GPU and no driver.
 *
 * \return  Always the same; at least 1. Any thread may call.
 */
XGEMM_API int xgemm_device_catalog_count(void);

/**
 * \brief   Describes a GPU of the catalogue.
 *
 * Its ordinal is XGEMM_DEVICE_CATALOG.
 *
 * \param   index   0 ... xgemm_device_catalog_count() - 1.
 * \param   device  Caller's struct, its struct_size set; filled in.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NO_DEVICE for another index;
 *          XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_INVALID_VALUE if struct_size
 *          is not set. After a failure xgemm_last_error(NULL) has the sentence,
 *          and the struct is as it was. Any thread may call.
 */
XGEMM_API xgemm_status xgemm_device_catalog_get(int index, xgemm_device *device);

/**
 * \brief   Finds a GPU of the catalogue by name.
 *
 * Upper and lower case are the same, and a leading "NVIDIA" does not count. In
 * this order: a whole name, the product's ("H100 SXM5") or the one that its
 * driver reports ("NVIDIA H100 80GB HBM3"); a compute capability ("sm_90",
 * "sm_90a", "compute_90", "9.0", "90": the first GPU of it; a number of two or
 * three digits is always one); words that are all in a GPU's names, in any order
 * ("a100 80gb"; the first such GPU in the catalogue).
 *
 * \param   name    What to look for.
 * \param   device  Caller's struct, its struct_size set; filled in.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NO_DEVICE when there is none: the sentence of
 *          xgemm_last_error(NULL) then names the nearest, or the compute
 *          capabilities that there are; XGEMM_ERROR_NULL_POINTER;
 *          XGEMM_ERROR_INVALID_VALUE if struct_size is not set. After a failure
 *          the struct is as it was. Any thread may call.
 */
XGEMM_API xgemm_status xgemm_device_find(const char *name, xgemm_device *device);

#endif
