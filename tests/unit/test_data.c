/* SPDX-License-Identifier: BSD-3-Clause */
/* The named kinds of data: the same in every layout, and as their traits say. */
#include "data.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 37, DEPTH = 1500, GAP = 5 };

typedef float contents[ROWS][DEPTH];

static const float gap = -12345.0f;

static void fill(const data_kind *kind, uint64_t seed, bool is_b, contents *to)
{
    const data_operand operand = {(*to)[0], is_b, ROWS, DEPTH, DEPTH, 1};
    ck_assert(data_fill(kind, seed, &operand));
}

static bool same(const contents *x, const contents *y)
{
    return memcmp(x, y, sizeof *x) == 0;
}

START_TEST(names)
{
    const data_kind *kind = data_at(_i);
    ck_assert_ptr_eq(data_find(kind->name, strlen(kind->name)), kind);
    ck_assert_ptr_null(data_find(kind->name, strlen(kind->name) - 1));
    ck_assert_uint_gt(strlen(kind->text), 0);
}
END_TEST

/* The values do not depend on which dimension is contiguous, or on the leading dimension. */
START_TEST(layouts)
{
    static contents k_major;
    static float mn_major[DEPTH][ROWS + GAP];
    for (int is_b = 0; is_b < 2; is_b++) {
        fill(data_at(_i), 5, is_b, &k_major);
        for (int l = 0; l < DEPTH; l++)
            for (int i = 0; i < ROWS + GAP; i++)
                mn_major[l][i] = gap;
        const data_operand operand = {mn_major[0], is_b, ROWS, DEPTH, 1, ROWS + GAP};
        ck_assert(data_fill(data_at(_i), 5, &operand));
        for (int l = 0; l < DEPTH; l++)
            for (int i = 0; i < ROWS + GAP; i++)
                ck_assert_msg(
                    memcmp(&mn_major[l][i], i < ROWS ? &k_major[i][l] : &gap, sizeof gap) == 0,
                    "%s: element %d of row %d", data_at(_i)->name, l, i);
    }
}
END_TEST

START_TEST(seeds)
{
    static contents first, again, other;
    const data_kind *kind = data_at(_i);
    fill(kind, 1, false, &first);
    fill(kind, 1, false, &again);
    fill(kind, 2, false, &other);
    ck_assert_msg(same(&first, &again), "%s: other data from the same seed", kind->name);
    ck_assert_msg(same(&first, &other) == ((kind->traits & DATA_FIXED) != 0),
                  "%s: the same data from another seed, or other data", kind->name);
}
END_TEST

/* Whether all elements are finite; some are not, if not. */
START_TEST(finite_elements)
{
    static contents values;
    const data_kind *kind = data_at(_i);
    for (int is_b = 0; is_b < 2; is_b++) {
        int count = 0;
        fill(kind, 3, is_b, &values);
        for (int i = 0; i < ROWS; i++)
            for (int l = 0; l < DEPTH; l++)
                count += !isfinite(values[i][l]);
        ck_assert_msg((count > 0) == ((kind->traits & DATA_NOT_FINITE) != 0),
                      "%s: %d elements are not finite", kind->name, count);
    }
}
END_TEST

/* Sums that the kinds promise to be far from their terms, or equal to them. */
START_TEST(cancellation)
{
    static contents a, b;
    const data_kind *kind = data_at(_i);
    double worst = 0.0, most = 0.0;
    fill(kind, 4, false, &a);
    fill(kind, 4, true, &b);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            double sum = 0.0, mass = 0.0;
            for (int l = 0; l < DEPTH; l++) {
                sum += (double)a[i][l] * (double)b[j][l];
                mass += fabs((double)a[i][l] * (double)b[j][l]);
            }
            worst = fmax(worst, mass > 0.0 ? fabs(sum) / mass : 0.0);
            most = fmax(most, mass);
        }
    if (kind->traits & DATA_NOT_FINITE)
        return;
    ck_assert_msg((worst < 1e-9) == ((kind->traits & DATA_CANCELS) != 0),
                  "%s: sums are %g of |A||B|", kind->name, worst);
    ck_assert_msg(most < 0x1p128 || (kind->traits & DATA_OVERFLOWS), "%s: |A||B| is %g", kind->name,
                  most);
}
END_TEST

START_TEST(empty)
{
    float value = gap;
    ck_assert(data_fill(data_at(_i), 1, &(data_operand){&value, false, 0, 9, 9, 1}));
    ck_assert(data_fill(data_at(_i), 1, &(data_operand){&value, true, 9, 0, 1, 9}));
    ck_assert(value == gap);
    ck_assert(data_fill(data_at(_i), 1, &(data_operand){&value, true, 1, 1, 1, 1}));
    ck_assert(value != gap);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data");
    TCase *cases = add_case(suite, "kinds");
    tcase_add_loop_test(cases, names, 0, data_count());
    tcase_add_loop_test(cases, layouts, 0, data_count());
    tcase_add_loop_test(cases, seeds, 0, data_count());
    tcase_add_loop_test(cases, finite_elements, 0, data_count());
    tcase_add_loop_test(cases, cancellation, 0, data_count());
    tcase_add_loop_test(cases, empty, 0, data_count());
    /* Made once, for all tests' own processes. */
    float value;
    if (!data_fill(data_at(0), 1, &(data_operand){&value, false, 1, 1, 1, 1}))
        return 1;
    return run_anywhere(suite);
}
