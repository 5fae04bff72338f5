/* SPDX-License-Identifier: BSD-3-Clause */
#include "numbers.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t c_locale; /* 0: there is no memory for it */

static void make_locale(void)
{
    c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

__attribute__((destructor)) static void unload(void)
{
    if (c_locale)
        freelocale(c_locale);
    c_locale = (locale_t)0;
}

locale_t xg_numbers_begin(void)
{
    pthread_once(&once, make_locale);
    return c_locale ? uselocale(c_locale) : (locale_t)0;
}

void xg_numbers_end(locale_t before)
{
    if (before)
        uselocale(before);
}
