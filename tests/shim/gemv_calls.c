/* SPDX-License-Identifier: BSD-3-Clause */
/* cublas{S,D}gemv: both transposes, elements apart, scalars on the device, what is passed on. */
#include "cublas_calls.h"
#include "elements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 7, LD = 6, CELLS = LD * N, VECTOR = 32 };

typedef void any_function(void);
extern any_function cublasSgemv_v2, cublasSgemv_v2_64, cublasDgemv_v2, cublasDgemv_v2_64;

static const struct entry {
    const char *name;
    any_function *function;
    element type;
    bool is_wide;
} entries[] = {
    {"cublasSgemv_v2", cublasSgemv_v2, F32, false},
    {"cublasSgemv_v2_64", cublasSgemv_v2_64, F32, true},
    {"cublasDgemv_v2", cublasDgemv_v2, F64, false},
    {"cublasDgemv_v2_64", cublasDgemv_v2_64, F64, true},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static int failures;
static xgemm_handle *gpu;

static void check(bool holds, const char *name, const char *what)
{
    if (holds)
        return;
    printf("FAILED %s: %s\n", name, what);
    failures++;
}

static double value(int vector, int i)
{
    return (double)((i * (vector + 3)) % 7 - 3);
}

typedef struct {
    fake_handle handle;
    int trans, step_x, step_y, m;
} variant;

#define CALL(integer)                                                                              \
    static int call_##integer(const struct entry *e, variant *v, void *const memory[5])            \
    {                                                                                              \
        typedef integer I;                                                                         \
        typedef const void *P;                                                                     \
        return ((int (*)(void *, int, I, I, P, P, I, P, I, P, void *, I))e->function)(             \
            &v->handle, v->trans, v->m, N, memory[3], memory[0], LD, memory[1], v->step_x,         \
            memory[4], memory[2], v->step_y);                                                      \
    }
CALL(int)
CALL(int64_t)

static bool is_right(const struct entry *e, const variant *v, const void *y)
{
    const int rows = v->trans ? N : M, columns = v->trans ? M : N;
    for (int i = 0; i < VECTOR; i++) {
        const bool is_element = i % v->step_y == 0 && i / v->step_y < rows;
        double wanted = value(2, i);
        if (is_element) {
            const int row = i / v->step_y;
            wanted *= 3;
            for (int l = 0; l < columns; l++)
                wanted +=
                    2 * value(0, v->trans ? l + row * LD : row + l * LD) * value(1, l * v->step_x);
        }
        if (element_get(e->type, y, i, false) != wanted)
            return false;
    }
    return true;
}

static void one(const struct entry *e, variant v, bool served)
{
    double host[CELLS], scalars[2][1];
    void *memory[5];
    const bool on_device = v.handle.pointer_mode == 1;
    for (int i = 0; i < 3; i++) {
        const int count = i == 0 ? CELLS : VECTOR;
        for (int j = 0; j < count; j++)
            element_put(e->type, host, j, value(i, j), 0);
        memory[i] = place_on(gpu, host, (size_t)count * element_bytes(e->type));
    }
    for (int i = 0; i < 2; i++) {
        element_put(e->type, scalars[i], 0, i ? 3 : 2, 0);
        memory[3 + i] = on_device ? place_on(gpu, scalars[i], sizeof scalars[i]) : scalars[i];
    }
    const int before = fake_count;
    fake_status = served ? 0 : 15;
    const int status = e->is_wide ? call_int64_t(e, &v, memory) : call_int(e, &v, memory);
    check(fake_count == before + !served && status == (served ? 0 : 15), e->name,
          served ? "it was not served" : "it was not passed on");
    if (served && fake_count == before)
        check(!xgemm_download(gpu, host, memory[2], VECTOR * element_bytes(e->type)) &&
                  is_right(e, &v, host),
              e->name, "the product is wrong");
    check(served || strcmp(fake_last, e->name) == 0, e->name, "another function was called");
    for (int i = 0; i < (on_device ? 5 : 3); i++)
        release_on(gpu, memory[i]);
    cublasDestroy_v2(&v.handle); /* which ends here */
}

int gemv_calls(xgemm_handle *of, bool served)
{
    gpu = of;
    for (int i = 0; i < ENTRIES; i++) {
        const struct entry *e = &entries[i];
        for (int trans = 0; trans < 3; trans++) {
            one(e, (variant){{.pointer_mode = 0}, trans, 1, 1, M}, served);
            one(e, (variant){{.pointer_mode = 0}, trans, 2, 3, M}, served);
        }
        one(e, (variant){{.pointer_mode = 1}, 1, 3, 2, M}, served);
        one(e, (variant){{.math_mode = 2}, 0, 1, 1, M}, served);
        one(e, (variant){{.pointer_mode = 0}, 0, -1, 1, M}, false);
        one(e, (variant){{.pointer_mode = 0}, 0, 1, -1, M}, false);
        one(e, (variant){{.pointer_mode = 0}, 3, 1, 1, M}, false);
        one(e, (variant){{.pointer_mode = 0}, 0, 1, 1, -1}, false);
    }
    return failures;
}
