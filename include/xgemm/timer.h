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

/** \brief A pair of marks in a stream; opaque, used by one thread at a time, as its handle is. */
typedef struct xgemm_timer xgemm_timer;

/**
 * \brief   Makes a timer.
 *
 * On a GPU the marks are CUDA events: the time includes copies in the stream
 * and the gaps in which it is empty because the host enqueues late. Elsewhere
 * they are readings of the monotonic clock.
 *
 * \param   handle  The handle; it must outlive the timer.
 * \param   timer   Receives the timer, NULL on failure; free it with
 *                  xgemm_timer_destroy().
 *
 * \return  XGEMM_OK; XGEMM_ERROR_OUT_OF_MEMORY; XGEMM_ERROR_NULL_POINTER;
 *          XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_timer_create(xgemm_handle *handle, xgemm_timer **timer);

/**
 * \brief   Frees a timer.
 *
 * \param   timer  A timer; NULL is fine.
 */
XGEMM_API void xgemm_timer_destroy(xgemm_timer *timer);

/**
 * \brief   Records the start mark in the handle's stream, behind the work
 *          enqueued so far.
 *
 * \param   timer  A timer.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_timer_start(xgemm_timer *timer);

/**
 * \brief   Records the end mark in the handle's stream, behind the work
 *          enqueued so far.
 *
 * \param   timer  A timer.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_timer_stop(xgemm_timer *timer);

/**
 * \brief   Waits for the end mark and gives the time from the start mark to it.
 *
 * \param   timer         A timer that was started and stopped.
 * \param   microseconds  Receives the time in microseconds; a GPU's events
 *                        have a resolution of about 0.5.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_INVALID_VALUE unless it was started and then
 *          stopped; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_LAUNCH when a kernel
 *          before the end mark failed; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_timer_elapsed(xgemm_timer *timer, double *microseconds);

#endif
