/* SPDX-License-Identifier: BSD-3-Clause */
#include "interrupt.h"

#include "replacement.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t noted;

static void note(int number)
{
    if (noted)
        replacement_end(number);
    noted = 1;
}

void interrupt_watch(void)
{
    /* Without SA_RESTART, so that a rest before a sample ends too. */
    const struct sigaction ours = {.sa_handler = note};
    struct sigaction before;
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGINT, &ours, NULL);
}

bool interrupted(void)
{
    return noted != 0;
}

void interrupt_end(void)
{
    if (!noted)
        return;
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
}
