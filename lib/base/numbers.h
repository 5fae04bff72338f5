/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as C writes them, whatever the program's locale is: printf() and strtod() follow it. */
#ifndef XGEMM_LIB_NUMBERS_H
#define XGEMM_LIB_NUMBERS_H

#include <locale.h>

/* The calling thread's numbers have a decimal point until the end, with what this returns. */
locale_t xg_numbers_begin(void);
void xg_numbers_end(locale_t before);

#endif
