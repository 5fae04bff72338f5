/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Residue arithmetic: an integer is known by its residues modulo pairwise coprime numbers p_i as
 * long as its magnitude is below half their product P. Residues are balanced, so that they are
 * signed bytes: -p_i / 2 to p_i / 2.
 *
 * How they are found: a sum of bytes u_b times 256^b is, modulo p_i, the sum of u_b times the
 * balanced residue of 256^b, which one dp4a computes for four bytes; it is small, and a float holds
 * it exactly.
 *
 * tests/gemm/test_residue.c has products that take each number of moduli.
 */
#ifndef XGEMM_RESIDUE_MODULI_H
#define XGEMM_RESIDUE_MODULI_H

#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx.h"

/* The moduli, the largest first: with 15 of them P is 2^117.8, with 16 2^125.4, with 17 2^133.0. */
XG_TABLE int xg_residue_moduli[XG_RESIDUES_MOST] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                                    227, 223, 217, 211, 199, 197, 193, 191};
XG_TABLE float xg_residue_inverses[XG_RESIDUES_MOST] = {
    1.0f / 256, 1.0f / 255, 1.0f / 253, 1.0f / 251, 1.0f / 247, 1.0f / 241,
    1.0f / 239, 1.0f / 233, 1.0f / 229, 1.0f / 227, 1.0f / 223, 1.0f / 217,
    1.0f / 211, 1.0f / 199, 1.0f / 197, 1.0f / 193, 1.0f / 191};

/*
 * An integer below 2^79 in magnitude is the words w0 + 2^32 w1 + 2^64 w2 minus 2^79: balanced
 * residues of 256^b for the four bytes of each, the first in the low byte, and of -2^79.
 */
XG_TABLE unsigned xg_residue_words[XG_RESIDUES_MOST][3] = {
    {0x00000001, 0x00000000, 0x00000000}, {0x01010101, 0x01010101, 0x00000101},
    {0x1b090301, 0xa6e2f651, 0x0000cdef}, {0x7d190501, 0x403f717b, 0x00005e45},
    {0xf4510901, 0x3d991094, 0x00000137}, {0x01f00f01, 0x0f01f00f, 0x000001f0},
    {0x96321101, 0x3303d66e, 0x0000b1a7}, {0x333f1701, 0xc626cf08, 0x00004a40},
    {0xf52a1b01, 0x3d94fcbc, 0x00002b2c}, {0x64bd1d01, 0x960c6ecd, 0x00004168},
    {0x22e62101, 0x0f290807, 0x00003831}, {0x4e022701, 0x5f08c304, 0x0000e510},
    {0xe5ab2d01, 0x6460e633, 0x0000c445}, {0xb4413901, 0x5605232e, 0x000012b7},
    {0xa4bf3b01, 0xedf94658, 0x0000353d}, {0xafac3f01, 0xc1ff31ab, 0x00005154},
    {0xdf174101, 0xb4c705d4, 0x0000e31a}};
XG_TABLE int xg_residue_offset[XG_RESIDUES_MOST] = {0,  127, -50, 16, 119, 113, 74, 81, -8,
                                                    79, -32, -16, 84, 84,  -86, 54, 83};

/*
 * Of a sum of products, a 32-bit integer, plus 2^31 as a word: balanced residues of q_i 256^b, with
 * q_i the inverse of P / p_i modulo p_i, for each number of moduli; and of -q_i 2^31.
 */
XG_TABLE unsigned xg_residue_sum_words[3][XG_RESIDUES_MOST] = {
    {0x000000e1, 0x8a8a8a8a, 0x61cc43c2, 0x23079dba, 0x2a575c78, 0x01f00f01, 0xea45f69d, 0x8eaae850,
     0xe4eeb341, 0xc85c0b3f, 0x6cef0d5f, 0xcbc75250, 0xe2b93230, 0x17dabdb9, 0x9efb325b, 0x00000000,
     0x00000000},
    {0x00000021, 0xe1e1e1e1, 0xd0f04fc6, 0x2fa520a2, 0x6d43ec90, 0x05b04b05, 0x5e7615c9, 0x9a6bd2fe,
     0x9b8e961e, 0x0f18f99a, 0x29080722, 0xd5b15745, 0x48565bb7, 0xdbc4ea2d, 0xb6d056b8, 0x3da2e6b3,
     0x00000000},
    {0x0000001f, 0x7c7c7c7c, 0xa78eda9f, 0x9f51dec7, 0xe8ab1202, 0x18627718, 0x08909724, 0x4503f66f,
     0x510333cf, 0xa14b95dd, 0xc0c8cff1, 0x0aea05f5, 0xa83b06e4, 0xbaa4d145, 0x4e08b00c, 0x422f0dc6,
     0x31f5c8d6}};
XG_TABLE int xg_residue_sum_offset[3][XG_RESIDUES_MOST] = {
    {0, 59, -19, 38, 58, 113, -52, -87, -80, -96, 2, 57, 42, 41, -64, 0, 0},
    {0, -112, 72, 8, -120, 83, -82, 8, 104, -104, 104, 79, 68, -40, 16, -88, 0},
    {0, -62, 7, 117, 108, 61, -68, 22, -63, -98, -59, 22, 81, 5, 63, 44, 31}};

/* 1 / p_i = the sum of digits j = 0 to 3 times 2^(-40 (j + 1)), and what is less than 2^-160. */
XG_TABLE double xg_residue_digits[XG_RESIDUES_MOST][4] = {
    {4294967296.0, 0.0, 0.0, 0.0},
    {4311810305.0, 4311810305.0, 4311810305.0, 4311810305.0},
    {4345895761.0, 1056052670156.0, 434589576196.0, 52150749143.0},
    {4380524413.0, 494999258719.0, 959334846545.0, 652698137604.0},
    {4451464080.0, 71223425281.0, 40063176720.0, 641010827529.0},
    {4562288911.0, 1026515005185.0, 68434333679.0, 4562288911.0},
    {4600467061.0, 906292011179.0, 418642502626.0, 9200934123.0},
    {4718934024.0, 868283860561.0, 335044315760.0, 75502944396.0},
    {4801360819.0, 1080306184496.0, 76821773119.0, 792224535297.0},
    {4843663558.0, 532802991433.0, 334212785535.0, 479522692289.0},
    {4930545416.0, 39444363328.0, 315554906626.0, 325415997458.0},
    {5066873860.0, 790432322272.0, 162139963543.0, 5066873860.0},
    {5210955581.0, 964026782647.0, 224071090020.0, 771221426117.0},
    {5525184059.0, 193381442071.0, 171280705834.0, 497266565325.0},
    {5581277298.0, 390689410884.0, 959979695317.0, 128369377862.0},
    {5696951439.0, 279150620523.0, 484240872336.0, 638058561196.0},
    {5756605381.0, 28783026905.0, 143915134525.0, 719575672628.0}};

/* P as a sum of two doubles, by the number of moduli. */
XG_TABLE double xg_residue_product[3][2] = {{0x1.b88e245754182p+117, -0x1.df666905d3cbcp+63},
                                            {0x1.4c232965d6663p+125, -0x1.616c352d64acap+71},
                                            {0x1.ef9c77c5f5ec7p+132, 0x1.b141114c878cep+77}};

/*
 * A line of which the scaled norm is at most this, with 15 moduli: sqrt(0.49 P). By Cauchy's
 * inequality an element of C is then below 0.49 P, and rounding the lines adds less than 0.01 P.
 * Each 2^MORE_BITS times as large is below sqrt(0.49 P) of more moduli, too.
 */
#define XG_RESIDUE_NORM 0x1.4c748bd79788cp+58

/* 1.5 * 2^23, and its bits: integers below 2^21 that are added to these are in a float's low bits.
 */
#define XG_RESIDUE_MAGIC      12582912.0f
#define XG_RESIDUE_MAGIC_BITS 0x4b400000

/*
 * The balanced residue of a sum below 2^21 in magnitude, which is given plus XG_RESIDUE_MAGIC_BITS:
 * in the low byte; the others hold nothing.
 */
XG_DEVICE unsigned xg_residue_of_sum(int biased, float modulus, float inverse)
{
    const float sum = xg_float_of((unsigned)biased);
    const float quotient =
        fmaf(sum - XG_RESIDUE_MAGIC, inverse, XG_RESIDUE_MAGIC) - XG_RESIDUE_MAGIC;
    return xg_bits_of(fmaf(-modulus, quotient, sum));
}

/* The moduli that a product takes: as few as its elements allow; 0: it is to be computed in FP64.
 */
XG_DEVICE int xg_residue_count(const xg_residue_ratios *ratios)
{
    const float ratio = xg_float_of(ratios->ratio), most = xg_float_of(ratios->ratio_most);
    if (ratios->others > ratios->others_most)
        return 0;
    if (ratio <= 1.0f)
        return XG_RESIDUES_LEAST;
    for (int count = XG_RESIDUES_LEAST + 1; count <= XG_RESIDUES_MOST; count++)
        if (most <= (float)(1 << XG_RESIDUE_MORE_BITS(count)))
            return count;
    return 0; /* elements of which that is true are among the others */
}

#endif
