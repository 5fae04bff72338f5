/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guard of XGEMM_MATH_DEFAULT and XGEMM_MATH_TF32 (lib/families/tensor/guard.h), on data
 * just on either side of every bound; and guards that are wrong, which that data must find.
 */
#include "guard.h"

#include <stdlib.h>

int main(void)
{
    Suite *suite = suite_create("guard");
    suite_add_tcase(suite, guard_rows());
    suite_add_tcase(suite, guard_elements());
    suite_add_tcase(suite, guard_tiles());
    suite_add_tcase(suite, guard_sums());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
