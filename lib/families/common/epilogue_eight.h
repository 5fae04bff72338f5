/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The epilogue of eight neighbours of a row of C, whose sums are float: the same operations in the
 * same order as xg_finished_real_f32(), and so the same bits, with vectors in place of elements.
 */
#ifndef XGEMM_KERNELS_EPILOGUE_EIGHT_H
#define XGEMM_KERNELS_EPILOGUE_EIGHT_H

#include "epilogue_typed.h"

/* From memory aligned to 16 bytes. */
XG_DEVICE void xg_load_eight_f32(const void *from, float x[8])
{
    const float4 low = ((const float4 *)from)[0], high = ((const float4 *)from)[1];
    x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
    x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
}

/*
 * Eight elements of any type: as vectors, which want 16 bytes' alignment, or those from "begin" to
 * "end" one by one, and 0 in place of the others. The type is asked for once: loads then follow
 * each other, where otherwise each one's branch waits for the one before.
 */
XG_DEVICE void xg_load_eight(const void *from, int type, int as_vectors, int begin, int end,
                             float x[8])
{
    unsigned bits[8];
    if (type == XG_TYPE_F32 && as_vectors) {
        xg_load_eight_f32(from, x);
        return;
    }
    if (type == XG_TYPE_F32) {
        XG_UNROLL
        for (int i = 0; i < 8; i++)
            x[i] = i >= begin && i < end ? ((const float *)from)[i] : 0.0f;
        return;
    }
    if (as_vectors) {
        const uint4 four = *(const uint4 *)from;
        const unsigned words[4] = {four.x, four.y, four.z, four.w};
        XG_UNROLL
        for (int i = 0; i < 8; i++)
            bits[i] = i % 2 ? words[i / 2] >> 16 : words[i / 2] & 0xffff;
    } else {
        XG_UNROLL
        for (int i = 0; i < 8; i++)
            bits[i] = i >= begin && i < end ? ((const uint16_t *)from)[i] : 0;
    }
    XG_UNROLL
    for (int i = 0; i < 8; i++)
        x[i] = type == XG_TYPE_F16 ? xg_float_of_f16((uint16_t)bits[i])
                                   : xg_float_of_bf16((uint16_t)bits[i]);
}

/* To memory aligned to 16 bytes; the first 4 of FP32 elements where "stored" is less than 8. */
XG_DEVICE void xg_store_eight(void *to, int type, int stored, const float x[8])
{
    if (stored <= 0)
        return;
    if (type == XG_TYPE_F32) {
        const float4 low = {x[0], x[1], x[2], x[3]}, high = {x[4], x[5], x[6], x[7]};
        ((float4 *)to)[0] = low;
        if (stored > 4)
            ((float4 *)to)[1] = high;
        return;
    }
    unsigned words[4];
    XG_UNROLL
    for (int i = 0; i < 4; i++)
        words[i] = type == XG_TYPE_F16 ? xg_half2(x[2 * i], x[2 * i + 1])
                                       : xg_bf16x2(x[2 * i], x[2 * i + 1]);
    const uint4 four = {words[0], words[1], words[2], words[3]};
    *(uint4 *)to = four;
}

/* The bias of eight columns from "column" on, of which so many are inside C; 0 beside them. */
XG_DEVICE void xg_load_bias(const xg_epilogue_args *p, int column, int inside, float bias[8])
{
    const int bytes = p->type_bias == XG_TYPE_F32 ? 4 : 2;
    const char *const from = (const char *)p->bias + (int64_t)column * bytes;
    if (p->bias && !p->bias_per_row)
        xg_load_eight(from, p->type_bias, inside >= 8 && (uintptr_t)from % 16 == 0, 0, inside,
                      bias);
}

XG_DEVICE void xg_activate_eight(float x[8], int activation)
{
    XG_UNROLL
    for (int i = 0; i < 8; i++)
        x[i] = xg_activate_f32(x[i], activation);
}

/* The new values of elements "begin" to "end" of a row of C, from their sums in x; c: the first. */
XG_DEVICE void xg_finish_eight(const xg_epilogue_args *p, const xg_scalars_f32 *by, const void *c,
                               int is_aligned, int begin, int end, int64_t row, const float bias[8],
                               float x[8])
{
    XG_UNROLL
    for (int i = 0; i < 8; i++)
        x[i] = by->alpha_is_0 ? 0.0f : __fmul_rn(by->alpha[0], x[i]);
    if (!by->beta_is_0) {
        float old[8];
        xg_load_eight(c, p->type_c, is_aligned && end >= 8, begin, end, old);
        XG_UNROLL
        for (int i = 0; i < 8; i++)
            x[i] = fmaf(by->beta[0], old[i], x[i]);
    }
    if (p->bias) {
        const float of_row = p->bias_per_row ? xg_load_as_f32(p->bias, row, p->type_bias) : 0.0f;
        XG_UNROLL
        for (int i = 0; i < 8; i++)
            x[i] += p->bias_per_row ? of_row : bias[i];
    }
    if (p->activation == XG_ACTIVATION_RELU)
        xg_activate_eight(x, XG_ACTIVATION_RELU);
    else if (p->activation == XG_ACTIVATION_GELU)
        xg_activate_eight(x, XG_ACTIVATION_GELU);
    else if (p->activation == XG_ACTIVATION_GELU_TANH)
        xg_activate_eight(x, XG_ACTIVATION_GELU_TANH);
    else if (p->activation == XG_ACTIVATION_SILU)
        xg_activate_eight(x, XG_ACTIVATION_SILU);
}

#endif
