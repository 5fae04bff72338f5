/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * complex_to_real: operands of a complex product become those of a real one (complex.h). A thread
 * reads two neighbours of a line and writes them to two lines; nothing is transposed, so reads and
 * writes are coalesced whatever the operand's major. Factors are 1 or -1: what is written is exact.
 */
#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx.h"

#define THREADS_X 64
#define THREADS_Y 4
#define ELEMENTS  2 /* of a thread */

typedef struct {
    float real[2 * ELEMENTS];
} __attribute__((aligned(16))) vec4;

typedef struct {
    float real[ELEMENTS];
} __attribute__((aligned(8))) vec2;

XG_KERNEL(__launch_bounds__(THREADS_X *THREADS_Y), complex_to_real, xg_complex_args)
{
    const xg_complex_operand of = blockIdx.z ? p.operands[1] : p.operands[0];
    const int64_t column = (XG_BLOCK_X * THREADS_X + threadIdx.x) * ELEMENTS;
    const int64_t step = (int64_t)gridDim.y * THREADS_Y;

    xg_pdl_wait();
    xg_pdl_trigger();
    if (column >= of.length)
        return;
    for (int64_t line = (int64_t)blockIdx.y * THREADS_Y + threadIdx.y; line < of.count;
         line += step) {
        const float *const from = of.from + 2 * (line * of.from_stride + column);
        float *const to = of.to + 2 * line * of.to_stride;
        const int both = column + 1 < of.length;
        const float x[ELEMENTS] = {from[0], both ? from[2] : 0.0f};
        const float y[ELEMENTS] = {from[1], both ? from[3] : 0.0f};
        if (of.apart) {
            *(vec2 *)(to + column) = (vec2){{x[0], x[1]}};
            *(vec2 *)(to + of.to_stride + column) = (vec2){{y[0], y[1]}};
        } else {
            *(vec4 *)(to + 2 * column) = (vec4){{x[0], of.first_y * y[0], x[1], of.first_y * y[1]}};
            *(vec4 *)(to + of.to_stride + 2 * column) = (vec4){
                {of.second_y * y[0], of.second_x * x[0], of.second_y * y[1], of.second_x * x[1]}};
        }
    }
}
