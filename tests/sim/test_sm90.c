/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator's models of what compute capability 9.0 has: kernels that use it compute what plain
 * C does in every order, and each of their wrong twins is found in one of them.
 */
#include "sm90.h"

#include <stdlib.h>

const xg_sim_options sm90_orders[SM90_ORDERS] = {
    {.order = XG_SIM_FORWARD},
    {.order = XG_SIM_REVERSE},
    {.order = XG_SIM_SHUFFLE, .seed = 1},
    {.order = XG_SIM_SHUFFLE, .seed = 2},
    {.order = XG_SIM_SHUFFLE, .seed = 3},
    {.order = XG_SIM_SHUFFLE, .seed = 20261121},
    {.order = XG_SIM_FORWARD, .late = true},
    {.order = XG_SIM_REVERSE, .late = true},
    {.order = XG_SIM_SHUFFLE, .seed = 1, .late = true},
    {.order = XG_SIM_SHUFFLE, .seed = 2, .late = true},
    {.order = XG_SIM_SHUFFLE, .seed = 3, .late = true},
    {.order = XG_SIM_SHUFFLE, .seed = 20261121, .late = true},
};

xg_region sm90_memory(const char *name, const float *base, int lines, int width)
{
    const int64_t bytes = width * (int64_t)sizeof *base;
    return (xg_region){
        .name = name, .base = base, .rows = lines, .row_bytes = bytes, .stride_bytes = bytes};
}

xgemm_status sm90_launch(const xg_launch *what, xg_sim_options how, bool traced, xg_error *error)
{
    if (traced) {
        how.trace = xg_trace_new();
        ck_assert_ptr_nonnull(how.trace);
    }
    const xgemm_status status = xg_sim_launch(what, &how, error);
    if (traced)
        xg_trace_free(how.trace);
    return status;
}

static Suite *sm90(void)
{
    Suite *suite = suite_create("sm90");
    suite_add_tcase(suite, sm90_pipeline());
    suite_add_tcase(suite, sm90_products());
    suite_add_tcase(suite, sm90_blocks());
    suite_add_tcase(suite, sm90_wrong_calls());
    suite_add_tcase(suite, sm90_full_range());
    suite_add_tcase(suite, sm90_tiles());
    suite_add_tcase(suite, sm90_stores());
    suite_add_tcase(suite, sm90_numbers());
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(sm90());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
