/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzz program decodes an input of bytes and judges what the code does with it. tests/fuzz.c
 * has where inputs come from, in one of two modes:
 *
 *   PROGRAM [ITERATIONS [SEED]]    the stored inputs, then changed ones; the same arguments give
 *                                  the same run
 *   PROGRAM FILE...                these inputs
 *
 * and, compiled with XGEMM_LIBFUZZER defined, as coverage guides libFuzzer (tests/fuzz.sh).
 */
#ifndef XGEMM_TESTS_FUZZ_H
#define XGEMM_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of an input. */
enum { FUZZ_MOST = 1 << 14 };

typedef struct {
    const char *corpus;       /* the folder of stored inputs, below srcdir */
    const char *const *words; /* what changes put into an input; NULL ends them */
    unsigned long iterations; /* of a run without arguments */
    int random_bytes;         /* so many inputs of 100 are random bytes */
} fuzz_program;

extern const fuzz_program fuzz_this;

/* Once each, before the first input and after the last one. */
void fuzz_begin(void);
void fuzz_end(unsigned long inputs);

/* Ends the process by abort() when something does not hold. */
void fuzz_judge(const unsigned char *bytes, size_t size);

/* Random numbers. A state of 0 would stay 0. */
typedef struct {
    uint64_t state;
} fuzz_random;

/* Below the bound, which is not 0. */
size_t fuzz_pick(fuzz_random *random, size_t bound);

/* For choices that an input does not spell out, the same whenever it comes. */
fuzz_random fuzz_random_of(const unsigned char *bytes, size_t size);

/* Makes a temporary folder and goes there; removes it. */
void fuzz_enter_folder(void);
void fuzz_leave_folder(void);

void fuzz_write(const char *path, const void *bytes, size_t size);

/* Prints the sentence and the input, and aborts. */
_Noreturn void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Not assert(), which NDEBUG removes. REQUIRE_THAT() says more. */
#define REQUIRE_THAT(condition, ...)                                                               \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fuzz_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                                \
    } while (0)
#define REQUIRE(condition) REQUIRE_THAT(condition, "see there")

#endif
