/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exponential and the error function's complement for kernels that clang compiles: nvcc takes
 * them from NVIDIA's device library, which the build with clang does without. Their errors are at
 * most 1 unit in the last place for exp() and 3 for erfc(), where the result is a normal number.
 */
#ifndef XGEMM_CUDA_CLANG_MATH_H
#define XGEMM_CUDA_CLANG_MATH_H

#include <stdint.h>

/* 2^n for an n whose power of two is a normal number. */
XG_CLANG double xg_clang_exp2i_f64(int n)
{
    const union {
        uint64_t bits;
        double value;
    } power = {(uint64_t)(1023 + n) << 52};
    return power.value;
}

/*
 * exp(x) = 2^n exp(r), |r| at most ln(2) / 2, the last by its series. 2^n in two factors, since
 * results may be subnormal. Arguments beyond the range are brought to its ends; NaN stays.
 */
XG_CLANG double xg_clang_exp(double x)
{
    enum { TERMS = 14 };
    const double inverse_factorials[TERMS] = {1.0 / 6227020800,
                                              1.0 / 479001600,
                                              1.0 / 39916800,
                                              1.0 / 3628800,
                                              1.0 / 362880,
                                              1.0 / 40320,
                                              1.0 / 5040,
                                              1.0 / 720,
                                              1.0 / 120,
                                              1.0 / 24,
                                              1.0 / 6,
                                              0.5,
                                              1.0,
                                              1.0};
    const double within = x > 720.0 ? 720.0 : x < -760.0 ? -760.0 : x;
    const double n = __builtin_rint(within * 1.4426950408889634074);
    double r = __builtin_fma(n, -0.69314718055994528623, within);
    r = __builtin_fma(n, -2.3190468138462995584e-17, r);
    double sum = inverse_factorials[0];
    _Pragma("unroll") for (int i = 1; i < TERMS; i++) sum =
        __builtin_fma(sum, r, inverse_factorials[i]);
    const int half = x == x ? (int)n / 2 : 0, rest = x == x ? (int)n - half : 0;
    return sum * xg_clang_exp2i_f64(half) * xg_clang_exp2i_f64(rest);
}

/*
 * erfc(a) = exp(-a^2) f(t) / (1 + 2 a) for a >= 0, t = (a - 3) / (a + 3): f is smooth over all of
 * -1 ... 1, and here the polynomial of its Chebyshev series. The rounding error of a^2 is brought
 * into the exponential. erfc(-a) = 2 - erfc(a).
 */
XG_CLANG double xg_clang_erfc(double x)
{
    enum { TERMS = 26 };
    const double f[TERMS] = {
        1.2530080582697296471,      -0.13562110612458120994,     -0.047562294353449196685,
        0.12964515870276474118,     -0.11927366341538638408,     0.068308027343845158991,
        -0.023770514917171336801,   0.0025293918180474667515,    0.0018886903449991718495,
        -0.00077983228848230843277, -0.00010515971958448064841,  0.00012509943557128120702,
        4.9491966499683453145e-6,   -0.000020100843094844726218, -7.3082814687836139291e-7,
        3.4730241678415327668e-6,   3.5576086684080594355e-7,    -6.1756176789923229375e-7,
        -1.4047654315428462329e-7,  1.027799748827105812e-7,     4.1064013667940352768e-8,
        -1.3906145791730994106e-8,  -8.2175950587114538556e-9,   1.2019719440135792655e-9,
        8.3937348586908775496e-10,  -3.4514974876643280986e-11};
    double a = __builtin_fabs(x);
    a = a > 30.0 ? 30.0 : a;
    const double t = (a - 3.0) / (a + 3.0);
    double sum = f[TERMS - 1];
    _Pragma("unroll") for (int i = TERMS - 2; i >= 0; i--) sum = __builtin_fma(sum, t, f[i]);
    const double square = a * a, error = __builtin_fma(a, a, -square);
    const double e = xg_clang_exp(-square);
    const double result = __builtin_fma(-e, error, e) * (sum / __builtin_fma(2.0, a, 1.0));
    return x < 0.0 ? 2.0 - result : result;
}

#endif
