/* SPDX-License-Identifier: BSD-3-Clause */
#include "support.h"

#include "backend/sim/asan.h"

#include <stdlib.h>
#include <string.h>

#ifdef XG_WITH_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum { GUARD = 64 };

static const uint32_t canary_bits = 0x7fc0dead; /* a NaN */

/* The dimension whose elements lie ld apart. */
static int64_t outer_of(const matrix *x)
{
    return x->order == XGEMM_ROW_MAJOR ? x->rows : x->columns;
}

/* The dimension whose elements are contiguous. */
static int64_t inner_of(const matrix *x)
{
    return x->order == XGEMM_ROW_MAJOR ? x->columns : x->rows;
}

size_t matrix_at(const matrix *x, int64_t row, int64_t column)
{
    const int64_t offset =
        x->order == XGEMM_ROW_MAJOR ? row * x->ld + column : column * x->ld + row;
    return x->first + (size_t)offset;
}

matrix matrix_new(xgemm_handle *handle, xgemm_order order, int64_t rows, int64_t columns,
                  int64_t gap, int shift)
{
    matrix x = {.handle = handle, .order = order, .rows = rows, .columns = columns};
    const int64_t outer = outer_of(&x), inner = inner_of(&x);
    void *memory;

    x.ld = (inner > 1 ? inner : 1) + gap;
    x.first = (size_t)(GUARD + shift);
    x.floats = x.first + GUARD;
    if (outer > 0)
        x.floats += (size_t)((outer - 1) * x.ld + inner);
    x.before = allocate(x.floats * sizeof(float));
    x.after = allocate(x.floats * sizeof(float));
    require(xgemm_malloc(handle, x.floats * sizeof(float), &memory) == XGEMM_OK,
            xgemm_last_error(handle));
    x.memory = memory;
    for (size_t i = 0; i < x.floats; i++)
        memcpy(&x.before[i], &canary_bits, sizeof canary_bits);
    return x;
}

void matrix_free(matrix *x)
{
    free(x->before);
    free(x->after);
    xgemm_free(x->handle, x->memory);
}

/* Calls a function for every run of floats that is no element: the guards and the gaps. */
static bool for_each_gap(const matrix *x, bool (*each)(const matrix *, size_t from, size_t to))
{
    const int64_t outer = inner_of(x) > 0 ? outer_of(x) : 0;
    size_t from = 0;
    for (int64_t i = 0; i < outer; i++) {
        const size_t start = x->first + (size_t)(i * x->ld);
        if (start > from && !each(x, from, start))
            return false;
        from = start + (size_t)inner_of(x);
    }
    return each(x, from, x->floats);
}

static bool gap_is_same(const matrix *x, size_t from, size_t to)
{
    return memcmp(x->before + from, x->after + from, (to - from) * sizeof(float)) == 0;
}

static bool poison(const matrix *x, size_t from, size_t to)
{
#ifdef XG_WITH_ASAN
    if (xgemm_get_device(x->handle) < 0)
        ASAN_POISON_MEMORY_REGION(x->memory + from, (to - from) * sizeof(float));
#endif
    (void)x, (void)from, (void)to;
    return true;
}

void matrix_unpoison(const matrix *x)
{
#ifdef XG_WITH_ASAN
    if (xgemm_get_device(x->handle) < 0)
        ASAN_UNPOISON_MEMORY_REGION(x->memory, x->floats * sizeof(float));
#endif
    (void)x;
}

void matrix_fill(matrix *x, float (*draw)(generator *), generator *from)
{
    for (int64_t row = 0; row < x->rows; row++)
        for (int64_t column = 0; column < x->columns; column++)
            x->before[matrix_at(x, row, column)] = draw(from);
}

void matrix_set(matrix *x, float value)
{
    for (int64_t row = 0; row < x->rows; row++)
        for (int64_t column = 0; column < x->columns; column++)
            x->before[matrix_at(x, row, column)] = value;
}

xgemm_status matrix_send(const matrix *x)
{
    const xgemm_status status =
        xgemm_upload(x->handle, x->memory, x->before, x->floats * sizeof(float));
    for_each_gap(x, poison);
    return status;
}

xgemm_status matrix_receive(const matrix *x)
{
    return xgemm_download(x->handle, x->after, x->memory, x->floats * sizeof(float));
}

bool matrix_is_unchanged(const matrix *x)
{
    return gap_is_same(x, 0, x->floats);
}

bool matrix_gaps_are_unchanged(const matrix *x)
{
    return for_each_gap(x, gap_is_same);
}
