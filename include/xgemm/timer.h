/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/timer.h
 * \brief   Timing work on a handle's stream.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/timer.h>"
#endif
#ifndef XGEMM_TIMER_H
#define XGEMM_TIMER_H

/** \brief A pair of marks in a stream; opaque. Belongs to its handle's thread. */
typedef struct xgemm_timer xgemm_timer;

/**
 * \brief   Makes a timer.
 *
 * On a GPU it is two CUDA events, so that it measures what the device does
 * between them and neither transfers nor the host; elsewhere the monotonic
 * clock.
 *
 * \param   handle  The handle; it must outlive the timer.
 * \param   timer   Receives the timer, NULL on failure; for
 *                  xgemm_timer_destroy().
 *
 * \return  XGEMM_OK; XGEMM_ERROR_OUT_OF_MEMORY; XGEMM_ERROR_NULL_POINTER;
 *          XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_timer_create(xgemm_handle *handle, xgemm_timer **timer);

/** \brief Frees a timer; NULL is fine. */
XGEMM_API void xgemm_timer_destroy(xgemm_timer *timer);

/**
 * \brief   Marks the beginning, in the order of the handle's stream.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_timer_start(xgemm_timer *timer);

/**
 * \brief   Marks the end, in the order of the handle's stream.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_timer_stop(xgemm_timer *timer);

/**
 * \brief   Waits for the end mark and gives the time between the two.
 *
 * \param   timer         A timer that was started and stopped.
 * \param   microseconds  Receives the time, µs. A GPU's events resolve about
 *                        half a microsecond.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_INVALID_VALUE when it was not started and
 *          stopped; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_LAUNCH;
 *          XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_timer_elapsed(xgemm_timer *timer, double *microseconds);

#endif
