/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: every function of the driver fails at every one of its calls. */
#include "driver_support.h"

#include <string.h>

typedef struct {
    xgemm_handle *handle;
    xgemm_timer *timer;
    void *memory;
} session;

enum { SIDE = 3 };

static xgemm_status product_of(session *s)
{
    float *x = s->memory;
    xgemm_status status = xgemm_set_kernel(s->handle, "padded");
    if (!status)
        status = xgemm_sgemm(s->handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, SIDE, SIDE,
                             SIDE, 1.0f, x, SIDE, x + SIDE * SIDE, SIDE, 0.0f, x + 2 * SIDE * SIDE,
                             SIDE);
    return status;
}

static xgemm_status measure(session *s)
{
    double us;
    xgemm_status status = xgemm_timer_create(s->handle, &s->timer);
    if (!status)
        status = xgemm_timer_start(s->timer);
    if (!status)
        status = product_of(s);
    if (!status)
        status = xgemm_timer_stop(s->timer);
    if (!status)
        status = xgemm_timer_elapsed(s->timer, &us);
    return status;
}

static xgemm_status ask(session *s)
{
    uint64_t free_bytes, total;
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    xgemm_status status = xgemm_memory_info(s->handle, &free_bytes, &total);
    if (!status)
        status = xgemm_kernel_resources_get(s->handle, "naive", &resources);
    if (!status)
        status = xgemm_synchronize(s->handle);
    return status;
}

static xgemm_status run_session(session *s)
{
    static float values[3 * SIDE * SIDE];
    xgemm_status status = xgemm_create(&s->handle, 0);
    if (!status)
        status = xgemm_malloc(s->handle, sizeof values, &s->memory);
    if (!status)
        status = xgemm_upload(s->handle, s->memory, values, sizeof values);
    if (!status)
        status = measure(s);
    if (!status)
        status = xgemm_download(s->handle, values, s->memory, sizeof values);
    if (!status)
        status = ask(s);
    if (!status) {
        status = xgemm_free(s->handle, s->memory);
        if (!status)
            s->memory = NULL;
    }
    return status;
}

static void end_session(session *s)
{
    xgemm_timer_destroy(s->timer);
    if (s->memory)
        OK(s->handle, xgemm_free(s->handle, s->memory));
    xgemm_destroy(s->handle);
}

static const char *const symbols[] = {
#define SYMBOL(member, symbol, parameters) #symbol,
    XG_CU_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

enum { SYMBOLS = (int)(sizeof symbols / sizeof *symbols) };

/* After such a failure the driver itself is not as it was. */
static bool unbalances(const char *symbol)
{
    return strcmp(symbol, "cuCtxPopCurrent_v2") == 0 ||
           strcmp(symbol, "cuThreadExchangeStreamCaptureMode") == 0;
}

static xgemm_status status_after(const char *symbol)
{
    /* The latter's result is not needed: the context's own is pushed, to be sure. */
    return strcmp(symbol, "cuCtxGetCurrent") == 0 ? XGEMM_OK : XGEMM_ERROR_DRIVER;
}

/* Whether the nth call was reached. */
static bool session_with_failure(const char *symbol, int nth)
{
    session s = {NULL, NULL, NULL};
    const int before = fake.calls(symbol);
    fail_nth(symbol, 999, nth, 1);
    const xgemm_status status = run_session(&s);
    fail_no_more();
    const bool reached = fake.calls(symbol) - before >= nth;
    same_context(symbol);
    ck_assert_msg(status == (reached ? status_after(symbol) : XGEMM_OK), "%s, call %d: %s", symbol,
                  nth, xgemm_status_name(status));
    ck_assert_uint_eq(capture_mode(), 0);
    end_session(&s);
    same_context(symbol);
    ck_assert_msg(fake.leaks() == 0, "%s, call %d: something leaked", symbol, nth);
    return reached;
}

START_TEST(test_every_failure)
{
    int nth = 1;
    if (unbalances(symbols[_i]))
        return;
    ck_assert_int_eq(xgemm_device_count(), 1); /* what is called once in a process was */
    while (session_with_failure(symbols[_i], nth))
        nth++;
}
END_TEST

void add_failure_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "failures", setup, teardown);
    tcase_add_loop_test(tcase, test_every_failure, 0, SYMBOLS);
}
