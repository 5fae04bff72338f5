/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/probe.h
 * \brief   Small kernels that show what a device's memory does.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/probe.h>"
#endif
#ifndef XGEMM_PROBE_H
#define XGEMM_PROBE_H

/**
 * \brief   A probe's fixed facts. Set struct_size before the call; strings are static.
 */
typedef struct {
    size_t struct_size;    /**< In: sizeof(xgemm_probe_info). */
    const char *name;      /**< For xgemm_probe(): "copy-offset". */
    const char *summary;   /**< One line. */
    const char *parameter; /**< What the points differ in: "offset". */
    const char *unit;      /**< Its unit: "elements". */
    unsigned devices;      /**< XGEMM_RUNS_ON_ bits: where it can run, of this build. */
} xgemm_probe_info;

/**
 * \brief   One measurement.
 *
 * What a device cannot say is 0: a GPU has times and no counts, the simulator
 * counts and no times. Counts are of the accesses that the probe is about, as
 * xgemm_probe(3) says for each.
 */
typedef struct {
    const char *series;       /**< Which curve it is on: "interleaved", "split"; static. */
    double parameter;         /**< Its place on the curve. */
    double bytes;             /**< Read and written, as the program asks for them; 0: no transfer. */
    double microseconds;      /**< Median time of one launch or transfer; GPU only. */
    double gbs;               /**< bytes / time, GB/s (10^9 bytes). */
    double percent_of_peak;   /**< gbs over the peak of what is accessed: the device's memory, or
                                   shared memory (128 bytes a clock on each multiprocessor); 0:
                                   not known, or not a memory's speed. */
    int64_t requests;         /**< Instructions of warps; simulator only, as all below. */
    int64_t sectors;          /**< 32-byte sectors that they touch; global memory. */
    int64_t ideal_sectors;    /**< The fewest that could hold the words requested. */
    int64_t wavefronts;       /**< Passes over the 32 banks; shared memory. */
    int64_t ideal_wavefronts; /**< Without bank conflicts. */
} xgemm_probe_point;

/**
 * \brief   What a probe found. Owned by the library: xgemm_probe_free().
 *
 * A program that may run with a newer library steps through the points by
 * point_size bytes, since they can grow.
 */
typedef struct {
    size_t struct_size;              /**< Of this struct in the running library. */
    const char *name;                /**< The probe; static. */
    size_t point_size;               /**< sizeof(xgemm_probe_point) in the running library. */
    int point_count;                 /**< Points. */
    const xgemm_probe_point *points; /**< Series by series, each by parameter. */
} xgemm_probe_report;

/** \brief The number of probes. Any thread may call. */
XGEMM_API int xgemm_probe_count(void);

/**
 * \brief   Describes a probe. Any thread may call.
 *
 * \param   index  0 ... xgemm_probe_count() - 1.
 * \param   info   Caller's struct, its struct_size set; filled in.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_INVALID_VALUE for another index or if
 *          struct_size is not set; XGEMM_ERROR_NULL_POINTER. After a failure
 *          xgemm_last_error(NULL) has the sentence.
 */
XGEMM_API xgemm_status xgemm_probe_get(int index, xgemm_probe_info *info);

/**
 * \brief   Runs a probe: on a GPU timed, on the simulator counted.
 *
 * It works on the handle's stream, which must not be in a graph capture, with
 * memory that it allocates and frees, and waits for the result.
 *
 * \param   handle  On a GPU or the simulator; one thread at a time.
 * \param   name    The probe.
 * \param   bytes   Size of each array, rounded down to a multiple of 4096:
 *                  from 16384 to 2^39, on the simulator to 2^28; 0: a size
 *                  that suits the device (on a GPU past its L2 cache). A probe
 *                  of shared memory moves 8 times as much in a launch.
 * \param   report  Receives the report, NULL on failure.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_INVALID_VALUE for a name or a size that is
 *          none; XGEMM_ERROR_NOT_SUPPORTED where the device or the build cannot;
 *          XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_OUT_OF_MEMORY;
 *          XGEMM_ERROR_OUT_OF_DEVICE_MEMORY; XGEMM_ERROR_LAUNCH;
 *          XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_probe(xgemm_handle *handle, const char *name, int64_t bytes,
                                   xgemm_probe_report **report);

/** \brief Frees a report; NULL is fine. */
XGEMM_API void xgemm_probe_free(xgemm_probe_report *report);

#endif
