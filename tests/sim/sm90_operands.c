/* SPDX-License-Identifier: BSD-3-Clause */
#include "sm90.h"

_Alignas(128) uint16_t sm90_packed_a[M * K], sm90_packed_b[N * K];
float sm90_result[M * N], sm90_expected[M * N];

float sm90_a_at(int row, int l)
{
    return (float)((row * 7 + l * 13) % 17 - 8) / 4.0f;
}

float sm90_b_at(int column, int l)
{
    return (float)((column * 5 + l * 11) % 13 - 6) / 2.0f;
}

/* "lines" rows of A or columns of B, in units that are swizzled. */
static void pack(uint16_t *to, int lines, float (*value)(int, int))
{
    for (int line = 0; line < lines; line++)
        for (int l = 0; l < K; l++) {
            const int unit = line / TILE * UNITS + l / DEPTH, row = line % TILE;
            const int chunk = l % DEPTH / 8 ^ row % 8;
            to[unit * (UNIT_BYTES / 2) + row * DEPTH + chunk * 8 + l % 8] =
                (uint16_t)xg_sim_half2(value(line, l), 0.0f);
        }
}

void sm90_prepare(void)
{
    pack(sm90_packed_a, M, sm90_a_at);
    pack(sm90_packed_b, N, sm90_b_at);
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++) {
            double sum = 0.0;
            for (int l = 0; l < K; l++)
                sum += (double)sm90_a_at(row, l) * (double)sm90_b_at(column, l);
            sm90_expected[row * N + column] = (float)sum;
        }
}
