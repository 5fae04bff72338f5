/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of test_sm90 share: launches of sm90_kernels.cu on the simulator, in many orders.
 */
#ifndef XGEMM_TESTS_SM90_H
#define XGEMM_TESTS_SM90_H

#include "families/common/args.h"
#include "backend/sim/scheduler.h"
#include "backend/sim/sm90_shim.h"
#include "sm90_kernels.h"

#include <check.h>
#include <stdbool.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* With AddressSanitizer shared memory is not in a section of its own. */
#if defined(__SANITIZE_ADDRESS__)
#define WITHOUT_SECTIONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITHOUT_SECTIONS 1
#endif
#endif

#ifdef WITH_TRACE
enum { CAN_WATCH = 1 };
#define TRACED(name) .traced = xg_traced_##name,
#else
enum { CAN_WATCH = 0 };
#define TRACED(name)
#endif
#define PROGRAM(name)                                                                              \
    {                                                                                              \
        .symbol = "xg_" #name, .simulated = xg_simulated_##name, TRACED(name)                      \
    }
#define DECLARE(name)                      void xg_simulated_##name(const void *), xg_traced_##name(const void *);
#define DECLARE_TWIN(name, mistake)        DECLARE(name)
#define DECLARE_OTHER(name, body, mistake) DECLARE(name)
XG_SM90_KERNELS(DECLARE_TWIN)
XG_SM90_OTHERS(DECLARE_OTHER)

enum { SM90_ORDERS = 12 };
extern const xg_sim_options sm90_orders[SM90_ORDERS];

xg_region sm90_memory(const char *name, const float *base, int lines, int width);

/* Watched: with the trace, where the build can make traced kernels. */
xgemm_status sm90_launch(const xg_launch *what, xg_sim_options how, bool watched, xg_error *error);

/* Of sm90_full_range.c, sm90_tiles.c and sm90_numbers.c. */
TCase *sm90_full_range(void);
TCase *sm90_tiles(void);
TCase *sm90_numbers(void);

#endif
