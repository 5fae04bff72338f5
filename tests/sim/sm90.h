/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of test_sm90 share: operands, and launches of sm90_*.cu on the simulator, in many
 * orders.
 */
#ifndef XGEMM_TESTS_SM90_H
#define XGEMM_TESTS_SM90_H

#include "args.h"
#include "backend/sim/asan.h"
#include "backend/sim/simulator.h"
#include "backend/sim/sm90_shim.h"
#include "sm90_kernels.h"

#include <check.h>
#include <stdbool.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* With AddressSanitizer shared memory is not in a section of its own. */
#ifdef XG_WITH_ASAN
#define WITHOUT_SECTIONS 1
#endif

#ifdef WITH_TRACE
enum { CAN_TRACE = 1 };
#define TRACED(name) .traced = xg_traced_##name,
#else
enum { CAN_TRACE = 0 };
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

/* Traced: with the trace, where the build can make traced kernels. */
xgemm_status sm90_launch(const xg_launch *what, xg_sim_options how, bool traced, xg_error *error);

/* More units than stages, so that the phases of every stage's barriers change parity. */
enum { UNITS = 2 * STAGES + 1, M = 4 * TILE, N = 2 * TILE, K = UNITS * DEPTH };

/* A and B, small fractions whose sums FP32 holds exactly; in units as the kernels want them. */
float sm90_a_at(int row, int l), sm90_b_at(int column, int l);
extern uint16_t sm90_packed_a[M * K], sm90_packed_b[N * K];
/* What a kernel computes; and A * B. */
extern float sm90_result[M * N], sm90_expected[M * N];
void sm90_prepare(void);

/* By subject, of the files of these names. */
TCase *sm90_pipeline(void), *sm90_products(void), *sm90_blocks(void), *sm90_wrong_calls(void);
TCase *sm90_full_range(void), *sm90_tiles(void), *sm90_stores(void);
TCase *sm90_numbers(void);

#endif
