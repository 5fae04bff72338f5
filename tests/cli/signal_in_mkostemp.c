/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded by multiply.sh: SIGTERM comes once the first temporary file is made and before the
 * program knows its name, and reaches another thread, as with a BLAS that has threads.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *rest(void *unused)
{
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    for (;;)
        pause();
    return unused;
}

static int make(const char *function, char *name, int flags)
{
    int (*next)(char *, int);
    pthread_t thread;
    *(void **)&next = dlsym(RTLD_NEXT, function);
    if (pthread_create(&thread, NULL, rest, NULL) != 0)
        return -1;
    const int descriptor = next(name, flags);
    pthread_kill(thread, SIGTERM);
    usleep(100000);
    return descriptor;
}

int mkostemp(char *name, int flags)
{
    return make("mkostemp", name, flags);
}

int mkostemp64(char *name, int flags)
{
    return make("mkostemp64", name, flags);
}
