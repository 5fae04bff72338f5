/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <errno.h>
#include <link.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    char *(*start)(const xg_hooks *);
    void (*entry)(const void *);
    int (*parameters)(xg_parameter *, int);
} loaded;

static const xg_child *child;
static bool has_begun; /* the kernel; before it static objects are constructed */
static const xg_trace *running;

#ifdef XGEMM_COVERAGE
void __gcov_dump(void);
#else
#define __gcov_dump()
#endif

/* Without what exit() does, which is the parent's. tests/coverage.sh counts the child, too. */
_Noreturn static void end_child(int status)
{
    __gcov_dump();
    _exit(status);
}

/* ---- What goes to the parent ---- */

static void send(const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        const ssize_t wrote = write(child->to, at, count);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            end_child(1);
        at += wrote;
        count -= (size_t)wrote;
    }
}

static void send_result(const xg_run_result *result)
{
    send(result, sizeof *result);
    send(result->sites, (size_t)result->site_count * sizeof *result->sites);
    send(result->faults, (size_t)result->fault_count * sizeof *result->faults);
    send(result->steps, (size_t)result->step_count * sizeof *result->steps);
}

_Noreturn static void send_failure(xgemm_status status, const char *text)
{
    xg_run_result result = {.status = status};
    snprintf(result.text, sizeof result.text, "%s", text);
    send_result(&result);
    end_child(0);
}

/* ---- Signals: a crash, or no end ---- */

/* A fault that ends the kernel, at the line that it came by last. */
static void stopped(int signal)
{
    static xg_source_fault faults[XG_FAULTS_MOST + 1], fault;
    const int site = xg_trace_last_site();
    const int line = site >= 0 ? child->compiled->sites.sites[site].line : 0;
    xg_run_result result = {.faults = faults};
    fault = (xg_source_fault){
        .kind = XG_FAULT_LAUNCH, .line = line, .site = site, .other_site = -1, .count = 1};
    if (!has_begun)
        snprintf(fault.text, sizeof fault.text,
                 "%s before kernel %s began: in the constructor of a static object",
                 signal == SIGALRM ? "no end" : "a crash", child->compiled->kernel);
    else if (signal == SIGALRM)
        snprintf(fault.text, sizeof fault.text,
                 "kernel %s did not end within %d seconds; %s was at line %d last",
                 child->compiled->kernel, child->seconds, xg_trace_thread_text(), line);
    else
        snprintf(fault.text, sizeof fault.text, "kernel %s crashed (%s) after line %d, %s",
                 child->compiled->kernel,
                 signal == SIGFPE    ? "integer division by zero"
                 : signal == SIGABRT ? "abort"
                 : signal == SIGILL  ? "illegal instruction"
                                     : "invalid address, or its stack is too large",
                 line, xg_trace_thread_text());
    if (has_begun) {
        const xg_source_fault *before = xg_trace_faults(running, &result.fault_count);
        memcpy(faults, before, (size_t)result.fault_count * sizeof *faults);
    }
    faults[result.fault_count++] = fault;
    send_result(&result);
    end_child(0);
}

static void set_signals(void)
{
    static char stack[65536];
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = stopped, .sa_flags = SA_ONSTACK};
    sigset_t none;
    sigaltstack(&other, NULL);
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_timer(void)
{
    const struct itimerval timer = {.it_value.tv_sec = child->seconds};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* So much more memory than the process has now, and no processes. */
static void set_limits(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    const bool known = file && fscanf(file, "%ld", &pages) == 1;
    if (file)
        fclose(file);
    /* Twice 128 MiB around each array, and stacks, are addresses without memory. */
    const rlim_t addresses = (rlim_t)2 << 27, gaps = addresses * XG_PARAMETERS_MOST;
    const rlim_t limit =
        (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)child->memory_bytes + gaps;
    const struct rlimit memory = {limit, limit}, none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_NPROC, &none);
    if (known)
        setrlimit(RLIMIT_AS, &memory);
}

/*
 * Standard output is for the messages; nobody is asked for input. What the parent has not written
 * yet is the parent's to write, and what the kernel prints is written line by line: it may crash.
 */
static void set_files(void)
{
    const int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(child->launch->messages > 0 ? child->launch->messages : null, 1);
    __fpurge(stdout);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

/* ---- The kernel's arguments ---- */

/*
 * The argument as the parameter, of an integer type, takes it; false: the type has no such number.
 * In a type without sign a number below 0 is what it is in C, if the signed type has it.
 */
static bool integer_of(const xg_parameter *parameter, const xg_argument *a, long long *integer)
{
    const bool is_real = a->type->kind != 'i' && a->type->kind != 'u';
    if (is_real && (a->value != floor(a->value) || fabs(a->value) >= 0x1p64))
        return false;
    const bool below = is_real ? a->value < 0.0 : a->type->kind == 'i' && a->integer < 0;
    const unsigned long long size = is_real ? (unsigned long long)fabs(a->value)
                                    : below ? 0ull - (unsigned long long)a->integer
                                            : (unsigned long long)a->integer;
    const unsigned long long half = 1ull << (8 * parameter->bytes - 1);
    *integer = (long long)(below ? 0ull - size : size);
    return size <= (below ? half : parameter->kind == 'u' ? half - 1 + half : half - 1);
}

/* Whether the parameter has the number. */
static bool number_fits(const xg_parameter *parameter, const xg_argument *a, char *why, size_t size)
{
    const bool is_real = parameter->kind == 'f';
    long long integer;
    char number[40];
    if (is_real ? parameter->bytes > 4 || isinf(a->value) || !isinf((float)a->value)
                : integer_of(parameter, a, &integer))
        return true;
    if (a->type->kind == 'i' || a->type->kind == 'u')
        snprintf(number, sizeof number, a->type->kind == 'i' ? "%lld" : "%llu", a->integer);
    else
        snprintf(number, sizeof number, "%.9g", a->value);
    snprintf(why, size, "the parameter %s takes %s of %d bytes, of which %s is none", a->name,
             is_real                  ? "floating-point numbers"
             : parameter->kind == 'u' ? "whole numbers without a sign"
                                      : "whole numbers",
             parameter->bytes, number);
    return false;
}

/* Whether the argument is what the parameter takes. */
static bool fits(const xg_parameter *parameter, const xg_argument *a, char *why, size_t size)
{
    const bool array = a->count >= 0;
    if (array != (parameter->kind == 'p')) {
        snprintf(why, size, "the parameter %s is %s, and its argument %s", a->name,
                 array ? "a number" : "a pointer", array ? "an array" : "a number");
        return false;
    }
    const bool whole = parameter->bytes > 0 && a->type->bytes > parameter->bytes;
    const bool element = parameter->element != 'v' && a->type->bytes != parameter->bytes;
    if (array && (whole || element)) {
        snprintf(why, size,
                 "the parameter %s points to elements of %d bytes, and its argument "
                 "has elements of %d (%s)",
                 a->name, parameter->bytes, a->type->bytes, a->type->name);
        return false;
    }
    return array || number_fits(parameter, a, why, size);
}

static void take_values(const loaded *code, xg_value *values)
{
    xg_parameter parameters[XG_PARAMETERS_MOST];
    xg_arguments *arguments = child->arguments;
    char why[400];
    const int count = code->parameters(parameters, XG_PARAMETERS_MOST);
    if (count != arguments->count) {
        snprintf(why, sizeof why, "kernel %s has %d parameters, and %d arguments are given",
                 child->compiled->kernel, count, arguments->count);
        send_failure(XGEMM_ERROR_INVALID_VALUE, why);
    }
    for (int i = 0; i < count; i++) {
        const xg_argument *a = &arguments->all[i];
        if (!fits(&parameters[i], a, why, sizeof why))
            send_failure(XGEMM_ERROR_INVALID_VALUE, why);
        if (a->count >= 0)
            values[i].pointer = a->base;
        else if (parameters[i].kind == 'f')
            values[i].real = a->value;
        else
            integer_of(&parameters[i], a, &values[i].integer);
    }
}

/* The gaps between arrays leave the limit of addresses too high for them. */
static void check_arrays(void)
{
    const double mebibyte = 0x1p20;
    const int64_t bytes = xg_arguments_bytes(child->arguments);
    char text[160];
    if (bytes <= child->memory_bytes)
        return;
    snprintf(text, sizeof text, "the kernel's arrays take %.1f MiB; it may have %.1f",
             (double)bytes / mebibyte, (double)child->memory_bytes / mebibyte);
    send_failure(XGEMM_ERROR_OUT_OF_MEMORY, text);
}

/* ---- The kernel's memory ---- */

static int add_arguments(xg_source_array *to)
{
    int count = 0;
    for (int i = 0; i < child->arguments->count; i++) {
        const xg_argument *a = &child->arguments->all[i];
        if (a->count >= 0)
            to[count++] = (xg_source_array){.name = a->name,
                                            .base = a->base,
                                            .bytes = a->count * a->type->bytes,
                                            .element_bytes = a->type->bytes,
                                            .undefined = a->init == XG_INIT_UNDEFINED};
    }
    return count;
}

static int add_objects(xg_source_array *to, char *image, char *dynamic)
{
    const xg_image *from = child->image;
    int count = 0;
    for (int i = 0; i < from->count; i++) {
        const xg_image_object *o = &from->objects[i];
        to[count++] =
            (xg_source_array){.name = o->name,
                              .base = o->is_local ? dynamic - from->dynamic + o->at : image + o->at,
                              .bytes = (int64_t)o->bytes,
                              .space = o->is_local      ? XG_SHARED_MEMORY
                                       : o->is_constant ? XG_CONSTANT_MEMORY
                                                        : XG_GLOBAL_MEMORY};
    }
    to[count++] = (xg_source_array){.name = from->dynamic_name ? from->dynamic_name : "dynamic",
                                    .base = dynamic,
                                    .bytes = child->launch->shared_bytes,
                                    .space = XG_SHARED_MEMORY};
    return count;
}

static xg_source_site *code_sites(void)
{
    const xg_code_sites *from = &child->compiled->sites;
    xg_source_site *to = calloc((size_t)from->count + 1, sizeof *to);
    for (int i = 0; to && i < from->count; i++) {
        const xg_code_site *s = &from->sites[i];
        const char *file = s->line > 0 ? from->files[s->file] : "";
        const char *slash = strrchr(file, '/');
        to[i] = (xg_source_site){.file = slash ? slash + 1 : file,
                                 .line = s->line,
                                 .text = child->compiled->texts[i],
                                 .flops = s->flops,
                                 .flops64 = s->flops64,
                                 .function = s->function,
                                 .loop_end = s->loop_end,
                                 .instructions = s->instructions};
    }
    return to;
}

static loaded load(char **image)
{
    struct link_map *map;
    void *object = dlopen(child->compiled->object, RTLD_LAZY | RTLD_LOCAL);
    const char *why = object ? NULL : dlerror();
    if (why && strstr(why, "failed to map"))
        send_failure(XGEMM_ERROR_OUT_OF_MEMORY, "the file's variables take more than its memory");
    if (!object)
        send_failure(XGEMM_ERROR_INVALID_VALUE, why ? why : "the compiled kernel cannot be loaded");
    loaded code;
    *(void **)&code.start = dlsym(object, "xg_start");
    *(void **)&code.entry = dlsym(object, "xg_entry");
    *(void **)&code.parameters = dlsym(object, "xg_parameters");
    if (!code.start || !code.entry || !code.parameters || dlinfo(object, RTLD_DI_LINKMAP, &map))
        send_failure(XGEMM_ERROR_NOT_SUPPORTED, "the compiled kernel is not complete");
    *image = (char *)map->l_addr;
    return code;
}

/* ---- The launch ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned at_least_one(unsigned size)
{
    return size ? size : 1;
}

static xgemm_status launch_it(const loaded *code, const xg_value *values, xg_trace *trace,
                              xg_error *error)
{
    char symbol[XG_NAME_MOST + 4];
    const xgemm_source_launch *l = child->launch;
    snprintf(symbol, sizeof symbol, "xg_%s", child->compiled->kernel);
    const xg_program program = {.symbol = symbol, .traced = code->entry};
    xg_launch what = {.program = &program, .shared_bytes = l->shared_bytes, .arguments = values};
    const xg_sim_options options = {.trace = trace, .most_blocks = child->most_blocks};
    for (int d = 0; d < 3; d++) {
        what.grid[d] = at_least_one(l->grid[d]);
        what.block[d] = at_least_one(l->block[d]);
    }
    return xg_sim_launch(&what, &options, error);
}

static void send_trace(xg_trace *trace, const xg_source *source, xg_run_result *result)
{
    /* Other kernels of the file have arrays too; the dynamic memory is the last. */
    for (int i = 0; i < source->array_count - 1; i++)
        if (source->arrays[i].space == XG_SHARED_MEMORY && xg_trace_is_used(trace, i))
            result->static_shared_bytes += (int)source->arrays[i].bytes;
    result->totals = *xg_trace_get_totals(trace);
    result->faults = (xg_source_fault *)xg_trace_faults(trace, &result->fault_count);
    result->sites = (xg_trace_site *)xg_trace_sites(trace, &result->site_count);
    result->step_count = child->compiled->sites.count;
    result->steps = calloc((size_t)result->step_count + 1, sizeof *result->steps);
    if (!result->steps)
        send_failure(XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the kernel's trace");
    for (int i = 0; i < result->step_count; i++)
        result->steps[i].steps = xg_trace_steps(trace, i, &result->steps[i].lanes);
    xg_trace_touched_bytes(trace, &result->bytes_read, &result->bytes_written);
    send_result(result);
}

/* A launch that failed, other than by a fault that is noted already, has one more. */
static void note_failure(xg_trace *trace, const char *text)
{
    int count;
    const xg_source_fault *faults = xg_trace_faults(trace, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(faults[i].text, text) == 0)
            return;
    xg_trace_add_fault(trace, text);
}

void xg_child_main(const xg_child *told)
{
    char *image;
    xg_value values[XG_PARAMETERS_MOST] = {{NULL}};
    xg_run_result result = {.status = XGEMM_OK};
    xg_error error = {""};
    child = told;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the parent, it ends what nobody waits for */
    set_files();
    set_limits();
    set_signals();
    set_timer();
    const loaded code = load(&image);
    check_arrays();
    if (!xg_arguments_fill(child->arguments))
        send_failure(XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the kernel's arguments");
    for (int i = 0; i < child->arguments->variable_count; i++) {
        const xg_argument *variable = &child->arguments->variables[i];
        xg_argument_fill(variable, image + xg_image_variable(child->image, variable->name)->at);
    }
    take_values(&code, values);
    char *dynamic = code.start(xg_sim_hooks());
    xg_source_array *arrays =
        calloc((size_t)(child->image->count + XG_PARAMETERS_MOST + 2), sizeof *arrays);
    xg_source_site *sites = code_sites();
    if (!arrays || !sites)
        send_failure(XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the kernel's trace");
    int count = add_arguments(arrays);
    count += add_objects(arrays + count, image, dynamic);
    const xg_source source = {.sites = sites,
                              .site_count = child->compiled->sites.count,
                              .arrays = arrays,
                              .array_count = count,
                              .image = image,
                              .image_bytes = (int64_t)child->image->image_bytes};
    xg_trace *trace = xg_trace_new_of_source(&source);
    if (!trace)
        send_failure(XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the kernel's trace");
    set_timer();
    running = trace;
    has_begun = true;
    const double begin = now();
    const xgemm_status status = launch_it(&code, values, trace, &error);
    result.seconds = now() - begin;
    if (status && xg_trace_get_totals(trace)->blocks == 0)
        send_failure(status, error.text);
    if (status == XGEMM_ERROR_OUT_OF_MEMORY)
        send_failure(status, error.text);
    if (status)
        note_failure(trace, error.text);
    result.ended = status == XGEMM_OK;
    send_trace(trace, &source, &result);
    fflush(stdout);
    end_child(0);
}
