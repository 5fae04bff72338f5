/* SPDX-License-Identifier: BSD-3-Clause */
#include "baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct baseline {
    bench_result *rows;
    bool *met; /* a result was compared with it */
    int count, slower, compared;
    double noise;                                      /* as a part */
    char device[sizeof((bench_result *)NULL)->device]; /* of a result that was compared */
};

baseline *baseline_load(const char *path, double noise, char *message, size_t message_size)
{
    json_t *loaded = results_load(path, message, message_size);
    if (!loaded)
        return NULL;
    const size_t count = json_array_size(json_object_get(loaded, "results"));
    baseline *made = calloc(1, sizeof *made);
    if (made) {
        *made = (baseline){.rows = calloc(count, sizeof *made->rows),
                           .met = calloc(count, sizeof *made->met),
                           .noise = noise / 100.0};
        if (made->rows && made->met)
            while (results_at(loaded, (size_t)made->count, &made->rows[made->count]) &&
                   (size_t)++made->count < count)
                ;
    }
    json_decref(loaded);
    if (made && made->count > 0)
        return made;
    snprintf(message, message_size, "the host is out of memory");
    baseline_free(made);
    return NULL;
}

/* "auto:naive" is auto, whatever it chose. */
static bool same_kernel(const char *a, const char *b)
{
    const size_t length = strcspn(a, ":");
    return length == strcspn(b, ":") && memcmp(a, b, length) == 0;
}

/* The first files did not say which device they are of. */
static bool same_device(const char *a, const char *b)
{
    return !*a || !*b || strcmp(a, b) == 0;
}

static bool same_scalar(scalar a, scalar b)
{
    return a.re == b.re && a.im == b.im;
}

static bool same_case(const bench_result *a, const bench_result *b)
{
    return a->size.m == b->size.m && a->size.n == b->size.n && a->size.k == b->size.k &&
           a->batch == b->batch && a->problem.order == b->problem.order &&
           a->problem.transa == b->problem.transa && a->problem.transb == b->problem.transb &&
           a->problem.math == b->problem.math && a->problem.type == b->problem.type &&
           problem_type_c(&a->problem) == problem_type_c(&b->problem) &&
           a->problem.activation == b->problem.activation &&
           a->problem.has_bias == b->problem.has_bias &&
           a->problem.bias_per_row == b->problem.bias_per_row && strcmp(a->data, b->data) == 0 &&
           same_scalar(a->problem.alpha, b->problem.alpha) &&
           same_scalar(a->problem.beta, b->problem.beta) && a->problem.pad == b->problem.pad &&
           a->graph == b->graph && same_device(a->device, b->device) &&
           same_kernel(a->kernel, b->kernel);
}

/* In microseconds. */
static double spread(const timing *of)
{
    return of->p1_us >= 0.0 && of->p1_us < of->median_us ? of->median_us - of->p1_us : 0.0;
}

/* By more than the noise, as a part of the shorter one, and by more than both spreads together. */
static bool is_longer(const timing *a, const timing *than, double noise)
{
    const double by = a->median_us - than->median_us;
    return by > noise * than->median_us && by > spread(a) + spread(than);
}

void baseline_compare(baseline *to, bench_result *result)
{
    memcpy(to->device, result->device, sizeof to->device);
    result->verdict = "new";
    result->baseline_us = -1.0;
    for (int i = 0; i < to->count; i++) {
        const bench_result *old = &to->rows[i];
        if (to->met[i] || !same_case(old, result))
            continue;
        const bool slower = is_longer(&result->ours, &old->ours, to->noise);
        result->baseline_us = old->ours.median_us;
        result->verdict = slower                                            ? "slower"
                          : is_longer(&old->ours, &result->ours, to->noise) ? "faster"
                                                                            : "same";
        to->slower += slower;
        to->compared++;
        to->met[i] = true;
        return;
    }
}

const char *baseline_other_device(const baseline *of)
{
    for (int i = 0; i < of->count; i++)
        if (same_device(of->rows[i].device, of->device))
            return NULL;
    return of->device;
}

int baseline_slower(const baseline *of)
{
    return of->slower;
}

int baseline_compared(const baseline *of)
{
    return of->compared;
}

int baseline_missing(const baseline *of)
{
    return of->count - of->compared;
}

void baseline_free(baseline *of)
{
    if (!of)
        return;
    free(of->rows);
    free(of->met);
    free(of);
}
