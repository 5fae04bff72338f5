/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrix products of warpgroups (wgmma). Each of the 128 threads issues a product
 * and goes on; it is computed when the last of them has issued it (early), or when
 * all of them wait for it and nothing else can go on (late).
 */
#include "scheduler.h"
#include "shared.h"
#include "sm90_shim.h"
#include "specialised.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 128, /* threads of a warpgroup */
    GROUPS_A_BLOCK = XG_SIM_BLOCK_MAX / GROUP,
    GROUPS_MAX = XG_SIM_CLUSTER_MAX * GROUPS_A_BLOCK,
    ROWS = 64,
    DEPTH = 16,
    COLUMNS_MAX = 256,
    SETS_MAX = 8, /* sums on their way at once */
    ROW_BYTES = 128,
    AHEAD_MAX = 256,      /* products that a thread has not waited for */
    SLOTS = 2 * AHEAD_MAX /* other threads may be behind */
};

/* The registers of one or more products in a row, and the sums as a matrix. */
typedef struct {
    int columns;
    int64_t last;       /* number of the latest product that adds to them */
    float *sums[GROUP]; /* of each thread; NULL: it has not issued yet */
    float values[ROWS * COLUMNS_MAX];
} sum_set;

typedef struct {
    uint64_t a, b;
    bool add, bf16; /* else FP16 */
    int columns, set;
    int issued; /* threads */
    int64_t batch;
    const xg_sim_place *place;
} product;

/* Products are numbered from 0; thread t waits for those before "awaited[t]". */
typedef struct {
    product products[SLOTS];
    int64_t begun, computed;
    sum_set *sets[SETS_MAX];
    int64_t issued[GROUP], batches[GROUP], awaited[GROUP];
    bool fenced[GROUP];
} warpgroup;

static warpgroup *groups[GROUPS_MAX];
static float halves[1 << 16];

static void fill_table(void)
{
    const unsigned last = 0xffff;
    for (unsigned half = 0; halves[last] == 0.0f && half <= last; half++)
        halves[half] = xg_sim_half_value(half);
}

static int group_of(int thread)
{
    const int rank = thread / xg_sim_block_threads();
    return rank * GROUPS_A_BLOCK + thread % xg_sim_block_threads() / GROUP;
}

static int lane_of(int thread)
{
    return thread % xg_sim_block_threads() % GROUP;
}

static warpgroup *running_group(const xg_sim_place *here)
{
    const int thread = xg_sim_thread(), number = group_of(thread);
    const int end = (thread % xg_sim_block_threads() / GROUP + 1) * GROUP;
    if (end > xg_sim_block_threads())
        xg_sim_blame(here, "is in a warpgroup of fewer than %d threads", GROUP);
    if (!groups[number]) {
        xg_sim_specialise();
        fill_table();
        groups[number] = calloc(1, sizeof *groups[number]);
        if (!groups[number])
            xg_sim_abandon("%s: no memory for the simulator's warpgroups", xg_sim_where());
    }
    return groups[number];
}

static product *product_at(warpgroup *g, int64_t number)
{
    return &g->products[number % SLOTS];
}

/* Where thread "lane" has its sum number i. */
static int element_of(int lane, int i, int columns)
{
    const int row = lane / 32 * 16 + lane % 32 / 4 + 8 * (i / 2 % 2);
    return row * columns + 8 * (i / 4) + lane % 4 * 2 + i % 2;
}

/* An operand as its descriptor says. */
typedef struct {
    unsigned address, group_bytes;
} operand;

static operand decode(uint64_t descriptor, const xg_sim_place *here)
{
    const operand o = {.address = (unsigned)(descriptor & 0x3fff) << 4,
                       .group_bytes = (unsigned)(descriptor >> 32 & 0x3fff) << 4};
    const uint64_t used = 0x3fffull | 0x3fffull << 16 | 0x3fffull << 32 | 7ull << 49 | 3ull << 62;
    if (descriptor & ~used || descriptor >> 49 & 7)
        xg_sim_blame(here, "has an operand whose descriptor 0x%016llx has bits that are not 0",
                     (unsigned long long)descriptor);
    if (descriptor >> 62 != 1)
        xg_sim_blame(here,
                     "has an operand with swizzle mode %u; the simulator knows mode 1, of "
                     "128 bytes",
                     (unsigned)(descriptor >> 62));
    if (o.address % (8 * ROW_BYTES) % ROW_BYTES % 32 != 0 ||
        o.address % (8 * ROW_BYTES) >= ROW_BYTES)
        xg_sim_blame(here,
                     "has an operand at 0x%x; it must begin at a multiple of 1024, or 32, 64 or 96 "
                     "bytes after it",
                     o.address);
    return o;
}

/* Where the 8 elements from k = 8 * chunk of a row are: the swizzle is of the address's bits. */
static unsigned chunk_address(const operand *o, int row, int chunk)
{
    const unsigned plain = o->address + (unsigned)(row / 8) * o->group_bytes +
                           (unsigned)(row % 8) * ROW_BYTES + (unsigned)chunk * 16;
    return plain ^ (plain >> 7 & 7) << 4;
}

/* Whether a product reads some of the bytes from one of its operands. */
static bool reads(uint64_t descriptor, int rows, unsigned address, unsigned bytes)
{
    const operand o = {.address = (unsigned)(descriptor & 0x3fff) << 4,
                       .group_bytes = (unsigned)(descriptor >> 32 & 0x3fff) << 4};
    for (int row = 0; row < rows; row++)
        for (int chunk = 0; chunk < DEPTH / 8; chunk++)
            if (chunk_address(&o, row, chunk) - address < bytes)
                return true;
    return false;
}

bool xg_sim_wgmma_reads(int rank, unsigned address, unsigned bytes)
{
    for (int i = 0; i < GROUPS_A_BLOCK; i++) {
        warpgroup *g = groups[rank * GROUPS_A_BLOCK + i];
        for (int64_t n = g ? g->computed : 0; g && n < g->begun; n++) {
            const product *p = product_at(g, n);
            if (reads(p->a, ROWS, address, bytes) || reads(p->b, p->columns, address, bytes))
                return true;
        }
    }
    return false;
}

static float value_of(uint16_t bits, bool bf16)
{
    const uint32_t as_float = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &as_float, sizeof value);
    return bf16 ? value : halves[bits];
}

/* Element (row, k) of an operand of the product to to[row * row_step + k * k_step]. */
static void load(float *to, int row_step, int k_step, uint64_t descriptor, int rows, int rank,
                 const product *p)
{
    const xg_sim_place *here = p->place;
    const operand o = decode(descriptor, here);
    for (int row = 0; row < rows; row++)
        for (int chunk = 0; chunk < DEPTH / 8; chunk++) {
            const unsigned address = chunk_address(&o, row, chunk);
            const void *from = xg_sim_shared_at(rank, address, 16);
            uint16_t values[8];
            if (!from)
                xg_sim_blame(here,
                             "multiplies what is outside the dynamic shared memory: 16 bytes "
                             "at 0x%x",
                             address);
            if (xg_sim_is_watched())
                xg_trace_model_reads(from, sizeof values, true, here);
            memcpy(values, from, sizeof values);
            for (int k = 0; k < 8; k++)
                to[row * row_step + (8 * chunk + k) * k_step] = value_of(values[k], p->bf16);
        }
}

/* Copies that are on their way to what a product reads. */
static void check_copies(uint64_t descriptor, int rows, int rank, const xg_sim_place *here)
{
    const operand o = decode(descriptor, here);
    const unsigned span = (unsigned)(rows / 8 - 1) * o.group_bytes + 8 * ROW_BYTES;
    if (!xg_sim_bulk_covers(rank, o.address / ROW_BYTES * ROW_BYTES, span))
        return;
    for (int row = 0; row < rows; row++)
        for (int chunk = 0; chunk < DEPTH / 8; chunk++)
            if (xg_sim_bulk_covers(rank, chunk_address(&o, row, chunk), 16))
                xg_sim_blame(here,
                             "multiplies what a bulk copy has not brought yet: 16 bytes at "
                             "0x%x",
                             chunk_address(&o, row, chunk));
}

static void hand_out(const sum_set *set)
{
    for (int lane = 0; lane < GROUP; lane++)
        for (int i = 0; i < set->columns / 2; i++)
            set->sums[lane][i] = set->values[element_of(lane, i, set->columns)];
}

/*
 * What sums hold that nobody may touch between issue and wait: a NaN that
 * signals, as no calculation with it leaves it as it is.
 */
static const uint32_t poison = 0xffa5a5a5u;

static void fill_with_poison(float *sums, int count)
{
    for (int i = 0; i < count; i++)
        memcpy(&sums[i], &poison, sizeof poison);
}

static void check_poison(const sum_set *set, const xg_sim_place *here)
{
    for (int lane = 0; lane < GROUP; lane++)
        for (int i = 0; i < set->columns / 2; i++) {
            uint32_t bits;
            memcpy(&bits, &set->sums[lane][i], sizeof bits);
            if (bits != poison)
                xg_sim_blame(here,
                             "computes sums of which thread %d of the warpgroup changed number %d "
                             "since it issued the product",
                             lane, i);
        }
}

static void compute_next(warpgroup *g, int rank)
{
    static float a[ROWS * DEPTH], b[DEPTH * COLUMNS_MAX];
    const int64_t number = g->computed++;
    const product *p = product_at(g, number);
    sum_set *set = g->sets[p->set];
    check_copies(p->a, ROWS, rank, p->place);
    check_copies(p->b, p->columns, rank, p->place);
    load(a, DEPTH, 1, p->a, ROWS, rank, p);
    load(b, 1, p->columns, p->b, p->columns, rank, p);
    if (!p->add)
        memset(set->values, 0, sizeof set->values);
    xg_sim_product(set->values, a, b, p->columns);
    if (xg_sim_is_late() && set->last == number)
        check_poison(set, p->place);
    if (!xg_sim_is_late() || set->last == number)
        hand_out(set);
}

/* Whether every thread has waited for all that adds to the sums. */
static bool is_free(const warpgroup *g, const sum_set *set)
{
    for (int lane = 0; lane < GROUP; lane++)
        if (g->awaited[lane] <= set->last)
            return false;
    return true;
}

static int new_set(warpgroup *g, int columns)
{
    int i = 0;
    while (i < SETS_MAX && g->sets[i] && !is_free(g, g->sets[i]))
        i++;
    if (i == SETS_MAX)
        xg_sim_abandon("%s: more than %d sums of matrix products on their way", xg_sim_where(),
                       SETS_MAX);
    if (!g->sets[i])
        g->sets[i] = malloc(sizeof *g->sets[i]);
    if (!g->sets[i])
        xg_sim_abandon("%s: no memory for the simulator's sums", xg_sim_where());
    g->sets[i]->columns = columns;
    g->sets[i]->last = g->begun;
    memset(g->sets[i]->sums, 0, sizeof g->sets[i]->sums);
    return i;
}

/* The set on its way of which the thread has these sums; -1: there is none. */
static int set_on_its_way(const warpgroup *g, int lane, const float *sum, int columns,
                          const xg_sim_place *here)
{
    for (int i = 0; i < SETS_MAX && g->sets[i]; i++) {
        const sum_set *set = g->sets[i];
        const float *other = set->sums[lane];
        if (!other || g->awaited[lane] > set->last)
            continue;
        if (other == sum && set->columns == columns)
            return i;
        if (sum < other + set->columns / 2 && other < sum + columns / 2)
            xg_sim_blame(here, "uses sums of which some belong to a product of another shape on "
                               "its way");
    }
    return -1;
}

/* The thread's old sums, which then hold nothing until it has waited. */
static void take_sums(sum_set *set, int lane, float *sum)
{
    set->sums[lane] = sum;
    for (int i = 0; i < set->columns / 2; i++)
        set->values[element_of(lane, i, set->columns)] = sum[i];
    if (xg_sim_is_late())
        fill_with_poison(sum, set->columns / 2);
}

static void begin(warpgroup *g, int lane, const product *wanted, int set)
{
    if (g->begun - g->awaited[lane] == AHEAD_MAX)
        xg_sim_blame(wanted->place, "is one of more than %d matrix products on their way",
                     AHEAD_MAX);
    decode(wanted->a, wanted->place);
    decode(wanted->b, wanted->place);
    *product_at(g, g->begun) = *wanted;
    product_at(g, g->begun)->set = set >= 0 ? set : new_set(g, wanted->columns);
    g->begun++;
}

static void check_same(const product *p, const product *wanted)
{
    if (p->a != wanted->a || p->b != wanted->b || p->columns != wanted->columns ||
        p->add != wanted->add || p->bf16 != wanted->bf16 || p->batch != wanted->batch)
        xg_sim_blame(wanted->place,
                     "issues another matrix product than the threads of its warpgroup before it, "
                     "of %s:%d",
                     p->place->file, p->place->line);
}

void xg_sim_wgmma(float *sum, uint64_t a, uint64_t b, int add, int columns, bool bf16,
                  const xg_sim_place *here)
{
    warpgroup *g = running_group(here);
    const int lane = lane_of(xg_sim_thread());
    const product wanted = {.a = a,
                            .b = b,
                            .add = add != 0,
                            .bf16 = bf16,
                            .columns = columns,
                            .batch = g->batches[lane],
                            .place = here};
    const int set = set_on_its_way(g, lane, sum, columns, here);
    const int64_t number = g->issued[lane]++;
    if (set < 0 && !g->fenced[lane])
        xg_sim_blame(here, "uses sums that other instructions may have used, with no "
                           "xg_wgmma_fence() since the last wait");
    if (number == g->begun)
        begin(g, lane, &wanted, set);
    product *p = product_at(g, number);
    check_same(p, &wanted);
    sum_set *sums = g->sets[p->set];
    if (set < 0 && !sums->sums[lane])
        take_sums(sums, lane, sum);
    else if (sums->sums[lane] != sum)
        xg_sim_blame(here, "uses other sums than the threads of its warpgroup before it");
    if (number > sums->last)
        sums->last = number;
    if (++p->issued == GROUP && !xg_sim_is_late())
        compute_next(g, xg_sim_rank());
}

void xg_sim_wgmma_fence(const xg_sim_place *here)
{
    running_group(here)->fenced[lane_of(xg_sim_thread())] = true;
}

void xg_sim_wgmma_commit(const xg_sim_place *here)
{
    running_group(here)->batches[lane_of(xg_sim_thread())]++;
}

static bool has_come(int thread)
{
    const warpgroup *g = groups[group_of(thread)];
    return g->computed >= g->awaited[lane_of(thread)];
}

/* All threads have issued the next product, and wait for it or have done so. */
static bool can_force(int thread)
{
    const warpgroup *g = groups[group_of(thread)];
    for (int lane = 0; lane < GROUP; lane++)
        if (g->awaited[lane] <= g->computed)
            return false;
    return xg_sim_is_late();
}

static void force(int thread)
{
    compute_next(groups[group_of(thread)], thread / xg_sim_block_threads());
}

static void describe(int thread, char *text, size_t size)
{
    warpgroup *g = groups[group_of(thread)];
    int lane = 0;
    while (lane < GROUP - 1 && g->awaited[lane] > g->computed)
        lane++;
    snprintf(text, size,
             "waits without end for a matrix product: thread %d of the warpgroup has issued %lld "
             "of %lld and waits for %lld of them",
             lane, (long long)g->issued[lane], (long long)g->begun, (long long)g->awaited[lane]);
}

void xg_sim_wgmma_wait(int groups_left, const xg_sim_place *here)
{
    static const xg_sim_condition condition = {has_come, can_force, force, describe, 2};
    warpgroup *g = running_group(here);
    const int lane = lane_of(xg_sim_thread());
    int64_t number = g->issued[lane];
    while (number > g->awaited[lane] &&
           product_at(g, number - 1)->batch >= g->batches[lane] - groups_left)
        number--;
    if (number > g->awaited[lane])
        g->awaited[lane] = number;
    g->fenced[lane] = false;
    xg_sim_meet(0xffffffff, false, here);
    xg_sim_wait(&condition, here);
}

void xg_sim_wgmma_thread_ends(int thread)
{
    const warpgroup *g = groups[group_of(thread)];
    const int lane = lane_of(thread);
    if (g && g->awaited[lane] < g->issued[lane])
        xg_sim_abandon("%s leaves the kernel and has not waited for the matrix product of %s:%d",
                       xg_sim_where(), g->products[g->awaited[lane] % SLOTS].place->file,
                       g->products[g->awaited[lane] % SLOTS].place->line);
}

void xg_sim_wgmma_forget(void)
{
    for (int i = 0; i < GROUPS_MAX; i++) {
        for (int set = 0; groups[i] && set < SETS_MAX; set++)
            free(groups[i]->sets[set]);
        free(groups[i]);
        groups[i] = NULL;
    }
}
