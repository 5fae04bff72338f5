/* SPDX-License-Identifier: BSD-3-Clause */
#include "translation.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct xg_cu_translation {
    const xg_cu *driver;
    xg_cu_context context;
    const void *ptx;
    pthread_t thread;
    pid_t process; /* that the thread is of: a child has none of its parent's */
    xg_cu_library library;
    xg_cu_result failed;
    const char *what; /* that function of the driver */
    bool has_ended;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all translations */
static pthread_cond_t one_ended = PTHREAD_COND_INITIALIZER;

void xg_cu_translation_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&one_ended, NULL);
}

static void *translate(void *argument)
{
    xg_cu_translation *const of = argument;
    const xg_cu *const driver = of->driver;
    xg_cu_library library = NULL;
    xg_cu_context popped;
    const char *what = "cuCtxPushCurrent";
    xg_cu_result failed = driver->context_push(of->context);
    if (!failed) {
        what = "cuLibraryLoadData";
        const unsigned mode = xg_cu_relax_capture(driver);
        failed = driver->library_load(&library, of->ptx, NULL, NULL, 0, NULL, NULL, 0);
        xg_cu_restore_capture(driver, mode);
        driver->context_pop(&popped);
    }
    pthread_mutex_lock(&lock);
    of->library = library;
    of->failed = failed;
    of->what = what;
    of->has_ended = true;
    pthread_cond_broadcast(&one_ended);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* A thread that takes no signals; false: there is none to be had. */
static bool start_thread(xg_cu_translation *of)
{
    enum { STACK_BYTES = 8 << 20 }; /* the driver's compiler may take more than a small default */
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return false;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&of->thread, &attributes, translate, of) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

static xg_cu_translation *start(const xg_cu *driver, xg_cu_context context, const void *ptx)
{
    xg_cu_translation *const of = calloc(1, sizeof *of);
    if (!of)
        return NULL;
    of->driver = driver;
    of->context = context;
    of->ptx = ptx;
    of->process = getpid();
    if (start_thread(of))
        return of;
    free(of);
    return NULL;
}

bool xg_cu_translation_begin(xg_cu_translation **place, const xg_cu *driver, xg_cu_context context,
                             const void *ptx)
{
    if (!driver->library_load || !driver->library_module || !driver->library_unload)
        return false;
    pthread_mutex_lock(&lock);
    const bool is_free = !*place;
    if (is_free)
        *place = start(driver, context, ptx);
    const bool begins = is_free && *place;
    pthread_mutex_unlock(&lock);
    return begins;
}

/* With the lock: whether one is under way in this process. */
static bool is_under_way(const xg_cu_translation *of)
{
    return of && !of->has_ended && of->process == getpid();
}

static struct timespec in(int milliseconds)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += milliseconds / 1000;
    at.tv_nsec += milliseconds % 1000 * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_nsec -= 1000000000L;
        at.tv_sec++;
    }
    return at;
}

bool xg_cu_translation_wait(xg_cu_translation *const *place, int milliseconds)
{
    const struct timespec until = in(milliseconds < 0 ? 0 : milliseconds);
    int late = 0;
    pthread_mutex_lock(&lock);
    while (is_under_way(*place) && late != ETIMEDOUT)
        late = milliseconds < 0 ? pthread_cond_wait(&one_ended, &lock)
                                : pthread_cond_timedwait(&one_ended, &lock, &until);
    const bool has_ended = !is_under_way(*place);
    pthread_mutex_unlock(&lock);
    return has_ended;
}

/* The translation that has ended, which is the caller's then; NULL: there is none. */
static xg_cu_translation *take(xg_cu_translation **place)
{
    xg_cu_translation *of = NULL;
    pthread_mutex_lock(&lock);
    if (*place && (*place)->has_ended) {
        of = *place;
        *place = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (of && of->process == getpid())
        pthread_join(of->thread, NULL);
    return of;
}

bool xg_cu_translation_take(xg_cu_translation **place, xg_cu_translated *out)
{
    xg_cu_translation *const of = take(place);
    if (!of)
        return false;
    *out = (xg_cu_translated){of->library, NULL, of->failed, of->what};
    if (!out->failed) {
        out->what = "cuLibraryGetModule";
        out->failed = of->driver->library_module(&out->module, out->library);
        if (out->failed)
            of->driver->library_unload(out->library);
    }
    free(of);
    return true;
}

void xg_cu_translation_end(xg_cu_translation **place)
{
    xg_cu_translation_wait(place, -1);
    xg_cu_translation *const of = take(place);
    if (of && of->library)
        of->driver->library_unload(of->library);
    free(of);
}
