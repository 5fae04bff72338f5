/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/version.h
 * \brief   Version of the library.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/version.h>"
#endif
#ifndef XGEMM_VERSION_H
#define XGEMM_VERSION_H

/** \brief Version of the headers a program was compiled with. */
#define XGEMM_VERSION_MAJOR 0
#define XGEMM_VERSION_MINOR 2
#define XGEMM_VERSION_PATCH 0

/** \brief The same as one number that grows: major * 10^6 + minor * 10^3 + patch. */
#define XGEMM_VERSION_NUMBER \
    (XGEMM_VERSION_MAJOR * 1000000 + XGEMM_VERSION_MINOR * 1000 + XGEMM_VERSION_PATCH)

/**
 * \brief   Version of the library that is running, as text: "0.2.0".
 *
 * \return  A static string; never NULL, not to be freed.
 */
XGEMM_API const char *xgemm_version(void);

#endif
