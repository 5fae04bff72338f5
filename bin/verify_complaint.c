/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify_complaint.h"

#include "options.h"

#include <inttypes.h>
#include <stdio.h>

/* So many significant digits tell two numbers apart. */
static int digits_of(xgemm_type type)
{
    return type_part(type) == XGEMM_F64 ? 17 : 9;
}

static const char *scalar_text(scalar x, char *text, size_t size)
{
    if (x.im == 0.0)
        snprintf(text, size, "%g", x.re);
    else
        snprintf(text, size, "%g%+gi", x.re, x.im);
    return text;
}

void verify_complain(const char *kernel, const workload *w, const values_choice *values,
                     const check_result *result)
{
    char alpha[64], beta[64];
    fprintf(stderr,
            "xgemm verify: %s, %s, %s order, %s%s, m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64
            ", %s%salpha = %s, beta = %s, %s values: ",
            kernel, type_word(w->type), order_word(w->order), transpose_letter(w->transa),
            transpose_letter(w->transb), w->size.m, w->size.n, w->size.k,
            w->batch > 1 ? "a batch" : "",
            w->lists       ? " of pointers, "
            : w->batch > 1 ? ", "
                           : "",
            scalar_text(w->alpha, alpha, sizeof alpha), scalar_text(w->beta, beta, sizeof beta),
            values_name(values));
    if (result->wrong)
        fprintf(stderr,
                "%zu of %zu element%s %s wrong, the first at (%" PRId64 ", %" PRId64
                "): %.*g instead of %.*g\n",
                result->wrong, result->elements, plural((int64_t)result->elements),
                result->wrong == 1 ? "is" : "are", result->row, result->col, digits_of(w->type_c),
                result->got, digits_of(w->type_c), result->want);
    else
        fprintf(stderr, "%zu element%s beside C %s changed\n", result->canaries,
                plural((int64_t)result->canaries), result->canaries == 1 ? "was" : "were");
}
