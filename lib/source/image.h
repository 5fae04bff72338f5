/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects in a loaded kernel's file: arrays in shared memory, and variables. */
#ifndef XGEMM_SOURCE_IMAGE_H
#define XGEMM_SOURCE_IMAGE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    char *name;  /* as in the source: "tile" */
    uint64_t at; /* from the beginning of the file's thread-local memory, or of its image */
    uint64_t bytes;
    bool is_local;    /* thread-local: shared memory */
    bool is_constant; /* __constant__ */
} xg_image_object;

typedef struct {
    xg_image_object *objects;
    int count;
    char *dynamic_name;   /* its name in the source, if that is one; else NULL */
    uint64_t dynamic;     /* where the dynamic shared memory begins */
    uint64_t image_bytes; /* of the file when it is loaded */
} xg_image;

xgemm_status xg_image_read(const char *path, xg_image *image, xg_error *error);
/* The variable of the device of that name; NULL: there is none. */
const xg_image_object *xg_image_variable(const xg_image *image, const char *name);
void xg_image_free(xg_image *image);

#endif
