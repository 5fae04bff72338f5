/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/occupancy.h
 * \brief   How many blocks of a kernel fit into one multiprocessor, and what limits them.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/occupancy.h>"
#endif
#ifndef XGEMM_OCCUPANCY_H
#define XGEMM_OCCUPANCY_H

/** \brief What limits the resident blocks; bits of xgemm_occupancy_info.limiters. */
enum {
    XGEMM_LIMITED_BY_WARPS = 1,     /**< The multiprocessor's warps (and so its threads). */
    XGEMM_LIMITED_BY_BLOCKS = 2,    /**< Its slots for blocks. */
    XGEMM_LIMITED_BY_REGISTERS = 4, /**< Its registers. */
    XGEMM_LIMITED_BY_SHARED = 8     /**< Its shared memory. */
};

/**
 * \brief   The occupancy of a configuration.
 *
 * Set struct_size to sizeof(xgemm_occupancy_info) before the call.
 */
typedef struct {
    size_t struct_size;      /**< In: sizeof(xgemm_occupancy_info). */
    int blocks;              /**< Resident blocks in one multiprocessor; 0: it cannot run. */
    int warps;               /**< Resident warps in it. */
    int threads;             /**< Resident threads in it. */
    double warp_occupancy;   /**< warps / the most it can have. */
    double thread_occupancy; /**< threads / the most it can have. */
    int blocks_by_warps;     /**< What each resource alone would allow. */
    int blocks_by_slots;
    int blocks_by_registers; /**< INT_MAX when the kernel uses none. */
    int blocks_by_shared;    /**< INT_MAX when the kernel and the system use none. */
    unsigned limiters;       /**< XGEMM_LIMITED_BY_ bits: all that allow no more than blocks. */
    int registers_allocated; /**< 32-bit registers of a block, rounded as the hardware does. */
    int64_t shared_allocated; /**< Shared memory of a block, likewise, the system's part included. */
    int cluster;             /**< Blocks in a cluster, as asked for. */
    int clusters;            /**< Most clusters on the whole device at once, were its processors in
                                  groups of any kind: blocks * multiprocessors / cluster. */
} xgemm_occupancy_info;

/**
 * \brief   Computes the occupancy of a kernel on a GPU, which need not be there.
 *
 * \param   device     From xgemm_device_get(), xgemm_device_find() or
 *                     xgemm_device_catalog_get().
 * \param   threads    Threads in a block, 1 ... 1024.
 * \param   registers  32-bit registers a thread, 0 (not counted) ... 255.
 * \param   shared     Shared memory of a block, static and dynamic, bytes.
 * \param   cluster    Blocks in a cluster; 0 and 1: none.
 * \param   info       Caller's struct, its struct_size set; filled in.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_INVALID_VALUE for what the GPU cannot launch,
 *          and for a device that is no GPU; XGEMM_ERROR_NULL_POINTER. After a
 *          failure xgemm_last_error(NULL) has the sentence. Any thread may call.
 *
 * The rules are those of the CUDA C++ Programming Guide, "Hardware
 * Multithreading", and of the occupancy calculator in NVIDIA's tools: registers
 * go to warps in granules, warps to the partitions of the multiprocessor, shared
 * memory to blocks in granules with the system's own part added.
 */
XGEMM_API xgemm_status xgemm_occupancy(const xgemm_device *device, int threads, int registers,
                                       int64_t shared, int cluster, xgemm_occupancy_info *info);

/**
 * \brief   Says in words what limits the occupancy, and the nearest change that helps.
 *
 * "128 threads at 128 registers each: 4 blocks a multiprocessor, limited by
 * registers; at 96 registers, 5".
 *
 * \param   text  Receives the text, cut to size - 1 characters.
 * \param   size  Of text, at least 1.
 *
 * \return  As xgemm_occupancy().
 */
XGEMM_API xgemm_status xgemm_occupancy_text(const xgemm_device *device, int threads, int registers,
                                            int64_t shared, int cluster, char *text, size_t size);

#endif
