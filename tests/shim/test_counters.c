/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drop-ins' counters, from several threads and processes at once: no call is lost, a kind has
 * one place, and calls of kinds that find the table full are counted as lost, after a short search.
 * Each test is a process of its own (Check forks), since the memory is mapped once in each.
 */
#include "../../shim/counters.h"
#include "../../shim/product.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, KINDS = 37, ROUNDS = 200 };

static char path[64];
static counters *seen; /* the file, as "xgemm run" has it */

static void set_up(void)
{
    snprintf(path, sizeof path, "/tmp/xgemm-counters-XXXXXX");
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, sizeof *seen), 0);
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ck_assert(seen != MAP_FAILED);
    close(file);
    seen->magic = COUNTERS_MAGIC;
    setenv(COUNTERS_VARIABLE, path, 1);
}

static void tear_down(void)
{
    munmap(seen, sizeof *seen);
    unlink(path);
}

static counters_key key_of(int64_t number)
{
    counters_key key;
    memset(&key, 0, sizeof key);
    snprintf(key.function, sizeof key.function, "cublasSgemm_v2");
    key.m = number, key.n = 2 * number, key.k = 3, key.batch = 1;
    return key;
}

/* Each kind as often as its number says, in another order in each thread. */
static void *count_kinds(void *first)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < KINDS; i++) {
            const int number = (i + *(int *)first) % KINDS;
            const counters_key key = key_of(number);
            counters_kind *kind = counters_find(&key, number, 2.0 * number);
            for (int calls = 0; calls <= number % 3; calls++)
                counters_count(kind);
        }
    return NULL;
}

static void count_in_threads(void)
{
    pthread_t threads[THREADS];
    int first[THREADS];
    for (int i = 0; i < THREADS; i++) {
        first[i] = 11 * i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_kinds, &first[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

static void assert_counted(uint64_t times)
{
    int kinds = 0;
    for (int i = 0; i < COUNTERS_KINDS; i++) {
        const counters_kind *kind = &seen->kinds[i];
        if (!atomic_load(&kind->hash))
            continue;
        const int64_t number = kind->key.m;
        const counters_key key = key_of(number);
        ck_assert_uint_eq(atomic_load(&kind->is_ready), 1);
        ck_assert_mem_eq(&kind->key, &key, sizeof key);
        ck_assert(kind->predicted_us == (double)number && kind->library_us == 2.0 * (double)number);
        ck_assert_uint_eq(atomic_load(&kind->calls), times * ROUNDS * (uint64_t)(number % 3 + 1));
        kinds++;
    }
    ck_assert_int_eq(kinds, KINDS);
    ck_assert_uint_eq(atomic_load(&seen->lost), 0);
}

START_TEST(threads_of_a_process)
{
    count_in_threads();
    assert_counted(THREADS);
    ck_assert_uint_eq(atomic_load(&seen->processes), 1);
}
END_TEST

START_TEST(processes_with_threads)
{
    enum { PROCESSES = 3 };
    for (int i = 0; i < PROCESSES; i++) {
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            count_in_threads();
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    assert_counted(PROCESSES * THREADS);
    ck_assert_uint_eq(atomic_load(&seen->processes), PROCESSES);
}
END_TEST

START_TEST(a_table_that_is_full)
{
    enum { ALL = 4 * COUNTERS_KINDS };
    int used = 0;
    for (int64_t i = 0; i < ALL; i++) {
        const counters_key key = key_of(1000 + i);
        counters_kind *kind = counters_find(&key, 0.0, 0.0);
        ck_assert(kind || i > COUNTERS_KINDS * 9 / 10);
        counters_count(kind);
        used += kind != NULL;
    }
    ck_assert_int_ge(used, COUNTERS_KINDS * 98 / 100);
    ck_assert_uint_eq(atomic_load(&seen->lost), (uint64_t)(ALL - used));
    const counters_key old = key_of(1000);
    counters_kind *kind = counters_find(&old, 0.0, 0.0);
    ck_assert_ptr_nonnull(kind);
    ck_assert_uint_eq(atomic_load(&kind->calls), 1);
}
END_TEST

/* The places that a kind can have are so many as a call looks at that finds none. */
START_TEST(places_of_a_kind)
{
    const counters_key key = key_of(_i);
    int places = 0;
    for (int i = 0; i < COUNTERS_KINDS; i++)
        atomic_store(&seen->kinds[i].hash, UINT64_MAX);
    for (int i = 0; i < COUNTERS_KINDS; i++) {
        atomic_store(&seen->kinds[i].hash, 0);
        places += counters_find(&key, 1.0, 1.0) != NULL;
        atomic_store(&seen->kinds[i].hash, UINT64_MAX);
    }
    ck_assert_int_eq(places, COUNTERS_PLACES);
}
END_TEST

/* Texts are made of a kind of call once a thread: here their changes are not seen. */
START_TEST(texts_are_made_once)
{
    char why[] = "a reason";
    const xgemm_product product = {.type_a = XGEMM_F64,
                                   .transa = XGEMM_TRANS,
                                   .transb = XGEMM_NO_TRANS,
                                   .m = 4,
                                   .n = 3,
                                   .k = 2,
                                   .batch_count = 1};
    xgemm_product other = product;
    int kinds = 0;
    count_call("dgemm_", &product, XGEMM_MATH_STRICT, why, 5, 7);
    why[0] = 'A';
    count_call("dgemm_", &product, XGEMM_MATH_STRICT, why, 6, 8);
    other.k = 1;
    count_call("dgemm_", &other, XGEMM_MATH_STRICT, NULL, 6, 8);
    for (int i = 0; i < COUNTERS_KINDS; i++) {
        const counters_kind *kind = &seen->kinds[i];
        if (!atomic_load(&kind->is_ready))
            continue;
        const bool is_first = kind->key.k == 2;
        ck_assert_uint_eq(atomic_load(&kind->calls), is_first ? 2 : 1);
        ck_assert_str_eq(kind->key.reason, is_first ? "a reason" : "");
        ck_assert_str_eq(kind->key.function, "dgemm_");
        ck_assert_str_eq(kind->key.type, "f64");
        ck_assert_str_eq(kind->key.math, "strict");
        ck_assert_str_eq(kind->key.transposes, "TN");
        ck_assert(kind->predicted_us == (is_first ? 5 : 6));
        kinds++;
    }
    ck_assert_int_eq(kinds, 2);
}
END_TEST

/* A file of another layout, of another size, none, and no variable: nothing is counted or written.
 */
START_TEST(no_counters)
{
    const counters_key key = key_of(1);
    if (_i == 0)
        seen->magic++;
    else if (_i == 1)
        ck_assert_int_eq(truncate(path, sizeof *seen - 8), 0);
    else if (_i == 2)
        setenv(COUNTERS_VARIABLE, "/nonexistent/counters", 1);
    else
        unsetenv(COUNTERS_VARIABLE);
    ck_assert_ptr_null(counters_open());
    ck_assert_ptr_null(counters_find(&key, 1.0, 1.0));
    counters_count(NULL);
    ck_assert_uint_eq(atomic_load(&seen->processes), 0);
    ck_assert_uint_eq(atomic_load(&seen->lost), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("counters");
    TCase *tcase = tcase_create("counters");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, threads_of_a_process);
    tcase_add_test(tcase, processes_with_threads);
    tcase_add_test(tcase, a_table_that_is_full);
    tcase_add_loop_test(tcase, places_of_a_kind, 0, 3);
    tcase_add_test(tcase, texts_are_made_once);
    tcase_add_loop_test(tcase, no_counters, 0, 4);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
