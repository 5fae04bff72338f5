/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of CUDA C++ made ready for a C++ compiler: what C++ lacks (launches) goes, line by line;
 * what the simulator lacks is refused with its line; and which kernels there are. The same for
 * headers beside it, of which much may not be used: there nothing is refused.
 */
#ifndef XGEMM_SOURCE_SCAN_H
#define XGEMM_SOURCE_SCAN_H

#include "base/error.h"
#include "lex.h"
#include "text.h"

enum { XG_PARAMETERS_MOST = 32, XG_KERNELS_MOST = 64, XG_HEADERS_MOST = 32 };

typedef struct {
    char name[XG_NAME_MOST];
    char space[XG_NAME_MOST]; /* the namespaces that it is in: "outer::inner::" */
    int line;                 /* 0: in a header */
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
    bool has_others; /* by macros, or from headers elsewhere: of them nothing is known */
    struct {
        char *path;
        xg_text text;
    } headers[XG_HEADERS_MOST]; /* beside the file: included by XG_HEADER_NAME and their number */
    int header_count;
} xg_scan;

#define XG_HEADER_NAME "xgemm-header-"

/* Scans the file; its text is read, or given (NULL: it is not). The result is to be freed, also
 * after a failure. */
xgemm_status xg_scan_file(const char *path, const char *text, xg_scan *scan, xg_error *error);
void xg_scan_free(xg_scan *scan);

/* Fills in where the lines begin; false: no memory. */
bool xg_scan_find_lines(xg_scan *scan);

/* A line's text, without the white space around it, to be freed; NULL: out of memory. */
char *xg_scan_line(const xg_scan *scan, int line);

#endif
