/* SPDX-License-Identifier: BSD-3-Clause */
/* The launch's arguments: "a=float[1024x1024]:random" to memory and what it holds. */
#ifndef XGEMM_SOURCE_ARGUMENTS_H
#define XGEMM_SOURCE_ARGUMENTS_H

#include "scan.h"

#include <stdint.h>

/* How an element is stored: 'i', 'u' of so many bytes, 'f' (FP32, FP64), 'h' FP16, 'b' BF16. */
typedef struct {
    const char *name;
    char kind;
    int bytes;
} xg_element_type;

typedef enum { XG_INIT_VALUE, XG_INIT_RANDOM, XG_INIT_INDEX, XG_INIT_UNDEFINED } xg_init;

typedef struct {
    char name[XG_NAME_MOST];
    const xg_element_type *type;
    int64_t count; /* elements of an array; -1: a number */
    xg_init init;
    double value;      /* of a number, of all elements */
    long long integer; /* the same of an integer */
    double low, high;  /* of random */
    bool has_range;
    char *base; /* an array's memory */
} xg_argument;

enum { XG_VARIABLES_MOST = 16 };

typedef struct {
    xg_argument all[XG_PARAMETERS_MOST]; /* by parameter */
    int count;
    xg_argument variables[XG_VARIABLES_MOST]; /* what is no parameter: of the device */
    int variable_count;
} xg_arguments;

/* Parses the launch's arguments and puts them in the order of the kernel's parameters. */
xgemm_status xg_arguments_parse(const xgemm_source_launch *launch, const xg_source_kernel *kernel,
                                xg_arguments *arguments, xg_error *error);

/* "kernel K has no parameter N; it has ...". */
xgemm_status xg_no_such_parameter(const xg_source_kernel *kernel, const char *name,
                                  xg_error *error);

/* The arrays' bytes together. */
int64_t xg_arguments_bytes(const xg_arguments *arguments);

/* What a variable of the device holds, at its address. */
void xg_argument_fill(const xg_argument *variable, char *at);

/* Memory for every array, far from the others, with what it holds. False: out of memory. */
bool xg_arguments_fill(xg_arguments *arguments);

#endif
