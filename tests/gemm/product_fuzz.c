/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inputs as xgemm_products, right ones and wrong ones (tests/fuzz.h says how it is called): each
 * choice that is made of a product is a byte.
 *
 * The CPU's reference kernel, the CPU's choice and the simulator's are asked for each: all take it
 * or all refuse it, with a sentence, as the plan of it does; a refused one leaves C as it was; and
 * of one that is taken, the results are the same and nothing beside C is written. Elements and
 * factors are small whole numbers, so that sums are exact in whatever order. A product whose
 * matrices would not fit into the memory that is there is planned alone, and so is any for a GPU of
 * the catalogue. Some are multiplied in groups of rows.
 */
#include <xgemm.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { ARENA = 1 << 17, BATCH_MOST = 8, PLACES = 3, SCALAR_BYTES = 16, TYPES = 7 };
/* Guided by coverage, the simulator plans alone: its kernels do not count, and take long. */
#ifdef XGEMM_LIBFUZZER
enum { RUN_PLACES = 2 };
#else
enum { RUN_PLACES = PLACES };
#endif

/* What a product points to; C's memory is one for each place. */
typedef struct {
    _Alignas(64) unsigned char a[ARENA], b[ARENA], bias[ARENA], before[ARENA], c[PLACES][ARENA];
    unsigned char alpha[SCALAR_BYTES], beta[SCALAR_BYTES];
    const void *lists[3][BATCH_MOST];
    int64_t offsets[BATCH_MOST + 1];
} memory;

/* Where the matrices begin: parts of an element behind what is aligned, and bytes behind that. */
typedef struct {
    int parts[3], bytes[3];
} beginnings;

static const struct {
    int device;
    const char *kernel;
} places[PLACES] = {
    {XGEMM_DEVICE_CPU, "reference"}, {XGEMM_DEVICE_CPU, "auto"}, {XGEMM_DEVICE_SIM, "auto"}};

static xgemm_handle *handles[PLACES], *planner;
static memory m;
static beginnings begin;
static unsigned char numbers[TYPES][ARENA + 256 * SCALAR_BYTES]; /* small whole ones, by type */
static unsigned long taken, planned_for_gpus;

/* What is left of the input. */
static const unsigned char *input;
static size_t input_size;

/* Below the bound, which is neither 0 nor above 256; 0 when the input is at its end. */
static int pick(int bound)
{
    if (input_size == 0)
        return 0;
    input_size--;
    return *input++ % bound;
}

static bool one_in(int number)
{
    return pick(number) == 1;
}

/* ---- Types ---- */

static size_t bytes_of(xgemm_type type)
{
    static const size_t bytes[] = {0, 4, 8, 2, 2, 8, 16};
    return type >= XGEMM_F32 && type <= XGEMM_C64 ? bytes[type] : 0;
}

/* The bytes of a real number of it. */
static size_t part_of(xgemm_type type)
{
    return bytes_of(type) >> (type == XGEMM_C32 || type == XGEMM_C64);
}

/* A whole number from -3 to 3, as its bits in the type. */
static void put(xgemm_type type, void *to, int number)
{
    static const uint16_t f16[] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    static const uint16_t bf16[] = {0xc040, 0xc000, 0xbf80, 0, 0x3f80, 0x4000, 0x4040};
    const float real = (float)number;
    const double longer = number;
    if (part_of(type) == 2)
        memcpy(to, type == XGEMM_F16 ? &f16[number + 3] : &bf16[number + 3], 2);
    else if (part_of(type) == 8)
        memcpy(to, &longer, 8);
    else
        memcpy(to, &real, 4);
}

static void make_numbers(void)
{
    fuzz_random random = {1};
    for (int type = XGEMM_F32; type < TYPES; type++) {
        const size_t step = part_of((xgemm_type)type);
        for (size_t at = 0; at + step <= sizeof numbers[type]; at += step)
            put((xgemm_type)type, &numbers[type][at], (int)fuzz_pick(&random, 7) - 3);
    }
}

static void fill(xgemm_type type, unsigned char *to)
{
    const int offset = SCALAR_BYTES * pick(256);
    if (bytes_of(type))
        memcpy(to, &numbers[type][offset], ARENA);
}

/* Both parts of a complex one. */
static void fill_scalar(xgemm_type type, unsigned char *to)
{
    const size_t step = part_of(type);
    for (size_t at = 0; step && at + step <= bytes_of(type); at += step)
        put(type, to + at, pick(7) - 3);
}

/* The same numbers: the same bits, or zeros of two signs. */
static bool same(xgemm_type type, const unsigned char *x, const unsigned char *y)
{
    const size_t step = part_of(type);
    if (memcmp(x, y, ARENA) == 0)
        return true;
    for (size_t at = 0; at < ARENA; at += step) {
        uint64_t one = 0, other = 0;
        memcpy(&one, x + at, step);
        memcpy(&other, y + at, step);
        const uint64_t sign = UINT64_C(1) << (8 * step - 1);
        if (one != other && ((one | other) & ~sign))
            return false;
    }
    return true;
}

/* ---- Products ---- */

static int64_t wrong_number(void)
{
    static const int64_t likely[] = {-1,
                                     0,
                                     1,
                                     2,
                                     7,
                                     INT64_MIN,
                                     INT64_MAX,
                                     (int64_t)1 << 31,
                                     (int64_t)1 << 40,
                                     ((int64_t)1 << 62) + 3,
                                     -4096,
                                     4096};
    const int count = (int)(sizeof likely / sizeof *likely), chosen = pick(count + 4);
    if (chosen < count)
        return likely[chosen];
    uint64_t bits = 0;
    for (int byte = pick(9); byte > 0; byte--)
        bits = bits << 8 | (unsigned)pick(256);
    return (int64_t)bits;
}

static int64_t size(void)
{
    return one_in(8) ? pick(2) : one_in(6) ? 65 : 1 + pick(40);
}

static int64_t lines(const xgemm_product *p, int64_t rows, int64_t columns, xgemm_transpose trans)
{
    return (p->order == XGEMM_ROW_MAJOR) == (trans == XGEMM_NO_TRANS) ? rows : columns;
}

/* Of A, B and C as they lie in memory: contiguous lines, and elements in one. */
static void layout(const xgemm_product *p, int64_t count[3], int64_t width[3])
{
    count[0] = lines(p, p->m, p->k, p->transa), width[0] = lines(p, p->k, p->m, p->transa);
    count[1] = lines(p, p->k, p->n, p->transb), width[1] = lines(p, p->n, p->k, p->transb);
    count[2] = lines(p, p->m, p->n, XGEMM_NO_TRANS);
    width[2] = lines(p, p->n, p->m, XGEMM_NO_TRANS);
}

static xgemm_product right_one(void)
{
    static const xgemm_transpose transposes[] = {XGEMM_NO_TRANS, XGEMM_TRANS, XGEMM_CONJ_TRANS};
    static const xgemm_type halves[] = {XGEMM_F32, XGEMM_F16, XGEMM_BF16};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    int64_t count[3], width[3], ld[3];
    p.order = one_in(2) ? XGEMM_ROW_MAJOR : XGEMM_COL_MAJOR;
    p.transa = transposes[pick(3)], p.transb = transposes[pick(3)];
    p.m = size(), p.n = size(), p.k = size();
    p.type_a = p.type_b = p.type_c = (xgemm_type)(1 + pick(6));
    const bool half = part_of(p.type_a) == 2, real = part_of(p.type_a) == bytes_of(p.type_a);
    if (half)
        p.type_c = halves[pick(3)];
    p.batch_count = one_in(3) ? pick(BATCH_MOST) : 1;
    p.flags = one_in(3) ? XGEMM_POINTER_ARRAYS : 0;
    p.flags |= one_in(4) ? XGEMM_DEVICE_SCALARS : 0;
    layout(&p, count, width);
    for (int i = 0; i < 3; i++)
        ld[i] = (width[i] > 0 ? width[i] : 1) + (one_in(2) ? 0 : pick(9));
    p.lda = ld[0], p.ldb = ld[1], p.ldc = ld[2];
    p.stride_a = one_in(5) ? 0 : count[0] * ld[0] + pick(5);
    p.stride_b = one_in(5) ? 0 : count[1] * ld[1] + pick(5);
    p.stride_c = count[2] * ld[2] + pick(5);
    for (int i = 0; i < 3; i++)
        begin.parts[i] = one_in(3) ? pick(16) : 0, begin.bytes[i] = 0;
    p.alpha = one_in(4) ? NULL : m.alpha;
    p.beta = one_in(3) ? NULL : m.beta;
    p.activation = real && one_in(3) ? XGEMM_RELU : XGEMM_ACTIVATION_NONE;
    if (one_in(3)) {
        p.bias = m.bias;
        p.type_bias = half ? halves[pick(3)] : p.type_c;
        p.bias_per_row = pick(2);
    }
    return p;
}

/* One field that is perhaps wrong. */
static void spoil(xgemm_product *p)
{
    int64_t *const integers[] = {&p->m,        &p->n,          &p->k,        &p->lda,
                                 &p->ldb,      &p->ldc,        &p->stride_a, &p->stride_b,
                                 &p->stride_c, &p->batch_count};
    xgemm_type *const types[] = {&p->type_a, &p->type_b, &p->type_c, &p->type_bias};
    switch (pick(11)) {
    case 0:
        p->struct_size = (size_t)wrong_number();
        break;
    case 1:
        p->order = (xgemm_order)(100 + pick(5));
        break;
    case 2:
        *(one_in(2) ? &p->transa : &p->transb) = (xgemm_transpose)(110 + pick(6));
        break;
    case 3:
        *types[pick(4)] = (xgemm_type)pick(8);
        break;
    case 4:
        p->flags = (unsigned)pick(17);
        break;
    case 5:
        p->activation = (xgemm_activation)pick(7);
        break;
    case 6:
        *(one_in(2) ? &p->alpha : &p->beta) = NULL;
        break;
    case 7:
        begin.bytes[pick(3)] = pick(16);
        break;
    default:
        *integers[pick(10)] = wrong_number();
    }
}

/* Whether the product reads and writes only what is there. */
static bool fits(const xgemm_product *p)
{
    int64_t count[3], width[3];
    const int64_t ld[3] = {p->lda, p->ldb, p->ldc};
    const int64_t stride[3] = {p->stride_a, p->stride_b, p->stride_c};
    const size_t bytes[3] = {bytes_of(p->type_a), bytes_of(p->type_b), bytes_of(p->type_c)};
    const int64_t most = ARENA - 16 * SCALAR_BYTES; /* behind where they may begin */
    layout(p, count, width);
    if (p->batch_count > BATCH_MOST)
        return false;
    for (int i = 0; i < 3; i++) {
        if (count[i] > most || width[i] > most || ld[i] > most || stride[i] > most ||
            stride[i] < 0 || ld[i] < 0 || count[i] < 0 || width[i] < 0)
            return false;
        if ((count[i] * ld[i] + width[i] + stride[i] * BATCH_MOST) * (int64_t)bytes[i] > most)
            return false;
    }
    if (p->flags & XGEMM_POINTER_ARRAYS && p->stride_c < count[2] * p->ldc)
        return false; /* products of the batch would write the same elements */
    return (size_t)(p->m > p->n ? p->m : p->n) * bytes_of(p->type_bias) <= ARENA;
}

/* The pointers of the product, or the lists of them, in which nobody looks for misaligned ones; C's
 * of this place. */
static void point(xgemm_product *p, int place)
{
    const int64_t stride[3] = {p->stride_a, p->stride_b, p->stride_c};
    const xgemm_type type[3] = {p->type_a, p->type_b, p->type_c};
    const bool listed = p->flags & XGEMM_POINTER_ARRAYS;
    unsigned char *at[3] = {m.a, m.b, m.c[place]};
    for (int i = 0; i < 3; i++)
        at[i] += (size_t)begin.parts[i] * part_of(type[i]) + (listed ? 0 : (size_t)begin.bytes[i]);
    p->a = at[0], p->b = at[1], p->c = at[2];
    if (!listed || p->batch_count < 0 || p->batch_count > BATCH_MOST)
        return;
    for (int i = 0; i < 3; i++)
        for (int64_t number = 0; number < p->batch_count; number++)
            m.lists[i][number] =
                fits(p) ? at[i] + (size_t)(number * stride[i]) * bytes_of(type[i]) : at[i];
    p->a = m.lists[0], p->b = m.lists[1], p->c = (void *)m.lists[2];
}

static void fill_all(const xgemm_product *p)
{
    const xgemm_type scalar = part_of(p->type_a) == 2 ? XGEMM_F32 : p->type_a;
    fill(p->type_a, m.a);
    fill(p->type_b, m.b);
    fill(p->type_c, m.before);
    fill(p->type_bias, m.bias);
    fill_scalar(scalar, m.alpha);
    fill_scalar(scalar, m.beta);
    for (int place = 0; place < RUN_PLACES; place++)
        memcpy(m.c[place], m.before, ARENA);
}

/* ---- What is required ---- */

/* The groups of a product of rows in groups, in ascending order; -1: it is an ordinary one. */
static int64_t group_rows(xgemm_product *p)
{
    if (!one_in(8))
        return -1;
    const int64_t groups = pick(BATCH_MOST);
    if (!one_in(8)) {
        p->batch_count = 1;
        p->flags &= (unsigned)XGEMM_DEVICE_SCALARS;
    }
    m.offsets[0] = pick(3);
    for (int64_t i = 0; i < groups; i++)
        m.offsets[i + 1] = m.offsets[i] + pick(12);
    return groups;
}

static void require_same(const xgemm_product *p, int place)
{
    if (p->activation <= XGEMM_RELU)
        REQUIRE_THAT(same(p->type_c, m.c[place], m.c[0]),
                     "%lld x %lld x %lld, types %d %d, flags %u: place %d (%s) differs",
                     (long long)p->m, (long long)p->n, (long long)p->k, (int)p->type_a,
                     (int)p->type_c, p->flags, place, xgemm_last_kernel(handles[place]));
}

/* Its status, which is that of its plan where it is not multiplied by groups. */
static xgemm_status try_place(xgemm_product *p, int place, int64_t groups, bool can_run)
{
    xgemm_plan plan = {.struct_size = sizeof plan};
    char of_plan[256];
    point(p, place);
    const xgemm_status planned = xgemm_gemm_plan(handles[place], p, &plan);
    snprintf(of_plan, sizeof of_plan, "%s", xgemm_last_error(handles[place]));
    if (!can_run || place >= RUN_PLACES)
        return planned;
    const xgemm_status status = groups < 0
                                    ? xgemm_gemm(handles[place], p)
                                    : xgemm_gemm_ragged(handles[place], p, m.offsets, groups);
    const char *sentence = xgemm_last_error(handles[place]);
    const bool unplanned = p->flags & XGEMM_HOST_MEMORY && planned == XGEMM_ERROR_NOT_SUPPORTED;
    REQUIRE_THAT(status == planned || unplanned || groups >= 0, "%s (%s), but its plan %s (%s)",
                 xgemm_status_name(status), sentence, xgemm_status_name(planned), of_plan);
    REQUIRE_THAT(status == XGEMM_OK || *sentence, "%s", xgemm_status_name(status));
    REQUIRE_THAT(status != XGEMM_ERROR_OUT_OF_MEMORY, "%s", sentence);
    xgemm_synchronize(handles[place]);
    if (status != XGEMM_OK)
        REQUIRE_THAT(memcmp(m.c[place], m.before, ARENA) == 0, "C is changed: %s", sentence);
    else
        require_same(p, place);
    return status;
}

/* Whether it was computed. */
static bool try_product(xgemm_product *p)
{
    xgemm_status first = XGEMM_OK;
    const bool can_run = fits(p);
    const int64_t groups = group_rows(p);
    fill_all(p);
    for (int place = 0; place < (groups < 0 ? PLACES : RUN_PLACES); place++) {
        const xgemm_status status = try_place(p, place, groups, can_run);
        if (place == 0)
            first = status;
        /* Of a product of host memory there is no plan. */
        const bool alone = place >= RUN_PLACES && p->flags & XGEMM_HOST_MEMORY;
        REQUIRE_THAT(!can_run || status == first || alone, "%s: %s, but %s in the first place",
                     xgemm_last_error(handles[place]), xgemm_status_name(status),
                     xgemm_status_name(first));
    }
    return first == XGEMM_OK && can_run;
}

/* The plan for a GPU of the catalogue, in some math mode, by any kernel or one by name. */
static bool try_gpu(xgemm_product *p)
{
    static const xgemm_math maths[] = {XGEMM_MATH_DEFAULT, XGEMM_MATH_STRICT, XGEMM_MATH_TF32};
    xgemm_device gpu = {.struct_size = sizeof gpu};
    xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
    xgemm_plan plan = {.struct_size = sizeof plan, .device = &gpu};
    const bool by_name = one_in(3);
    point(p, 0);
    REQUIRE(xgemm_device_catalog_get(pick(xgemm_device_catalog_count()), &gpu) == XGEMM_OK);
    REQUIRE(xgemm_kernel_get(pick(xgemm_kernel_count()), &kernel) == XGEMM_OK);
    REQUIRE(xgemm_set_math(planner, maths[pick(3)]) == XGEMM_OK);
    if (!by_name || xgemm_set_kernel(planner, kernel.name)) /* as those of the CPU alone */
        REQUIRE(xgemm_set_kernel(planner, "auto") == XGEMM_OK);
    const xgemm_status status = xgemm_gemm_plan(planner, p, &plan);
    REQUIRE_THAT(status == XGEMM_OK || *xgemm_last_error(planner), "%s", xgemm_status_name(status));
    if (status == XGEMM_OK)
        REQUIRE_THAT(plan.microseconds >= 0.0 && plan.microseconds < 1e300 && plan.launches >= 0 &&
                         plan.tile_m >= 0 && plan.tile_n >= 0 && (!plan.kernel || plan.split_k > 0),
                     "%s for %s", plan.kernel ? plan.kernel : "no kernel", gpu.name);
    return status == XGEMM_OK;
}

/* ---- The program ---- */

static const char *const words[] = {"\x01", "\x01\x01\x01\x01", "\xff", "\x07\x03", NULL};

const fuzz_program fuzz_this = {"tests/gemm/corpus", words, 2500, 60};

void fuzz_begin(void)
{
    make_numbers();
    for (int place = 0; place < PLACES; place++) {
        REQUIRE_THAT(xgemm_create(&handles[place], places[place].device) == XGEMM_OK, "%s",
                     xgemm_last_error(NULL));
        REQUIRE_THAT(xgemm_set_kernel(handles[place], places[place].kernel) == XGEMM_OK, "%s",
                     xgemm_last_error(handles[place]));
    }
    REQUIRE(xgemm_create(&planner, XGEMM_DEVICE_SIM) == XGEMM_OK);
}

void fuzz_judge(const unsigned char *bytes, size_t size)
{
    input = bytes;
    input_size = size;
    union { /* as many bytes as the greatest struct_size that is taken says */
        xgemm_product product;
        unsigned char bytes[4096];
    } later = {.bytes = {0}};
    xgemm_product *const p = &later.product;
    *p = right_one();
    for (int wrong = one_in(2) ? 1 + pick(2) : 0; wrong > 0; wrong--)
        spoil(p);
    planned_for_gpus += try_gpu(p);
    taken += try_product(p);
}

void fuzz_end(unsigned long inputs)
{
    for (int place = 0; place < PLACES; place++)
        xgemm_destroy(handles[place]);
    xgemm_destroy(planner);
    printf("%lu products, of which %lu were computed in %d places and %lu planned for a GPU\n",
           inputs, taken, RUN_PLACES, planned_for_gpus);
}
