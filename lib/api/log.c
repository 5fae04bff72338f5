/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handle's log is a descriptor of its own, to which each line is appended by one write(), so that
 * those of several handles, threads and processes do not mix.
 */
#include "log.h"

#include "base/numbers.h"
#include "problem/call_types.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

xgemm_status xg_log_open(int *log, xg_error *error)
{
    const char *name = secure_getenv("XGEMM_LOG"); /* whose files a setuid program leaves alone */
    *log = XG_NO_LOG;
    if (!name || !*name)
        return XGEMM_OK;
    *log = strcmp(name, "stderr") == 0
               ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
               : open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (*log >= 0)
        return XGEMM_OK;
    *log = XG_NO_LOG;
    return xg_fail(error, XGEMM_ERROR_ENVIRONMENT,
                   "the environment has XGEMM_LOG=\"%.256s\", which cannot be opened: %s", name,
                   strerror(errno));
}

void xg_log_close(int log)
{
    if (log != XG_NO_LOG)
        close(log);
}

typedef struct {
    char text[1024];
    size_t length;
} line;

static __attribute__((format(printf, 2, 3))) void add(line *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t room = sizeof to->text - to->length;
    const int added = vsnprintf(to->text + to->length, room, format, arguments);
    va_end(arguments);
    if (added > 0)
        to->length += (size_t)added < room ? (size_t)added : room - 1;
}

static char letter_of(xgemm_transpose of)
{
    return of == XGEMM_NO_TRANS     ? 'N'
           : of == XGEMM_TRANS      ? 'T'
           : of == XGEMM_CONJ_TRANS ? 'C'
                                    : '?';
}

static const char *math_of(xgemm_math math)
{
    return math == XGEMM_MATH_STRICT ? "strict" : math == XGEMM_MATH_TF32 ? "tf32" : "default";
}

static void add_scalar(line *to, const char *name, xg_type type, xg_scalar scalar,
                       bool is_on_device, bool is_complex)
{
    double parts[2];
    xg_scalar_parts(type, scalar, parts);
    if (is_on_device)
        add(to, " %s=device", name);
    else if (is_complex)
        add(to, " %s=%g%+gi", name, parts[0], parts[1]);
    else
        add(to, " %s=%g", name, parts[0]);
}

static const char *activation_name(xgemm_activation of)
{
    static const char *const names[] = {"none", "relu", "gelu", "gelu-tanh", "silu"};
    return (unsigned)of < sizeof names / sizeof *names ? names[of] : "?";
}

/* Types where one is not F32, beta, alpha but for 1, and what else there is of an epilogue. */
static void add_types(line *to, const xg_call *call)
{
    const xg_type a = (xg_type)call->type_a, c = (xg_type)call->type_c;
    const bool is_complex = xg_type_is_complex(c);
    const xg_epilogue_params e = xg_call_problem(call).epilogue;
    if (a != XG_F32)
        add(to, " type=%s type_c=%s", xg_type_short_name(a), xg_type_short_name(c));
    add_scalar(to, "beta", e.type, e.beta, e.beta_at, is_complex);
    if (e.alpha_at || !xg_scalar_is(e.type, e.alpha, 1))
        add_scalar(to, "alpha", e.type, e.alpha, e.alpha_at, is_complex);
    if (call->bias)
        add(to, " bias=%s type_bias=%s", call->bias_per_row ? "row" : "column",
            xg_type_short_name((xg_type)call->type_bias));
    if (call->activation)
        add(to, " activation=%s", activation_name(call->activation));
}

/* How many products, and where their matrices are. */
static void add_batch(line *to, const xg_call *call)
{
    add(to, " batch=%" PRId64, call->batch_count);
    if (call->flags & XGEMM_POINTER_ARRAYS)
        add(to, " matrices=pointers");
    else if (call->batch_count > 1)
        add(to, " stride_a=%" PRId64 " stride_b=%" PRId64 " stride_c=%" PRId64, call->stride_a,
            call->stride_b, call->stride_c);
    if (call->flags & XGEMM_HOST_MEMORY)
        add(to, " memory=host");
}

static void add_call(line *to, const xg_log_entry *entry)
{
    const xg_call *call = entry->call;
    add(to, "%s device=%d math=%s order=%s trans=%c%c", entry->function, entry->device,
        math_of(entry->math), call->order == XGEMM_COL_MAJOR ? "col" : "row",
        letter_of(call->transa), letter_of(call->transb));
    add(to,
        " m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " lda=%" PRId64 " ldb=%" PRId64 " ldc=%" PRId64,
        call->m, call->n, call->k, call->lda, call->ldb, call->ldc);
    if (xg_call_has_types(call))
        add_types(to, call);
    add_batch(to, call);
    if (entry->groups > 0)
        add(to, " groups=%" PRId64, entry->groups);
    if (entry->reproducible != XGEMM_REPRODUCIBLE_RUN)
        add(to, " reproducible=%s",
            entry->reproducible == XGEMM_REPRODUCIBLE_ELEMENT ? "element" : "none");
}

static void add_what_ran(line *to, const xg_ran *ran)
{
    add(to, " kernel=%s workspace=%zu", ran->kernel ? ran->kernel : "none", ran->workspace_bytes);
    if (ran->microseconds > 0.0)
        add(to, " predicted_us=%.1f", ran->microseconds);
    if (ran->wanted)
        add(to, " wanted=%s wanted_workspace=%zu", ran->wanted, ran->wanted_bytes);
}

void xg_log_call(int log, const xg_log_entry *entry)
{
    line to = {.length = 0};
    const locale_t before = xg_numbers_begin();
    add_call(&to, entry);
    if (entry->status)
        add(&to, " status=%s error=\"%s\"", xgemm_status_name(entry->status), entry->error);
    else
        add_what_ran(&to, entry->ran);
    add(&to, "\n");
    xg_numbers_end(before);
    to.text[to.length - 1] = '\n'; /* of a line that was cut */
    if (write(log, to.text, to.length) < 0)
        return; /* a full disk does not fail a product */
}
