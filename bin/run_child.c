/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t child; /* 0: there is none */

/* Whether a process sent it, so that no other one than this has it. */
static bool is_sent(const siginfo_t *about)
{
    return about->si_code == SI_USER || about->si_code == SI_QUEUE || about->si_code == SI_TKILL;
}

static void forward(int number, const siginfo_t *about)
{
    if (child <= 0)
        return;
    if (about->si_code == SI_QUEUE)
        sigqueue(child, number, about->si_value);
    else
        kill(child, number);
}

/* Also an alarm that was set before this program began. */
static void take(int number, siginfo_t *about, void *context)
{
    (void)context;
    const int error = errno;
    forward(number, about);
    errno = error;
}

/* A terminal's keys: they reach the child as they reach this process. */
static void take_key(int number, siginfo_t *about, void *context)
{
    if (is_sent(about))
        take(number, about, context);
}

/* A fault: of this process it is the end. */
static void take_fault(int number, siginfo_t *about, void *context)
{
    if (is_sent(about) && about->si_pid != getpid()) {
        take(number, about, context);
        return;
    }
    signal(number, SIG_DFL);
    raise(number); /* as soon as the handler returns */
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *), sigset_t *handled)
{
    struct sigaction action = {.sa_flags = SA_RESTART | SA_SIGINFO};
    action.sa_sigaction = handler;
    sigaction(number, &action, NULL);
    sigaddset(handled, number);
}

/*
 * Every signal that would end this process, and SIGCONT. Also those that were ignored or blocked
 * when it began: it is for the program to say what it does with them.
 */
static void handle_all(sigset_t *handled)
{
    static const int keys[] = {SIGINT, SIGQUIT};
    static const int faults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    static const int others[] = {SIGHUP,    SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM,
                                 SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR,  SIGXCPU, SIGXFSZ,
#ifdef SIGSTKFLT
                                 SIGSTKFLT,
#endif
                                 SIGCONT};
    sigemptyset(handled);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        handle(keys[i], take_key, handled);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        handle(faults[i], take_fault, handled);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        handle(others[i], take, handled);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        handle(number, take, handled);
}

/* Signals are held while there is no child to give them to. */
int run_child(int (*become)(void *context), void *context)
{
    sigset_t held, handled, before;
    siginfo_t about;
    int status;
    sigfillset(&held);
    sigprocmask(SIG_BLOCK, &held, &before);
    child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(become(context));
    }
    handle_all(&handled);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigprocmask(SIG_UNBLOCK, &handled, NULL);
    /* Until it is no more to be signalled it stays, so that its number is nobody else's. */
    while (waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT) != 0)
        if (errno != EINTR)
            return -1;
    const pid_t ended = child;
    child = 0;
    while (waitpid(ended, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* The signal may be blocked here; a core file would say nothing. */
int run_end_like(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const struct rlimit none = {0, 0};
    sigset_t its;
    sigemptyset(&its);
    sigaddset(&its, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &its, NULL);
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}
