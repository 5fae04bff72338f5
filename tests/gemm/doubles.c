/* SPDX-License-Identifier: BSD-3-Clause */
#include "doubles.h"

#include <math.h>

/* ---- Numbers ---- */

double doubles_uniform(generator *from)
{
    const uint64_t bits = (uint64_t)random_bits(from) << 32 | random_bits(from);
    return ldexp((double)(bits >> 11) + 0.5, -53);
}

double doubles_normal(generator *from)
{
    const double radius = sqrt(-2.0 * log(doubles_uniform(from)));
    return radius * cos(6.283185307179586 * doubles_uniform(from));
}

static double signed_lognormal(generator *from, double sigma)
{
    const double magnitude = exp(sigma * doubles_normal(from));
    return random_below(from, 2) ? magnitude : -magnitude;
}

double doubles_normal_entry(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line, (void)l;
    return doubles_normal(from);
}

static double fill_uniform(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line, (void)l;
    return doubles_uniform(from);
}

static double fill_relu(generator *from, int is_b, int line, int l)
{
    const double x = doubles_normal(from);
    (void)line, (void)l;
    return is_b || x > 0.0 ? x : 0.0;
}

static double fill_lognormal_1(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line, (void)l;
    return signed_lognormal(from, 1.0);
}

static double fill_lognormal_2(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line, (void)l;
    return signed_lognormal(from, 2.0);
}

static double fill_lognormal_4(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line, (void)l;
    return signed_lognormal(from, 4.0);
}

/* Rows and columns of very different sizes: each is scaled by itself. */
static double fill_scaled(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)l;
    return ldexp(doubles_normal(from), (line * 37) % 240 - 120);
}

static double fill_integers(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line, (void)l;
    return random_below(from, 5) == 0 ? random_below(from, 21) - 10 : 0.0;
}

/* 24 bits, as floats that were made doubles. */
static double fill_floats(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line, (void)l;
    return (double)random_real(from);
}

static double fill_tiny(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line, (void)l;
    return doubles_normal(from) * 1e-150;
}

static double fill_huge(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line, (void)l;
    return doubles_normal(from) * 1e150;
}

static double fill_subnormal(generator *from, int is_b, int line, int l)
{
    (void)line, (void)l;
    return is_b ? doubles_normal(from) : doubles_normal(from) * 1e-310;
}

/* Normal, but for subnormals: lost in the sums, and no reason for anything. */
static double fill_some_subnormal(generator *from, int is_b, int line, int l)
{
    (void)is_b, (void)line;
    return l % 7 == 3 ? doubles_normal(from) * 1e-310 : doubles_normal(from);
}

/* Pairs of terms that cancel but for their last bits. */
static double fill_cancelling(generator *from, int is_b, int line, int l)
{
    generator of_pair = {(uint64_t)(line * 1000 + l / 2 + 1)};
    const double x = doubles_normal(&of_pair);
    if (is_b)
        return l % 2 ? -1.0 - ldexp(doubles_uniform(from), -50) : 1.0;
    return x;
}

static double fill_inf(generator *from, int is_b, int line, int l)
{
    return !is_b && line == 3 && l == 5 ? INFINITY : doubles_normal(from);
}

static double fill_nan(generator *from, int is_b, int line, int l)
{
    return is_b && line == 2 && l == 0 ? (double)NAN
           : is_b && line == 2         ? 0.0
                                       : doubles_normal(from);
}

/* One entry of a row is all that there is, and the rows' and columns' do not meet. */
static double fill_disjoint(generator *from, int is_b, int line, int l)
{
    (void)line;
    return l % 2 == is_b ? doubles_normal(from) : 0.0;
}

/* Lines of zeros, and one that is not. */
static double fill_zeros(generator *from, int is_b, int line, int l)
{
    (void)l;
    return line == (is_b ? 3 : 1) ? doubles_normal(from) : 0.0;
}

static const doubles_kind kinds[] = {
    {"normal", doubles_normal_entry, 15, 15},
    {"uniform", fill_uniform, 15, 15},
    {"relu", fill_relu, 15, 15},
    {"lognormal, sigma 1", fill_lognormal_1, 15, 16},
    {"lognormal, sigma 2", fill_lognormal_2, 0, 17},
    {"lognormal, sigma 4", fill_lognormal_4, 0, 0},
    {"lines of all sizes", fill_scaled, 15, 15},
    {"integers", fill_integers, 15, 15},
    {"floats", fill_floats, 15, 15},
    {"tiny", fill_tiny, 0, 0},
    {"huge", fill_huge, 0, 0},
    {"subnormal", fill_subnormal, 0, 0},
    {"some subnormal", fill_some_subnormal, 15, 15},
    {"cancelling", fill_cancelling, 15, 15},
    {"Inf", fill_inf, 0, 0},
    {"NaN", fill_nan, 0, 0},
    {"disjoint", fill_disjoint, 0, 0},
    {"zeros", fill_zeros, 15, 15},
};

int doubles_count(void)
{
    return COUNT(kinds);
}

const doubles_kind *doubles_kind_at(int index)
{
    return &kinds[index];
}
