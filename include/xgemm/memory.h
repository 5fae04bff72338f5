/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/memory.h
 * \brief   Memory of a handle's device, for programs that have no CUDA runtime.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/memory.h>"
#endif
#ifndef XGEMM_MEMORY_H
#define XGEMM_MEMORY_H

/**
 * \brief   Allocates memory on the handle's device (CPU, simulator: host
 *          memory), aligned to 256 bytes, its contents undefined.
 *
 * \param   handle  The handle.
 * \param   bytes   Its size; 0 gives NULL.
 * \param   memory  Receives the address, NULL on failure. The caller owns it
 *                  and gives it to xgemm_free() of a handle on the same device.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_OUT_OF_DEVICE_MEMORY;
 *          XGEMM_ERROR_OUT_OF_MEMORY; XGEMM_ERROR_NULL_POINTER;
 *          XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_malloc(xgemm_handle *handle, size_t bytes, void **memory);

/**
 * \brief   Frees memory of xgemm_malloc(); waits for work that uses it.
 *
 * \return  XGEMM_OK, also for NULL memory; XGEMM_ERROR_NULL_POINTER for a
 *          NULL handle; XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_free(xgemm_handle *handle, void *memory);

/**
 * \brief   Copies bytes from host memory to the device, in the order of the
 *          handle's stream; returns when the source may be reused.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_upload(xgemm_handle *handle, void *device_memory,
                                    const void *host_memory, size_t bytes);

/**
 * \brief   Copies bytes from the device to host memory, after the work
 *          enqueued before on the handle's stream; returns when they are there.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_LAUNCH when a
 *          kernel before it failed; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_download(xgemm_handle *handle, void *host_memory,
                                      const void *device_memory, size_t bytes);

/**
 * \brief   How much memory the handle's device has, and has free, in bytes.
 *
 * \param   handle      The handle.
 * \param   free_bytes  Receives what can still be had (CPU and simulator: the
 *                      kernel's estimate of available memory).
 * \param   total_bytes Receives the whole.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER;
 *          XGEMM_ERROR_OUT_OF_MEMORY, of the host, with which it cannot be asked.
 */
XGEMM_API xgemm_status xgemm_memory_info(xgemm_handle *handle, uint64_t *free_bytes,
                                         uint64_t *total_bytes);

#endif
