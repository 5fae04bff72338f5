/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of CUDA C++ made ready for a C++ compiler: what C++ lacks (launches) goes, line by line;
 * what the simulator lacks is refused with its line; and which kernels there are.
 */
#ifndef XGEMM_SOURCE_SCAN_H
#define XGEMM_SOURCE_SCAN_H

#include "base/error.h"
#include "text.h"

enum { XG_NAME_MOST = 128, XG_PARAMETERS_MOST = 32, XG_KERNELS_MOST = 64 };

typedef struct {
    char name[XG_NAME_MOST];
    char space[XG_NAME_MOST]; /* the namespaces that it is in: "outer::inner::" */
    int line;
    bool is_template;
    int parameter_count; /* -1: they could not be told apart */
    char parameters[XG_PARAMETERS_MOST][XG_NAME_MOST];
} xg_source_kernel;

typedef struct {
    xg_text text;     /* for the compiler */
    int *line_starts; /* of the file as it was, by line from 1: offsets into original */
    xg_text original;
    int line_count;
    int kernel_count;
    xg_source_kernel kernels[XG_KERNELS_MOST];
    bool has_others; /* from headers and macros, of which nothing is known */
} xg_scan;

/* Reads and scans the file. The result is to be freed, also after a failure. */
xgemm_status xg_scan_file(const char *path, xg_scan *scan, xg_error *error);
void xg_scan_free(xg_scan *scan);

/* A line's text, without the white space around it, to be freed; NULL: out of memory. */
char *xg_scan_line(const xg_scan *scan, int line);

#endif
