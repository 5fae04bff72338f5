/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader and writer of .npy files; the tests are in npy_*.c. */
#include "npy_support.h"

#include <stdlib.h>

int main(void)
{
    Suite *suite = suite_create("npy");
    SRunner *runner;
    int failures;

    add_dict_cases(suite);
    add_format_cases(suite);
    add_archive_cases(suite);
    add_reading_cases(suite);
    add_writing_cases(suite);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
