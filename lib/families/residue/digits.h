/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A number from its residues by the Chinese remainder theorem.
 *
 * With y_i the residues that product.inc stores, or sums of three of these, an element's integer
 * divided by P is the sum of y_i / p_i, up to an integer. 1 / p_i has four digits of 40 bits
 * (moduli.h), so that sums of their products with y_i are exact in doubles: below 2^53. Carries
 * make all digits but the first at most 2^39 in magnitude, and the first one, too, as the integer
 * part is dropped. The digits left out are below 2^-147, or 2^-14 of the element's integer: where
 * this is below 2^45 it is rounded to one; else 2^-14 is less than 2^-59 of it. The rest is done in
 * sums of two doubles, to 2^-75 and better. So the double that comes out is the integer rounded
 * once, but for 2^-59 of it.
 */
#ifndef XGEMM_RESIDUE_DIGITS_H
#define XGEMM_RESIDUE_DIGITS_H

#include "moduli.h"

#define XG_DIGITS     4
#define XG_DIGIT_BASE 0x1p40

/* An integer of magnitude 512 at most. By its bits, since a conversion takes four times as long as
 * an addition. */
XG_DEVICE double xg_double_of_small(int x)
{
    return xg_double_of(0x4330000000000000 | (long long)(unsigned)(x + 512)) - (0x1p52 + 512.0);
}

/* Of the residue by a modulus, or of sums of such. */
XG_DEVICE void xg_add_residue(double digit[XG_DIGITS], int y, int modulus)
{
    const double x = xg_double_of_small(y);
    XG_UNROLL
    for (int j = 0; j < XG_DIGITS; j++)
        digit[j] = fma(x, xg_residue_digits[modulus][j], digit[j]);
}

/* Drops leading zeros, so that the first digit is not 0, or only one is left; by how many digits.
 */
XG_DEVICE int xg_normalize_digits(double digit[XG_DIGITS])
{
    int dropped = 0;
    XG_UNROLL
    for (int i = 0; i < XG_DIGITS - 1; i++) {
        if (digit[0] != 0.0)
            break;
        XG_UNROLL
        for (int j = 0; j + 1 < XG_DIGITS; j++)
            digit[j] = digit[j + 1];
        digit[XG_DIGITS - 1] = 0.0;
        dropped++;
    }
    return dropped;
}

/* The integer of an element, by its digits and P, rounded once. */
XG_DEVICE double xg_integer_of(double digit[XG_DIGITS], const double product[2])
{
    XG_UNROLL
    for (int j = XG_DIGITS - 1; j >= 0; j--) {
        const double carry = rint(digit[j] * (1.0 / XG_DIGIT_BASE));
        digit[j] = fma(-XG_DIGIT_BASE, carry, digit[j]);
        if (j > 0)
            digit[j - 1] += carry;
    }
    const int dropped = xg_normalize_digits(digit);
    /* the first three digits as a sum of two doubles, in units of the third */
    const double first = digit[0] * (XG_DIGIT_BASE * XG_DIGIT_BASE);
    const double second = digit[1] * XG_DIGIT_BASE;
    const double high = first + second, low = (second - (high - first)) + digit[2];
    const double unit = dropped == 0   ? 0x1p-120
                        : dropped == 1 ? 0x1p-160
                        : dropped == 2 ? 0x1p-200
                                       : 0x1p-240;
    const double x = high * unit, y = low * unit;
    /* rounded: as a part of a fused multiply-add below it would not be what "rest" is the rest of
     */
    const double large = __dmul_rn(x, product[0]);
    const double rest = fma(x, product[0], -large) + fma(x, product[1], y * product[0]);
    const double integer = large + rest;
    return fabs(integer) < 0x1p45 ? rint(integer) : integer;
}

#endif
