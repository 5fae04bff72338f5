/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles in several threads; on a GPU, calls that are captured into a graph.
 * Threads keep what went wrong to themselves; the main thread asserts.
 */
#include "support.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 4 };

/* ---- Threads ---- */

typedef struct {
    pthread_t thread;
    pthread_barrier_t *barrier;
    int device, number, rounds;
    char why[640]; /* "" when all went well */
} worker;

static void start(worker *w, void *(*body)(void *))
{
    ck_assert_int_eq(pthread_create(&w->thread, NULL, body, w), 0);
}

static void finish(worker *w)
{
    ck_assert_int_eq(pthread_join(w->thread, NULL), 0);
    ck_assert_msg(w->why[0] == '\0', "thread %d: %s", w->number, w->why);
}

static void run_workers(worker *workers, int count, void *(*body)(void *))
{
    pthread_barrier_t barrier;
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, (unsigned)count), 0);
    for (int i = 0; i < count; i++) {
        workers[i].barrier = &barrier;
        workers[i].number = i;
        start(&workers[i], body);
    }
    for (int i = 0; i < count; i++)
        finish(&workers[i]);
    pthread_barrier_destroy(&barrier);
}

static void complain(worker *w, const char *sentence)
{
    snprintf(w->why, sizeof w->why, "%s", sentence);
}

static bool one_product(worker *w, xgemm_handle *handle, generator *from)
{
    shape s = {.m = 1 + random_below(from, 70), .n = 1 + random_below(from, 70)};
    s.k = 1 + random_below(from, 50), s.gap_c = random_below(from, 3);
    s.alpha = 1.0f, s.beta = random_below(from, 2) ? -1.0f : 0.0f;
    set_layout(&s, random_below(from, LAYOUTS));
    product *p = product_new(handle, &s);
    product_fill(p, random_dyadic, from);
    const bool right = product_run(p) && product_agrees(p, EXACT);
    if (!right)
        complain(w, p->why);
    product_free(p);
    return right;
}

/* Many products with the device's kernels in turn. */
static void *multiply(void *argument)
{
    worker *w = argument;
    int indices[64];
    generator from = {(uint64_t)w->number};
    xgemm_kernel_info info = {.struct_size = sizeof info};
    xgemm_handle *handle;
    const int kernels = kernels_of(w->device, indices, COUNT(indices));
    bool right = xgemm_create(&handle, w->device) == XGEMM_OK;
    if (!right)
        complain(w, xgemm_last_error(NULL));
    pthread_barrier_wait(w->barrier);
    for (int i = 0; i < w->rounds && right; i++) {
        xgemm_kernel_get(indices[(i + w->number) % kernels], &info);
        right = xgemm_set_kernel(handle, info.name) == XGEMM_OK && one_product(w, handle, &from);
    }
    xgemm_destroy(handle);
    return NULL;
}

static int rounds(int count)
{
    const int scaled = count * test_effort() / 100;
    return scaled > 10 ? scaled : 10;
}

START_TEST(two_handles_on_one_device)
{
    worker workers[2] = {{.device = test_device(), .rounds = rounds(300)},
                         {.device = test_device(), .rounds = rounds(300)}};
    run_workers(workers, COUNT(workers), multiply);
}
END_TEST

START_TEST(handles_on_several_devices)
{
    worker workers[WORKERS] = {{.device = test_device(), .rounds = rounds(200)},
                               {.device = XGEMM_DEVICE_CPU, .rounds = rounds(1000)},
                               {.device = XGEMM_DEVICE_SIM, .rounds = rounds(100)},
                               {.device = XGEMM_DEVICE_CPU, .rounds = rounds(1000)}};
    run_workers(workers, COUNT(workers), multiply);
}
END_TEST

static void *come_and_go(void *argument)
{
    worker *w = argument;
    generator from = {(uint64_t)w->number};
    pthread_barrier_wait(w->barrier);
    for (int i = 0; i < w->rounds; i++) {
        xgemm_handle *handle;
        if (xgemm_create(&handle, w->device) != XGEMM_OK) {
            complain(w, xgemm_last_error(NULL));
            break;
        }
        const bool right = i % 4 != 0 || one_product(w, handle, &from);
        xgemm_destroy(handle);
        if (!right)
            break;
    }
    return NULL;
}

START_TEST(handles_come_and_go)
{
    worker workers[WORKERS] = {{.device = test_device(), .rounds = rounds(200)},
                               {.device = test_device(), .rounds = rounds(200)},
                               {.device = test_device(), .rounds = rounds(200)},
                               {.device = XGEMM_DEVICE_CPU, .rounds = rounds(200)}};
    run_workers(workers, COUNT(workers), come_and_go);
}
END_TEST

/* A handle may move from thread to thread, as long as one at a time uses it. */
typedef struct {
    worker worker;
    xgemm_handle *handle;
} traveller;

static void *use_and_destroy(void *argument)
{
    traveller *t = argument;
    generator from = {7};
    if (one_product(&t->worker, t->handle, &from))
        xgemm_destroy(t->handle);
    return NULL;
}

START_TEST(handle_changes_threads)
{
    for (int i = 0; i < test_kernels(); i++) {
        traveller t = {.handle = open_with_kernel(i)};
        generator from = {8};
        ck_assert_msg(one_product(&t.worker, t.handle, &from), "%s", t.worker.why);
        ck_assert_int_eq(pthread_create(&t.worker.thread, NULL, use_and_destroy, &t), 0);
        finish(&t.worker);
    }
}
END_TEST

/* ---- Sentences without a handle ---- */

static void *fail_alone(void *argument)
{
    worker *w = argument;
    xgemm_handle *handle;
    char part[32];
    if (*xgemm_last_error(NULL))
        complain(w, "a thread that has done nothing has an error");
    snprintf(part, sizeof part, "no device %d", -100 - w->number);
    for (int i = 0; i < w->rounds; i++) {
        pthread_barrier_wait(w->barrier);
        if (w->number > 0)
            xgemm_create(&handle, -100 - w->number);
        pthread_barrier_wait(w->barrier);
        const char *sentence = xgemm_last_error(NULL);
        if (w->number > 0 ? strstr(sentence, part) == NULL : *sentence != '\0')
            complain(w, sentence);
    }
    return NULL;
}

START_TEST(sentences_belong_to_threads)
{
    worker workers[WORKERS] = {{.rounds = 50}, {.rounds = 50}, {.rounds = 50}, {.rounds = 50}};
    ck_assert_int_eq(xgemm_synchronize(NULL), XGEMM_ERROR_NULL_POINTER);
    run_workers(workers, COUNT(workers), fail_alone);
    ck_assert_str_eq(xgemm_last_error(NULL), "xgemm_synchronize: handle is NULL");
}
END_TEST

/* ---- Graphs, on a GPU ---- */

/* What of the CUDA driver's interface is needed; 0 is success. */
typedef struct {
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream);
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_instantiate)(void **executable, void *graph, unsigned long long flags);
    int (*graph_launch)(void *executable, void *stream);
    int (*executable_destroy)(void *executable);
    int (*graph_destroy)(void *graph);
} driver;

enum { NON_BLOCKING = 1, CAPTURE_GLOBAL = 0 };

static driver load_driver(void)
{
    driver d;
    const struct {
        void *member;
        const char *symbol;
    } wanted[] = {{&d.stream_create, "cuStreamCreate"},
                  {&d.stream_destroy, "cuStreamDestroy_v2"},
                  {&d.stream_wait, "cuStreamSynchronize"},
                  {&d.capture_begin, "cuStreamBeginCapture_v2"},
                  {&d.capture_end, "cuStreamEndCapture"},
                  {&d.graph_instantiate, "cuGraphInstantiateWithFlags"},
                  {&d.graph_launch, "cuGraphLaunch"},
                  {&d.executable_destroy, "cuGraphExecDestroy"},
                  {&d.graph_destroy, "cuGraphDestroy"}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    ck_assert_msg(library != NULL, "libcuda.so.1 cannot be loaded");
    for (int i = 0; i < COUNT(wanted); i++) {
        void *address = dlsym(library, wanted[i].symbol);
        ck_assert_msg(address != NULL, "libcuda.so.1 has no %s", wanted[i].symbol);
        memcpy(wanted[i].member, &address, sizeof address);
    }
    return d;
}

static void assert_driver(int result, const char *function)
{
    ck_assert_msg(result == 0, "%s gives CUDA error %d", function, result);
}

static const float *address_of(const matrix *x)
{
    return x->memory + x->first;
}

static xgemm_status enqueue(const product *p)
{
    const shape *s = &p->shape;
    return xgemm_sgemm(p->handle, s->order, s->transa, s->transb, s->m, s->n, s->k, s->alpha,
                       address_of(&p->a), p->a.ld, address_of(&p->b), p->b.ld, s->beta,
                       p->c.memory + p->c.first, p->c.ld);
}

/* The call as a graph; nothing runs yet. */
static void *capture(const driver *d, const product *p, void *stream)
{
    void *graph = NULL, *executable = NULL;
    assert_driver(d->capture_begin(stream, CAPTURE_GLOBAL), "cuStreamBeginCapture");
    const xgemm_status status = enqueue(p);
    const int result = d->capture_end(stream, &graph);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(p->handle));
    assert_driver(result, "cuStreamEndCapture");
    ck_assert_ptr_nonnull(graph);
    assert_driver(d->graph_instantiate(&executable, graph, 0), "cuGraphInstantiateWithFlags");
    assert_driver(d->graph_destroy(graph), "cuGraphDestroy");
    return executable;
}

static void upload_all(const product *p)
{
    const matrix *matrices[] = {&p->a, &p->b, &p->c};
    for (int i = 0; i < COUNT(matrices); i++) {
        const matrix *x = matrices[i];
        ck_assert_msg(xgemm_upload(p->handle, x->memory, x->before, x->floats * sizeof(float)) ==
                          XGEMM_OK,
                      "%s", xgemm_last_error(p->handle));
    }
}

static void check_launch(const driver *d, product *p, void *executable, void *stream)
{
    upload_all(p);
    assert_driver(d->graph_launch(executable, stream), "cuGraphLaunch");
    assert_driver(d->stream_wait(stream), "cuStreamSynchronize");
    ck_assert_msg(xgemm_download(p->handle, p->c.after, p->c.memory, p->c.floats * sizeof(float)) ==
                      XGEMM_OK,
                  "%s", xgemm_last_error(p->handle));
    ck_assert_msg(product_agrees(p, EXACT), "%s", p->why);
}

typedef enum { FIRST_CALL, LATER_CALL, GIVEN_WORKSPACE } circumstance;

enum { WORKSPACE_BYTES = 1 << 20 };

/* Captured once, launched with three inputs; meanwhile the handle does other products. */
static void check_capture(int kernel, circumstance when)
{
    xgemm_handle *handle = open_with_kernel(kernel);
    const driver d = load_driver();
    const shape s = {XGEMM_COL_MAJOR, XGEMM_TRANS,   XGEMM_NO_TRANS, 131, 70, 45,
                     .alpha = 1.0f,   .beta = -1.0f, .gap_c = 1};
    shape larger = s;
    larger.m = 300;
    product *p = product_new(handle, &s);
    generator from = {1};
    void *stream, *workspace = NULL;

    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    assert_driver(d.stream_create(&stream, NON_BLOCKING), "cuStreamCreate");
    ck_assert_int_eq(xgemm_set_stream(handle, stream), XGEMM_OK);
    if (when == GIVEN_WORKSPACE) {
        ck_assert_int_eq(xgemm_malloc(handle, WORKSPACE_BYTES, &workspace), XGEMM_OK);
        ck_assert_int_eq(xgemm_set_workspace(handle, workspace, WORKSPACE_BYTES), XGEMM_OK);
    }
    product_fill(p, random_dyadic, &from);
    upload_all(p);
    if (when == LATER_CALL)
        product_check(p, EXACT);

    void *executable = capture(&d, p, stream);
    for (int i = 0; i < 3; i++) {
        product_fill(p, random_dyadic, &from);
        check_launch(&d, p, executable, stream);
        check_shape(handle, i == 1 ? &larger : &s, random_dyadic, EXACT, (uint64_t)i);
    }
    assert_driver(d.executable_destroy(executable), "cuGraphExecDestroy");
    product_free(p);
    xgemm_free(handle, workspace);
    ck_assert_int_eq(xgemm_set_stream(handle, NULL), XGEMM_OK);
    assert_driver(d.stream_destroy(stream), "cuStreamDestroy");
    xgemm_destroy(handle);
}

START_TEST(capture_as_the_first_call)
{
    check_capture(_i, FIRST_CALL);
}
END_TEST

START_TEST(capture_after_a_call)
{
    check_capture(_i, LATER_CALL);
}
END_TEST

START_TEST(capture_with_a_workspace)
{
    check_capture(_i, GIVEN_WORKSPACE);
}
END_TEST

/* alpha = 0: the kernel that scales, as the first call. */
START_TEST(capture_of_a_scaling)
{
    xgemm_handle *handle = open_handle(test_device());
    const driver d = load_driver();
    const shape s = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 33, 40, 0, .beta = -1.0f};
    product *p = product_new(handle, &s);
    generator from = {1};
    void *stream;
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    assert_driver(d.stream_create(&stream, NON_BLOCKING), "cuStreamCreate");
    ck_assert_int_eq(xgemm_set_stream(handle, stream), XGEMM_OK);
    void *executable = capture(&d, p, stream);
    for (int i = 0; i < 2; i++) {
        product_fill(p, random_dyadic, &from);
        check_launch(&d, p, executable, stream);
    }
    assert_driver(d.executable_destroy(executable), "cuGraphExecDestroy");
    product_free(p);
    xgemm_handle *other = open_handle(test_device()); /* the stream ends with the context */
    xgemm_destroy(handle);                            /* before the stream, which it still has */
    assert_driver(d.stream_destroy(stream), "cuStreamDestroy");
    xgemm_destroy(other);
}
END_TEST

static Suite *threads(void)
{
    Suite *suite = suite_create("threads");
    TCase *handles = add_case(suite, "handles");
    tcase_add_test(handles, two_handles_on_one_device);
    tcase_add_test(handles, handles_on_several_devices);
    tcase_add_test(handles, handles_come_and_go);
    tcase_add_test(handles, handle_changes_threads);
    tcase_add_test(handles, sentences_belong_to_threads);
    if (test_device() >= 0) {
        TCase *graphs = add_case(suite, "graphs");
        tcase_add_loop_test(graphs, capture_as_the_first_call, 0, test_kernels());
        tcase_add_loop_test(graphs, capture_after_a_call, 0, test_kernels());
        tcase_add_loop_test(graphs, capture_with_a_workspace, 0, test_kernels());
        tcase_add_test(graphs, capture_of_a_scaling);
    }
    return suite;
}

int main(void)
{
    return run_suite(threads());
}
