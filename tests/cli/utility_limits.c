/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "utility_limits.h"

#include <xgemm.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum {
    MEMORY_MOST = 64 << 20, /* of one block; a larger one is refused as by a full machine */
    LARGE = 1 << 16,        /* blocks of so many bytes are given back */
    KEPT_MOST = 1024,
    TEXT_MOST = 1 << 20,
    DESCRIPTORS = 64
};
/* Multiply-adds, of which the simulator does far fewer a second, and whole tiles; a call counts as
 * some. */
static const double work_most = 1e6, work_of_call = 2e3, work_of_simulator = 64.0;

static bool running;
static jmp_buf the_end;
static double work_left;

static void *blocks[KEPT_MOST];
static FILE *files[KEPT_MOST];
static xgemm_handle *handles[KEPT_MOST];
static bool open_before[DESCRIPTORS];

/* ---- What is wrapped ---- */

#define WRAPPED(type, name, parameters)                                                            \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters

static _Noreturn void end(int status)
{
    running = false;
    longjmp(the_end, status + 2); /* not 0, which setjmp() returns first */
}

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
_Noreturn void __wrap_exit(int status)
{
    if (running)
        end(status);
    __real_exit(status);
}

static void spend(double work)
{
    work_left -= work;
    if (running && work_left < 0.0)
        end(UTILITY_STOPPED);
}

static void spend_product(const xgemm_handle *handle, const xgemm_product *p)
{
    const double all = (double)p->m * (double)p->n * (double)p->k * (double)p->batch_count;
    const bool simulated = !handle || xgemm_get_device(handle) == XGEMM_DEVICE_SIM;
    spend((work_of_call + all) * (simulated ? work_of_simulator : 1.0));
}

static void put(void **list, void *pointer)
{
    for (int i = 0; running && pointer && i < KEPT_MOST; i++)
        if (!list[i]) {
            list[i] = pointer;
            return;
        }
}

static void take(void **list, const void *pointer)
{
    for (int i = 0; pointer && i < KEPT_MOST; i++)
        if (list[i] == pointer)
            list[i] = NULL;
}

static bool too_large(size_t bytes)
{
    return running && bytes > MEMORY_MOST;
}

/* A block of that size from the real function, or NULL. */
static void *noted(void *block, size_t bytes)
{
    if (bytes >= LARGE)
        put(blocks, block);
    return block;
}

WRAPPED(void *, malloc, (size_t bytes))
{
    return too_large(bytes) ? NULL : noted(__real_malloc(bytes), bytes);
}

WRAPPED(void *, calloc, (size_t count, size_t bytes))
{
    const size_t all = bytes && count > SIZE_MAX / bytes ? SIZE_MAX : count * bytes;
    return too_large(all) ? NULL : noted(__real_calloc(count, bytes), all);
}

WRAPPED(void *, aligned_alloc, (size_t alignment, size_t bytes))
{
    return too_large(bytes) ? NULL : noted(__real_aligned_alloc(alignment, bytes), bytes);
}

WRAPPED(void, free, (void *block))
{
    if (running)
        take(blocks, block);
    __real_free(block);
}

WRAPPED(void *, realloc, (void *block, size_t bytes))
{
    if (too_large(bytes))
        return NULL;
    if (running)
        take(blocks, block);
    return noted(__real_realloc(block, bytes), bytes);
}

WRAPPED(FILE *, fopen, (const char *path, const char *mode))
{
    FILE *file = __real_fopen(path, mode);
    put((void **)files, file);
    return file;
}

WRAPPED(FILE *, fdopen, (int descriptor, const char *mode))
{
    FILE *file = __real_fdopen(descriptor, mode);
    put((void **)files, file);
    return file;
}

WRAPPED(int, fclose, (FILE * file))
{
    if (running)
        take((void **)files, file);
    return __real_fclose(file);
}

WRAPPED(pid_t, fork, (void))
{
    if (!running)
        return __real_fork();
    errno = EAGAIN;
    return -1;
}

WRAPPED(int, execvp, (const char *file, char *const *arguments))
{
    if (!running)
        return __real_execvp(file, arguments);
    errno = ENOENT;
    return -1;
}

WRAPPED(int, nanosleep, (const struct timespec *time, struct timespec *left))
{
    return running ? 0 : __real_nanosleep(time, left);
}

WRAPPED(xgemm_status, xgemm_create, (xgemm_handle * *handle, int device))
{
    const xgemm_status status = __real_xgemm_create(handle, device);
    if (status == XGEMM_OK)
        put((void **)handles, *handle);
    return status;
}

WRAPPED(void, xgemm_destroy, (xgemm_handle * handle))
{
    take((void **)handles, handle);
    __real_xgemm_destroy(handle);
}

WRAPPED(xgemm_status, xgemm_gemm, (xgemm_handle * handle, const xgemm_product *product))
{
    spend_product(handle, product);
    return __real_xgemm_gemm(handle, product);
}

WRAPPED(xgemm_status, xgemm_gemm_plan,
        (xgemm_handle * handle, const xgemm_product *product, xgemm_plan *plan))
{
    spend(work_of_call);
    return __real_xgemm_gemm_plan(handle, product, plan);
}

WRAPPED(xgemm_status, xgemm_gemm_trace,
        (const char *kernel, const xgemm_product *product, int64_t most_blocks,
         const xgemm_device *device, xgemm_trace_report **report))
{
    spend(work_most / 10.0);
    spend_product(NULL, product);
    return __real_xgemm_gemm_trace(kernel, product, most_blocks, device, report);
}

/* It would start the compiler. */
WRAPPED(xgemm_status, xgemm_trace_source,
        (const xgemm_source_launch *launch, const xgemm_device *device,
         xgemm_source_report **report))
{
    spend(work_most + 1.0);
    return __real_xgemm_trace_source(launch, device, report);
}

WRAPPED(xgemm_status, xgemm_probe,
        (xgemm_handle * handle, const char *name, int64_t bytes, xgemm_probe_report **report))
{
    spend(work_most / 100.0 + (double)bytes * work_of_simulator);
    return __real_xgemm_probe(handle, name, bytes, report);
}

WRAPPED(xgemm_status, xgemm_malloc, (xgemm_handle * handle, size_t bytes, void **memory))
{
    if (too_large(bytes))
        end(UTILITY_STOPPED);
    return __real_xgemm_malloc(handle, bytes, memory);
}

/* ---- A run ---- */

static void give_back(void)
{
    for (int i = 0; i < KEPT_MOST; i++) {
        if (handles[i])
            __real_xgemm_destroy(handles[i]);
        if (files[i])
            __real_fclose(files[i]);
        __real_free(blocks[i]);
        handles[i] = NULL;
        files[i] = NULL;
        blocks[i] = NULL;
    }
    for (int descriptor = 0; descriptor < DESCRIPTORS; descriptor++)
        if (!open_before[descriptor])
            close(descriptor);
}

static FILE *emptied(FILE *file)
{
    clearerr(file);
    rewind(file);
    if (ftruncate(fileno(file), 0))
        abort();
    return file;
}

static void read_back(FILE *file, char *text)
{
    fflush(file);
    const ssize_t size = pread(fileno(file), text, TEXT_MOST - 1, 0);
    text[size > 0 ? size : 0] = '\0';
}

/* The two outputs are files without names; their descriptors, as ever, are for what is no stream.
 */
int utility_run(int argument_count, char **arguments, const char *standard_input,
                const char **output, const char **messages)
{
    static char output_text[TEXT_MOST], messages_text[TEXT_MOST];
    static FILE *out, *err;
    FILE *const before[] = {stdin, stdout, stderr};
    if (!out) {
        out = tmpfile();
        err = tmpfile();
    }
    const int inputs[] = {dup(STDIN_FILENO), open(standard_input, O_RDONLY)};
    const int kept = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
    FILE *in = __real_fopen(standard_input, "r");
    if (!out || !err || !in || inputs[0] < 0 || inputs[1] < 0 || kept < 0 || null < 0 ||
        dup2(inputs[1], STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
        abort();
    for (int i = 0; i < DESCRIPTORS; i++)
        open_before[i] = fcntl(i, F_GETFD) >= 0;
    stdin = in;
    stdout = emptied(out);
    stderr = emptied(err);
    optind = 0; /* getopt's and the utility's word for another command line */
    work_left = work_most;
    int status = setjmp(the_end);
    running = status == 0;
    status = status == 0 ? utility_main(argument_count, arguments) : status - 2;
    running = false;
    stdin = before[0], stdout = before[1], stderr = before[2];
    give_back();
    __real_fclose(in);
    dup2(inputs[0], STDIN_FILENO);
    dup2(kept, STDOUT_FILENO);
    close(inputs[0]), close(inputs[1]), close(kept), close(null);
    read_back(out, output_text);
    read_back(err, messages_text);
    *output = output_text;
    *messages = messages_text;
    return status;
}
