/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures: a status for the program and a whole sentence for the person. */
#ifndef XGEMM_LIB_ERROR_H
#define XGEMM_LIB_ERROR_H

#include <xgemm.h>

typedef struct {
    char text[1024];
} xg_error;

/* Keeps the sentence (cut if it is too long; NULL error: dropped) and gives back the status. */
xgemm_status xg_fail(xg_error *error, xgemm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Refuses a struct whose struct_size the caller did not set; type is its name. */
xgemm_status xg_size_check(size_t struct_size, const char *type, xg_error *error);

/* Puts "function: " before the sentence that is there, for a public function's last step. */
void xg_error_prefix(xg_error *error, const char *function);

/* The error of functions that have no handle to keep it; the calling thread's own. */
xg_error *xg_thread_error(void);

#endif
