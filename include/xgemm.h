/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm.h
 * \brief   libxgemm: matrix multiplication on NVIDIA GPUs, from C.
 *
 * Include this one header; it includes the topic headers of <xgemm/...>,
 * which refuse to be included alone. No CUDA header is needed. The headers
 * are valid C99 and C++.
 *
 * A whole program:
 *
 *     xgemm_handle *handle;
 *     if (xgemm_create(&handle, XGEMM_DEVICE_AUTO) != XGEMM_OK) ...
 *     ... a, b and c: memory of the device, from xgemm_malloc() or cudaMalloc(),
 *         filled by xgemm_upload() or cudaMemcpy() ...
 *     xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS,
 *                 m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
 *     xgemm_download(handle, result, c, m * n * sizeof(float));
 *     xgemm_destroy(handle);
 *
 * Thread safety, for the whole library: a handle is used by one thread at a
 * time; different handles are used by different threads freely. Functions
 * that take no handle may be called from any thread.
 */
#ifndef XGEMM_H
#define XGEMM_H

#include <stddef.h>
#include <stdint.h>

#define XGEMM_H_INTERNAL 1

#if defined(__GNUC__) && !defined(XGEMM_STATIC)
#define XGEMM_API __attribute__((visibility("default")))
#else
#define XGEMM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** \brief A library context on one device; opaque. One thread at a time. */
typedef struct xgemm_handle xgemm_handle;

#include "xgemm/version.h"
#include "xgemm/status.h"
#include "xgemm/device.h"
#include "xgemm/handle.h"
#include "xgemm/kernel.h"
#include "xgemm/memory.h"
#include "xgemm/timer.h"
#include "xgemm/gemm.h"
#include "xgemm/plan.h"
#include "xgemm/product.h"
#include "xgemm/occupancy.h"
#include "xgemm/trace.h"
#include "xgemm/source.h"
#include "xgemm/probe.h"

#ifdef __cplusplus
}
#endif

#undef XGEMM_H_INTERNAL

#endif
