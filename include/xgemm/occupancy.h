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
    int blocks;              /**< Resident blocks in one multiprocessor; 0: it cannot run, see
                                  xgemm_occupancy(). */
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
    int64_t
        shared_allocated; /**< Shared memory of a block, likewise, the system's part included. */
    int cluster;          /**< Blocks in a cluster, as given. */
    int clusters;         /**< A bound: no more clusters than this are on the whole device at
                               once, blocks * multiprocessors / cluster rounded down. It may be
                               fewer, since a cluster stays in one group of multiprocessors
                               (GPC), and how many each group has differs from card to card:
                               cuOccupancyMaxActiveClusters() knows. 0: without clusters, or
                               when the device's multiprocessors are not known. */
} xgemm_occupancy_info;

/**
 * \brief   Computes the occupancy of a kernel on a GPU, which need not be there.
 *
 * \param   device     From xgemm_device_get(), xgemm_device_find() or
 *                     xgemm_device_catalog_get(). Limits that it lacks (a program
 *                     compiled against an older struct) are those of its
 *                     compute capability.
 * \param   threads    Threads in a block, 1 ... 1024.
 * \param   registers  32-bit registers a thread, 0 (not counted) ... 255.
 * \param   shared     Shared memory of a block, static and dynamic, bytes:
 *                     0 ... device->shared_per_block. Above
 *                     device->shared_per_block_static the kernel must opt in.
 * \param   cluster    Blocks in a cluster; 0 and 1: none. At most
 *                     device->cluster_blocks, what every GPU of the kind grants.
 * \param   info       Caller's struct, its struct_size set; filled in.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_INVALID_VALUE for an argument beyond these
 *          limits, for a device that is no GPU, and if a struct_size is not set;
 *          XGEMM_ERROR_NULL_POINTER. After a failure xgemm_last_error(NULL) has
 *          the sentence. Any thread may call.
 *
 * A block whose registers do not fit into a block's register file is no error
 * here, as it is none for the driver's own occupancy query: info->blocks is 0,
 * and a launch would fail (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES).
 *
 * The rules are those of the CUDA C++ Programming Guide, "Hardware
 * Multithreading", and of the occupancy calculator in NVIDIA's tools: registers
 * go to warps in granules, warps to the partitions of the multiprocessor, shared
 * memory to blocks in granules with the system's own part added. Named barriers
 * are not counted: a kernel with the usual one is never limited by them.
 */
XGEMM_API xgemm_status xgemm_occupancy(const xgemm_device *device, int threads, int registers,
                                       int64_t shared, int cluster, xgemm_occupancy_info *info);

/**
 * \brief   A text on what limits the occupancy, and the nearest change that helps.
 *
 * "128 threads at 128 registers each: 4 blocks a multiprocessor, limited by
 * registers; at 96 registers, 5. 16 of 64 warps (25 %), 512 of 2048 threads
 * (25 %)."
 *
 * The change is the smallest that lets one more block in: fewer registers, less
 * shared memory, or both where both limit. Where the size of the block itself
 * limits, it is the nearest number of whole warps that fills more of the
 * multiprocessor.
 *
 * \param   text  Receives the text, cut to size - 1 characters; "" after a failure.
 * \param   size  Of text, at least 1; 512 is enough for every text.
 *
 * \return  As xgemm_occupancy().
 */
XGEMM_API xgemm_status xgemm_occupancy_text(const xgemm_device *device, int threads, int registers,
                                            int64_t shared, int cluster, char *text, size_t size);

#endif
