/* SPDX-License-Identifier: BSD-3-Clause */
#include "interrupt.h"

#include "host_clock.h"
#include "options.h"
#include "replacement.h"

#include <signal.h>
#include <stddef.h>

enum { SAME_TIME_US = 100000 };

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static volatile sig_atomic_t noted; /* the first signal */
static volatile double noted_us;    /* when */

static void note(int number)
{
    if (noted && now_us() - noted_us > SAME_TIME_US)
        replacement_end(number);
    if (noted)
        return;
    noted_us = now_us();
    noted = number;
}

void interrupt_watch(void)
{
    /* What is being written goes on; a rest before a sample ends in any case. */
    struct sigaction before, ours = {.sa_handler = note, .sa_flags = SA_RESTART};
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&ours.sa_mask, signals[i]);
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
}

bool interrupted(void)
{
    return noted != 0;
}

int interrupt_end(int status)
{
    if (!noted)
        return status;
    status = close_output(status);
    signal(noted, SIG_DFL);
    raise(noted);
    return status;
}
