/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the CTAs of scale.inc and split.inc read an operand: LINES lines of it by slabs of SLAB_K, of
 * which a thread has 16 entries of a line in four units of four neighbours in k. An entry has PARTS
 * doubles, which the including file may set: 2 of a complex number.
 *
 * Of a K-major operand 16 neighbouring threads have a line, and neighbouring units of it, so that a
 * warp reads and writes whole sectors; of an MN-major one they have 16 lines, and each thread 16
 * neighbours in k, which it writes at once.
 */
#ifndef XGEMM_RESIDUE_LINES_H
#define XGEMM_RESIDUE_LINES_H

#include "moduli.h"

#ifndef PARTS
#define PARTS 1
#endif

#define THREADS 256
#define LINES   16
#define WAYS    (THREADS / LINES) /* threads of a line */
#define UNIT    4
#define UNITS   4
#define SLAB_K  (WAYS * UNITS * UNIT)

typedef struct {
    const double *from; /* the line's first entry */
    int64_t line, k, k_stride;
    int line_in_cta, way;
    int is_inside;        /* there is such a line */
    int first, unit_step; /* the thread's first k in a slab, and from unit to unit */
    int vectors;          /* units, or entries, are at multiples of 16 bytes */
    int k_major;
} xg_line_reader;

/* The first or second operand. By fields: of an index that is not constant nvcc makes a copy. */
XG_DEVICE xg_residue_operand xg_operand_of(const xg_residue_split_args *p, int second)
{
    const xg_residue_operand *const a = &p->operands[0], *const b = &p->operands[1];
    const xg_residue_operand of = {second ? b->from : a->from,
                                   second ? b->count : a->count,
                                   second ? b->line_stride : a->line_stride,
                                   second ? b->k_stride : a->k_stride,
                                   second ? b->planes : a->planes,
                                   second ? b->about : a->about};
    return of;
}

/* Of the CTA's lines from "first_line" on. */
XG_DEVICE xg_line_reader xg_line_reader_of(const xg_residue_operand *of, int64_t first_line,
                                           int64_t k)
{
    const int thread = (int)threadIdx.x;
    xg_line_reader by;
    by.k_major = of->k_stride == 1;
    by.line_in_cta = by.k_major ? thread / WAYS : thread % LINES;
    by.way = by.k_major ? thread % WAYS : thread / LINES;
    by.line = first_line + by.line_in_cta;
    by.is_inside = by.line < of->count;
    by.from = of->from + (by.is_inside ? PARTS * by.line * of->line_stride : 0);
    by.k = k, by.k_stride = of->k_stride;
    by.first = by.k_major ? UNIT * by.way : UNITS * UNIT * by.way;
    by.unit_step = by.k_major ? WAYS * UNIT : UNIT;
    by.vectors =
        (uintptr_t)of->from % 16 == 0 && (PARTS > 1 || (by.k_major && of->line_stride % 2 == 0));
    return by;
}

/* The parts of a thread's unit of a slab: entries from k on, 0 where there are none. */
#if PARTS > 1
XG_DEVICE void xg_read_unit(const xg_line_reader *by, int64_t k, double x[PARTS][UNIT])
{
    const double *const from = by->from + PARTS * k * by->k_stride;
    XG_UNROLL
    for (int e = 0; e < UNIT; e++) {
        const double *const entry = from + PARTS * e * by->k_stride;
        double2 both = {0.0, 0.0};
        if (by->is_inside && k + e < by->k) {
            if (by->vectors)
                both = *(const double2 *)(const void *)entry;
            else
                both.x = entry[0], both.y = entry[1];
        }
        x[0][e] = both.x, x[PARTS - 1][e] = both.y;
    }
}
#else
XG_DEVICE void xg_read_unit(const xg_line_reader *by, int64_t k, double x[PARTS][UNIT])
{
    const double *const from = by->from + k * by->k_stride;
    if (by->vectors && by->is_inside && k + UNIT <= by->k) {
        XG_UNROLL
        for (int e = 0; e < UNIT; e += 2) {
            const double2 both = *(const double2 *)(const void *)(from + e);
            x[0][e] = both.x, x[0][e + 1] = both.y;
        }
        return;
    }
    XG_UNROLL
    for (int e = 0; e < UNIT; e++)
        x[0][e] = by->is_inside && k + e < by->k ? from[e * by->k_stride] : 0.0;
}
#endif

/* Four bytes as a word, the first in the low one. */
XG_DEVICE unsigned xg_pack_bytes(const unsigned byte[UNIT])
{
    return (byte[0] & 0xff) | (byte[1] & 0xff) << 8 | (byte[2] & 0xff) << 16 | byte[3] << 24;
}

/* The thread's words of a slab from k on, to its line of a plane: bytes of it end at "stride". */
XG_DEVICE void xg_write_units(const xg_line_reader *by, int8_t *line, int64_t k, int64_t stride,
                              const unsigned words[UNITS])
{
    if (!by->is_inside || k >= stride)
        return;
    if (!by->k_major) { /* the stride is a multiple of 16 */
        const uint4 all = {words[0], words[1], words[2], words[3]};
        *(uint4 *)(void *)(line + k) = all;
        return;
    }
    XG_UNROLL
    for (int i = 0; i < UNITS; i++)
        if (k + i * WAYS * UNIT < stride)
            *(unsigned *)(void *)(line + k + i * WAYS * UNIT) = words[i];
}

#endif
