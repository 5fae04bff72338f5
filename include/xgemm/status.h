/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/status.h
 * \brief   Error codes, their names and their sentences.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/status.h>"
#endif
#ifndef XGEMM_STATUS_H
#define XGEMM_STATUS_H

/**
 * \brief   Every status: X(name, value, sentence).
 *
 * 0 is success and errors are negative. Values never change their meaning;
 * a later version may add new ones, so treat an unknown negative value as a
 * failure.
 */
#define XGEMM_STATUS_MAP(X)                                                       \
    X(OK, 0, "success")                                                           \
    X(ERROR_INVALID_VALUE, -1, "an argument is outside its allowed values")       \
    X(ERROR_NULL_POINTER, -2, "a pointer that would be read or written is NULL")  \
    X(ERROR_OVERFLOW, -3, "a size in bytes does not fit the address space")       \
    X(ERROR_OUT_OF_MEMORY, -4, "the host is out of memory")                       \
    X(ERROR_OUT_OF_DEVICE_MEMORY, -5, "the device is out of memory")              \
    X(ERROR_NO_DRIVER, -6, "no CUDA driver (libcuda.so.1) can be loaded")         \
    X(ERROR_DRIVER_TOO_OLD, -7, "the CUDA driver is too old for this library")    \
    X(ERROR_NO_DEVICE, -8, "the device asked for is not there")                   \
    X(ERROR_UNKNOWN_KERNEL, -9, "no kernel has this name")                        \
    X(ERROR_NOT_SUPPORTED, -10, "the device or this build cannot do what was asked") \
    X(ERROR_WORKSPACE, -11, "the workspace given is too small")                   \
    X(ERROR_ENVIRONMENT, -12, "an XGEMM_ variable in the environment has a bad value") \
    X(ERROR_DRIVER, -13, "the CUDA driver reported a failure")                    \
    X(ERROR_LAUNCH, -14, "a kernel failed while it ran")                          \
    X(ERROR_INTERNAL, -15, "libxgemm broke a promise to itself; please report it")

/** \brief The result of most functions. */
typedef enum {
#define XGEMM_STATUS_ENUM(name, value, sentence) XGEMM_##name = (value),
    XGEMM_STATUS_MAP(XGEMM_STATUS_ENUM)
#undef XGEMM_STATUS_ENUM
    XGEMM_STATUS_FORCE_INT = 0x7fffffff /**< Never returned; fixes the size of the type. */
} xgemm_status;

/**
 * \brief   The sentence for a status, such as "the host is out of memory".
 *
 * xgemm_last_error() says what happened in a particular call.
 *
 * \return  A static string; never NULL, "unknown status" for an unknown value.
 */
XGEMM_API const char *xgemm_strerror(xgemm_status status);

/**
 * \brief   The name of a status, such as "XGEMM_ERROR_OUT_OF_MEMORY".
 *
 * \return  A static string; never NULL, "unknown" for an unknown value.
 */
XGEMM_API const char *xgemm_status_name(xgemm_status status);

#endif
