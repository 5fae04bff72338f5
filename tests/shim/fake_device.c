/* SPDX-License-Identifier: BSD-3-Clause */
/* What the drop-in calls of the driver itself, for dropins.sh; the fake one's memory is the host's.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int cuCtxGetDevice(int *ordinal);
int cuCtxGetDevice(int *ordinal)
{
    *ordinal = 0;
    return 0;
}

/* CUDA_MEMCPY2D. */
typedef struct {
    size_t source_x, source_y;
    int source_type;
    const void *source_host;
    uint64_t source;
    void *source_array;
    size_t source_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    uint64_t to;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} copy_2d;

enum { MEMORY_OF_DEVICE = 2, INVALID_VALUE = 1 };

int cuMemcpy2DAsync_v2(const copy_2d *of, void *stream);
int cuMemcpy2DAsync_v2(const copy_2d *of, void *stream)
{
    (void)stream;
    if (of->source_type != MEMORY_OF_DEVICE || of->to_type != MEMORY_OF_DEVICE || of->source_x ||
        of->source_y || of->to_x || of->to_y || of->source_pitch < of->width ||
        of->to_pitch < of->width)
        return INVALID_VALUE;
    for (size_t row = 0; row < of->height; row++)
        memcpy((char *)(uintptr_t)of->to + row * of->to_pitch,
               (const char *)(uintptr_t)of->source + row * of->source_pitch, of->width);
    return 0;
}
