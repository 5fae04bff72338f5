/* SPDX-License-Identifier: BSD-3-Clause */
#include "operations.h"

#include <string.h>

/* Floating-point operations by mnemonic; a suffix says of which precision on x86. */
static const struct {
    const char *name;
    int flops;
} operations[] = {
#if defined(__x86_64__)
    {"add", 1}, {"sub", 1}, {"mul", 1}, {"div", 1}, {"sqrt", 1}, {"min", 1}, {"max", 1},
#else
    {"fadd", 1},   {"fsub", 1},  {"fmul", 1},   {"fdiv", 1},   {"fsqrt", 1},
    {"fmin", 1},   {"fmax", 1},  {"fmadd", 2},  {"fmsub", 2},  {"fnmadd", 2},
    {"fnmsub", 2}, {"fnmul", 1}, {"fminnm", 1}, {"fmaxnm", 1},
#endif
};

int xg_flops_of(const char *mnemonic, size_t length, const char *operands, bool *is_double)
{
#if defined(__x86_64__)
    (void)operands;
    if (length < 5 || mnemonic[length - 2] != 's' ||
        (mnemonic[length - 1] != 's' && mnemonic[length - 1] != 'd'))
        return 0;
    *is_double = mnemonic[length - 1] == 'd';
    length -= 2;
#else
    *is_double = *operands == 'd';
    if (*operands != 'd' && *operands != 's')
        return 0;
#endif
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strlen(operations[i].name) == length &&
            memcmp(operations[i].name, mnemonic, length) == 0)
            return operations[i].flops;
    return 0;
}

int xg_flops_of_call(const char *name, size_t length, bool *is_double)
{
    static const char *const functions[] = {
        "fma",  "sqrt", "exp",  "exp2",  "log",   "log2", "log10", "pow",  "sin",
        "cos",  "tan",  "tanh", "erf",   "erfc",  "sinh", "cosh",  "atan", "asin",
        "acos", "fmin", "fmax", "atan2", "hypot", "cbrt", "expm1", "log1p"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const size_t own = strlen(functions[i]);
        if (length < own || memcmp(functions[i], name, own) != 0)
            continue;
        *is_double = length == own;
        if (length == own || (length == own + 1 && name[own] == 'f'))
            return i == 0 ? 2 : 1;
    }
    return 0;
}
