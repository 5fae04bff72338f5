/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep.h"

#include <stdio.h>
#include <string.h>

/* Takes a word; which of the values it is. */
typedef int (*word_value)(const command *which, const char *word);

static int order_value(const command *which, const char *word)
{
    return (int)option_order(which, word);
}

static int transa_value(const command *which, const char *word)
{
    return (int)option_transpose(which, "transa", word);
}

static int transb_value(const command *which, const char *word)
{
    return (int)option_transpose(which, "transb", word);
}

static int math_value(const command *which, const char *word)
{
    return (int)option_math(which, word);
}

static int type_value(const command *which, const char *word)
{
    return (int)option_type(which, "type", word);
}

/* The values of a list with commas, none of them twice; how many. */
static int take_list(const command *which, const char *name, const char *text, word_value value_of,
                     int values[], int most)
{
    int count = 0;
    for (;;) {
        char word[32];
        const size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        const int value = value_of(which, word);
        for (int i = 0; i < count; i++)
            if (values[i] == value)
                usage_error(which, "--%s has \"%s\" twice", name, word);
        if (count < most)
            values[count++] = value;
        if (text[length] == '\0')
            return count;
        text += length + 1;
    }
}

bool sweep_option(const command *which, sweep *to, int key, const char *value)
{
    int values[SWEEP_TYPES_MAX];
    switch (key) {
    case KEY_ORDER:
        to->order_count = take_list(which, "order", value, order_value, values, SWEEP_ORDERS_MAX);
        for (int i = 0; i < to->order_count; i++)
            to->orders[i] = (xgemm_order)values[i];
        return true;
    case KEY_TRANSA:
        to->transa_count =
            take_list(which, "transa", value, transa_value, values, SWEEP_LETTERS_MAX);
        for (int i = 0; i < to->transa_count; i++)
            to->transa[i] = (xgemm_transpose)values[i];
        return true;
    case KEY_TRANSB:
        to->transb_count =
            take_list(which, "transb", value, transb_value, values, SWEEP_LETTERS_MAX);
        for (int i = 0; i < to->transb_count; i++)
            to->transb[i] = (xgemm_transpose)values[i];
        return true;
    case KEY_MATH:
        to->math_count = take_list(which, "math", value, math_value, values, SWEEP_MATHS_MAX);
        for (int i = 0; i < to->math_count; i++)
            to->maths[i] = (xgemm_math)values[i];
        return true;
    case KEY_TYPE:
        to->type_count = take_list(which, "type", value, type_value, values, SWEEP_TYPES_MAX);
        for (int i = 0; i < to->type_count; i++)
            to->types[i] = (xgemm_type)values[i];
        return true;
    default:
        return false;
    }
}

static int at_least_one(int count)
{
    return count > 0 ? count : 1;
}

int sweep_count(const sweep *of)
{
    return at_least_one(of->order_count) * at_least_one(of->transa_count) *
           at_least_one(of->transb_count) * at_least_one(of->math_count) *
           at_least_one(of->type_count);
}

/* The digit of a mixed-radix number, which goes on with those of the rest. */
static int digit(int *index, int count)
{
    const int value = *index % at_least_one(count);
    *index /= at_least_one(count);
    return value;
}

/* The type changes last and the math mode before it, since kernels depend on them. */
problem_options sweep_at(const sweep *of, const problem_options *options, int index)
{
    problem_options p = *options;
    const int transb = digit(&index, of->transb_count), transa = digit(&index, of->transa_count);
    const int order = digit(&index, of->order_count), math = digit(&index, of->math_count);
    const int type = digit(&index, of->type_count);
    if (of->order_count > 0)
        p.order = of->orders[order];
    if (of->transa_count > 0)
        p.transa = of->transa[transa];
    if (of->transb_count > 0)
        p.transb = of->transb[transb];
    if (of->math_count > 0)
        p.math = of->maths[math];
    if (of->type_count > 0)
        p.type = of->types[type];
    return p;
}

void sweep_check(const command *which, const sweep *of, const problem_options *options)
{
    bool depends = false; /* on the math mode */
    for (int i = 0; i < sweep_count(of); i++) {
        const problem_options p = sweep_at(of, options, i);
        problem_check(which, &p);
        depends = depends || !type_is_half(p.type);
    }
    if (option_given(KEY_MATH) && !depends)
        usage_error(which, "--math has no effect on operands of 16 bits");
}

void sweep_math_unused(const command *which, const char *kernel)
{
    usage_error(which, "--math is for the kernel auto, which depends on it; it has no effect on %s",
                kernel);
}

void sweep_check_kernel(const command *which, const sweep *of, const problem_options *options,
                        const char *kernel)
{
    xgemm_kernel_info info;
    if (!option_given(KEY_MATH) || !kernel || !kernel_find(kernel, &info) ||
        info.math != XGEMM_MATH_STRICT)
        return;
    for (int i = 0; i < sweep_count(of); i++)
        if (sweep_at(of, options, i).math != XGEMM_MATH_DEFAULT)
            sweep_math_unused(which, info.name);
}

void sweep_forget(json_t *members, const sweep *of, const problem_options *options)
{
    const struct {
        const char *key;
        int count;
    } swept[] = {{"order", of->order_count},   {"transa", of->transa_count},
                 {"transb", of->transb_count}, {"math", of->math_count},
                 {"type", of->type_count},     {"type_c", options->type_c ? 0 : of->type_count}};
    for (size_t i = 0; i < sizeof swept / sizeof *swept; i++)
        if (swept[i].count > 1)
            json_object_set_new(members, swept[i].key, json_null());
}

void kernels_of_types(const command *which, xgemm_handle *handle, const char *text, const sweep *of,
                      const problem_options *options, kernel_list lists[SWEEP_TYPES_MAX])
{
    for (int i = 0; i < sweep_count(of); i++) {
        const problem_options p = sweep_at(of, options, i);
        const workload any = problem_workload(&p, (shape){1, 1, 1});
        (void)xgemm_set_math(handle, problem_math(&p)); /* a mode there is */
        lists[i] = kernels_from(which, handle, text, &any);
    }
}
