/* SPDX-License-Identifier: BSD-3-Clause */
#include "order.h"

#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

/* known[t * threads + o]: thread t knows thread o up to this moment; its own is now. */
static uint32_t *known;
static int threads;
static uint32_t together[XG_SIM_THREADS_MAX];

bool xg_order_begin(int count)
{
    xg_order_end();
    known = calloc((size_t)count * (size_t)count, sizeof *known);
    threads = known ? count : 0;
    for (int thread = 0; thread < threads; thread++)
        known[(size_t)thread * (size_t)threads + (size_t)thread] = 1;
    return known != NULL;
}

void xg_order_end(void)
{
    free(known);
    known = NULL;
    threads = 0;
}

bool xg_order_is_kept(void)
{
    return known != NULL;
}

static uint32_t *row(int thread)
{
    return known + (size_t)thread * (size_t)threads;
}

uint32_t xg_order_moment(int thread)
{
    return known ? row(thread)[thread] : 0;
}

bool xg_order_came_before(int other, uint32_t moment, int thread)
{
    return other == thread || row(thread)[other] >= moment;
}

static void take_later(uint32_t *to, const uint32_t *from)
{
    for (int i = 0; i < threads; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static bool make_room(xg_order_news *news)
{
    if (!*news)
        *news = calloc(XG_SIM_THREADS_MAX, sizeof **news);
    return *news != NULL;
}

bool xg_order_pass_on(int thread, xg_order_news *news)
{
    if (!known)
        return true;
    if (!make_room(news))
        return false;
    take_later(*news, row(thread));
    row(thread)[thread]++;
    return true;
}

bool xg_order_pass_on_moment(int thread, uint32_t moment, xg_order_news *news)
{
    if (!known)
        return true;
    if (!make_room(news))
        return false;
    if ((*news)[thread] < moment)
        (*news)[thread] = moment;
    if (row(thread)[thread] == moment)
        row(thread)[thread]++;
    return true;
}

bool xg_order_keep(xg_order_news from, xg_order_news *to)
{
    if (!known || !from)
        return true;
    if (!make_room(to))
        return false;
    memcpy(*to, from, (size_t)threads * sizeof *from);
    return true;
}

void xg_order_learn(int thread, xg_order_news news)
{
    if (known && news)
        take_later(row(thread), news);
}

void xg_order_meet(int first, int count, uint32_t mask)
{
    if (!known)
        return;
    memset(together, 0, (size_t)threads * sizeof *together);
    for (int i = 0; i < count; i++)
        if (!mask || mask >> i & 1)
            take_later(together, row(first + i));
    for (int i = 0; i < count; i++)
        if (!mask || mask >> i & 1) {
            memcpy(row(first + i), together, (size_t)threads * sizeof *together);
            row(first + i)[first + i]++;
        }
}
