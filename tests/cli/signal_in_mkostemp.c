/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded by multiply.sh: the signal whose number SIGNAL_IN_MKOSTEMP is comes once the first
 * temporary file is made and before the program knows its name, and reaches another thread, as with
 * a BLAS that has threads.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int number;

/* What started the tests may have it ignored; a core file would say nothing. */
__attribute__((constructor)) static void begin(void)
{
    const struct rlimit none = {0, 0};
    const char *named = getenv("SIGNAL_IN_MKOSTEMP");
    number = named ? atoi(named) : 0;
    signal(number, SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
}

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
    pthread_kill(thread, number);
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
