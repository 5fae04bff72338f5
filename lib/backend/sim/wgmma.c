/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wgmma. Each of a warpgroup's 128 threads issues a product and goes on; it is computed when the
 * last of them has issued it (early), or when all of them wait for it and nothing else can go on
 * (late).
 */
#include "model.h"
#include "running.h"
#include "scheduler.h"
#include "shared_memory.h"
#include "sm90_shim.h"
#include "tensor_core.h"
#include "trace_events.h"
#include "wgmma_operand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARPGROUP = 128, /* threads */
    WARPGROUPS_A_BLOCK = XG_SIM_BLOCK_MAX / WARPGROUP,
    WARPGROUPS_MAX = XG_SIM_CLUSTER_MAX * WARPGROUPS_A_BLOCK,
    ROWS = 64,
    DEPTH = XG_SIM_OPERAND_DEPTH,
    COLUMNS_MAX = 256,
    TILES_MAX = 8,           /* of accumulators, in flight at once */
    IN_FLIGHT_MAX = 256,     /* products that a thread has not waited for */
    RING = 2 * IN_FLIGHT_MAX /* other threads may be behind */
};

/*
 * The accumulators of one or more products in a row: each thread's registers, and as a matrix,
 * whose elements are floats, or integers of products of bytes. Registers are copied as bits.
 */
typedef struct {
    int columns;
    int64_t last;               /* number of the latest product that adds to them */
    char *registers[WARPGROUP]; /* of each thread; NULL: it has not issued yet */
    union {
        uint32_t bits[ROWS * COLUMNS_MAX];
        float f32[ROWS * COLUMNS_MAX];
        int32_t s32[ROWS * COLUMNS_MAX];
    } values;
} accumulators;

enum { REGISTER = 4 /* bytes */ };

typedef struct {
    uint64_t a, b;
    bool add;
    unsigned kind;                      /* XG_SIM_BF16, … */
    bool a_in_registers;                /* in place of a */
    unsigned a_registers[WARPGROUP][4]; /* as they were when the thread issued the product */
    int columns, tile;
    int issued;    /* threads */
    int64_t group; /* of those that are committed together */
    const xg_sim_location *location;
} product;

/* Products are numbered from 0; thread t waits for those before "awaited[t]". */
typedef struct {
    product products[RING];
    int64_t begun, computed;
    accumulators *tiles[TILES_MAX];
    int64_t issued[WARPGROUP], groups[WARPGROUP], awaited[WARPGROUP];
    bool fenced[WARPGROUP];
} warpgroup;

static warpgroup *warpgroups[WARPGROUPS_MAX];
static int warpgroup_count; /* of the running cluster that have used wgmma */

static int warpgroup_of(int thread)
{
    const int rank = thread / xg_sim_block_threads();
    return rank * WARPGROUPS_A_BLOCK + thread % xg_sim_block_threads() / WARPGROUP;
}

static int lane_of(int thread)
{
    return thread % xg_sim_block_threads() % WARPGROUP;
}

static warpgroup *running_warpgroup(const xg_sim_location *here)
{
    const int thread = xg_sim_thread(), number = warpgroup_of(thread);
    const int end = (thread % xg_sim_block_threads() / WARPGROUP + 1) * WARPGROUP;
    if (end > xg_sim_block_threads())
        xg_sim_fail_at(here, "is in a warpgroup of fewer than %d threads", WARPGROUP);
    if (!warpgroups[number]) {
        xg_sim_use_clocks();
        warpgroup_count++;
        warpgroups[number] = calloc(1, sizeof *warpgroups[number]);
        if (!warpgroups[number])
            xg_sim_no_memory("warpgroups");
    }
    return warpgroups[number];
}

static product *product_at(warpgroup *g, int64_t number)
{
    return &g->products[number % RING];
}

/* The element of the tile that is accumulator number i of thread "lane". */
static int element_of(int lane, int i, int columns)
{
    const int row = lane / 32 * 16 + lane % 32 / 4 + 8 * (i / 2 % 2);
    return row * columns + 8 * (i / 4) + lane % 4 * 2 + i % 2;
}

static xg_sim_operand operand_a(const product *p)
{
    return (xg_sim_operand){p->a, ROWS, (p->kind & XG_SIM_A_MN_MAJOR) != 0};
}

static xg_sim_operand operand_b(const product *p)
{
    return (xg_sim_operand){p->b, p->columns, (p->kind & XG_SIM_B_MN_MAJOR) != 0};
}

static bool reads(int rank, unsigned address, unsigned bytes)
{
    for (int i = 0; i < WARPGROUPS_A_BLOCK; i++) {
        warpgroup *g = warpgroups[rank * WARPGROUPS_A_BLOCK + i];
        for (int64_t n = g ? g->computed : 0; g && n < g->begun; n++) {
            const product *p = product_at(g, n);
            const xg_sim_operand a = operand_a(p), b = operand_b(p);
            if ((!p->a_in_registers && xg_sim_operand_reads(&a, address, bytes)) ||
                xg_sim_operand_reads(&b, address, bytes))
                return true;
        }
    }
    return false;
}

/* A's elements of all threads' registers, see common/ptx_wgmma_ra.h. */
static void load_registers(float *to, const product *p)
{
    for (int lane = 0; lane < WARPGROUP; lane++)
        for (int i = 0; i < 8; i++) {
            const int row = lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8;
            const int k = lane % 4 * 2 + i % 2 + i / 4 * 8;
            to[row * DEPTH + k] =
                xg_sim_half_value(p->a_registers[lane][i / 2] >> i % 2 * 16 & 0xffff);
        }
}

static void write_registers(const accumulators *tile)
{
    for (int lane = 0; lane < WARPGROUP; lane++)
        for (int i = 0; i < tile->columns / 2; i++)
            memcpy(tile->registers[lane] + i * REGISTER,
                   &tile->values.bits[element_of(lane, i, tile->columns)], REGISTER);
}

/*
 * What accumulators hold that nobody may touch between issue and wait: a NaN that signals, as no
 * calculation with it leaves it as it is.
 */
static const uint32_t poison = 0xffa5a5a5u;

static void fill_with_poison(char *registers, int count)
{
    for (int i = 0; i < count; i++)
        memcpy(registers + i * REGISTER, &poison, REGISTER);
}

static void check_poison(const accumulators *tile, const xg_sim_location *here)
{
    for (int lane = 0; lane < WARPGROUP; lane++)
        for (int i = 0; i < tile->columns / 2; i++) {
            uint32_t bits;
            memcpy(&bits, tile->registers[lane] + i * REGISTER, sizeof bits);
            if (bits != poison)
                xg_sim_fail_at(here,
                               "computes accumulators of which thread %d of the warpgroup changed "
                               "number %d since it issued the product",
                               lane, i);
        }
}

static void multiply_bytes(accumulators *tile, const product *p, int rank)
{
    static int8_t a[ROWS * DEPTH * 2], b[COLUMNS_MAX * DEPTH * 2];
    const xg_sim_operand from_a = operand_a(p), from_b = operand_b(p);
    xg_sim_operand_load_s8(&from_a, a, rank, p->location);
    xg_sim_operand_load_s8(&from_b, b, rank, p->location);
    xg_tensor_core_multiply_s8(tile->values.s32, a, b, p->columns);
}

static void multiply_floats(accumulators *tile, const product *p, int rank)
{
    static float a[ROWS * DEPTH], b[DEPTH * COLUMNS_MAX];
    const xg_sim_operand from_a = operand_a(p), from_b = operand_b(p);
    const bool bf16 = (p->kind & XG_SIM_BF16) != 0;
    if (p->a_in_registers)
        load_registers(a, p);
    else
        xg_sim_operand_load(&from_a, a, DEPTH, 1, rank, bf16, p->location);
    xg_sim_operand_load(&from_b, b, 1, p->columns, rank, bf16, p->location);
    xg_tensor_core_multiply(tile->values.f32, a, b, p->columns);
}

static void compute_next(warpgroup *g, int rank)
{
    const int64_t number = g->computed++;
    const product *p = product_at(g, number);
    accumulators *tile = g->tiles[p->tile];
    if (!p->add)
        memset(&tile->values, 0, sizeof tile->values);
    if (p->kind & XG_SIM_S8)
        multiply_bytes(tile, p, rank);
    else
        multiply_floats(tile, p, rank);
    if (xg_sim_is_late() && tile->last == number)
        check_poison(tile, p->location);
    if (!xg_sim_is_late() || tile->last == number)
        write_registers(tile);
}

/* Whether every thread has waited for all that adds to the accumulators. */
static bool is_free(const warpgroup *g, const accumulators *tile)
{
    for (int lane = 0; lane < WARPGROUP; lane++)
        if (g->awaited[lane] <= tile->last)
            return false;
    return true;
}

static int new_tile(warpgroup *g, int columns)
{
    int i = 0;
    while (i < TILES_MAX && g->tiles[i] && !is_free(g, g->tiles[i]))
        i++;
    if (i == TILES_MAX)
        xg_sim_fail("%s: more than %d tiles of accumulators in flight", xg_sim_where(), TILES_MAX);
    if (!g->tiles[i])
        g->tiles[i] = malloc(sizeof *g->tiles[i]);
    if (!g->tiles[i])
        xg_sim_no_memory("accumulators");
    g->tiles[i]->columns = columns;
    g->tiles[i]->last = g->begun;
    memset(g->tiles[i]->registers, 0, sizeof g->tiles[i]->registers);
    return i;
}

/* The tile in flight of which these are the thread's accumulators; -1: there is none. */
static int tile_in_flight(const warpgroup *g, int lane, const char *registers, int columns,
                          const xg_sim_location *here)
{
    for (int i = 0; i < TILES_MAX && g->tiles[i]; i++) {
        const accumulators *tile = g->tiles[i];
        const char *other = tile->registers[lane];
        if (!other || g->awaited[lane] > tile->last)
            continue;
        if (other == registers && tile->columns == columns)
            return i;
        if (registers < other + tile->columns / 2 * REGISTER &&
            other < registers + columns / 2 * REGISTER)
            xg_sim_fail_at(here, "uses accumulators of which some belong to a product of another "
                                 "shape in flight");
    }
    return -1;
}

/* The thread's accumulators so far; the registers then hold nothing until it has waited. */
static void read_registers(accumulators *tile, int lane, char *registers)
{
    tile->registers[lane] = registers;
    for (int i = 0; i < tile->columns / 2; i++)
        memcpy(&tile->values.bits[element_of(lane, i, tile->columns)], registers + i * REGISTER,
               REGISTER);
    if (xg_sim_is_late())
        fill_with_poison(registers, tile->columns / 2);
}

static void begin(warpgroup *g, int lane, const product *wanted, int tile)
{
    if (g->begun - g->awaited[lane] == IN_FLIGHT_MAX)
        xg_sim_fail_at(wanted->location, "is one of more than %d matrix products in flight",
                       IN_FLIGHT_MAX);
    const xg_sim_operand a = operand_a(wanted), b = operand_b(wanted);
    if (!wanted->a_in_registers)
        xg_sim_operand_check(&a, wanted->location);
    xg_sim_operand_check(&b, wanted->location);
    *product_at(g, g->begun) = *wanted;
    product_at(g, g->begun)->tile = tile >= 0 ? tile : new_tile(g, wanted->columns);
    g->begun++;
}

static void check_same(const product *p, const product *wanted)
{
    if (p->a != wanted->a || p->b != wanted->b || p->columns != wanted->columns ||
        p->add != wanted->add || p->kind != wanted->kind || p->group != wanted->group ||
        p->a_in_registers != wanted->a_in_registers)
        xg_sim_fail_at(wanted->location,
                       "issues another matrix product than the threads of its warpgroup before it, "
                       "of %s:%d",
                       p->location->file, p->location->line);
}

/* The thread's part of a product, whose accumulators are "registers". */
static product *issue(warpgroup *g, void *registers, product *wanted)
{
    const xg_sim_location *const here = wanted->location;
    const int lane = lane_of(xg_sim_thread()), columns = wanted->columns;
    wanted->group = g->groups[lane];
    const int in_flight = tile_in_flight(g, lane, registers, columns, here);
    const int64_t number = g->issued[lane]++;
    if (in_flight < 0 && !g->fenced[lane])
        xg_sim_fail_at(here, "uses accumulators that other instructions may have used, with no "
                             "xg_wgmma_fence() since the last wait");
    if (number == g->begun)
        begin(g, lane, wanted, in_flight);
    product *p = product_at(g, number);
    check_same(p, wanted);
    accumulators *tile = g->tiles[p->tile];
    if (in_flight < 0 && !tile->registers[lane])
        read_registers(tile, lane, registers);
    else if (tile->registers[lane] != registers)
        xg_sim_fail_at(here, "uses other accumulators than the threads of its warpgroup before it");
    if (number > tile->last)
        tile->last = number;
    p->issued++;
    return p;
}

static void compute_if_issued(warpgroup *g, const product *p)
{
    if (p->issued == WARPGROUP && !xg_sim_is_late())
        compute_next(g, xg_sim_rank());
}

void xg_sim_wgmma(void *registers, uint64_t a, uint64_t b, int add, int columns, unsigned kind,
                  const xg_sim_location *here)
{
    warpgroup *g = running_warpgroup(here);
    product wanted = {
        .a = a, .b = b, .add = add != 0, .kind = kind, .columns = columns, .location = here};
    compute_if_issued(g, issue(g, registers, &wanted));
}

void xg_sim_wgmma_ra(float *registers, const unsigned *a, uint64_t b, int add, int columns,
                     const xg_sim_location *here)
{
    warpgroup *g = running_warpgroup(here);
    product wanted = {
        .b = b, .add = add != 0, .a_in_registers = true, .columns = columns, .location = here};
    product *p = issue(g, registers, &wanted);
    memcpy(p->a_registers[lane_of(xg_sim_thread())], a, sizeof p->a_registers[0]);
    compute_if_issued(g, p);
}

void xg_sim_wgmma_fence(const xg_sim_location *here)
{
    running_warpgroup(here)->fenced[lane_of(xg_sim_thread())] = true;
}

void xg_sim_wgmma_commit(const xg_sim_location *here)
{
    running_warpgroup(here)->groups[lane_of(xg_sim_thread())]++;
}

static bool is_computed(int thread)
{
    const warpgroup *g = warpgroups[warpgroup_of(thread)];
    return g->computed >= g->awaited[lane_of(thread)];
}

/* All threads have issued the next product, and wait for it or have done so. */
static bool can_force(int thread)
{
    const warpgroup *g = warpgroups[warpgroup_of(thread)];
    for (int lane = 0; lane < WARPGROUP; lane++)
        if (g->awaited[lane] <= g->computed)
            return false;
    return xg_sim_is_late();
}

static void force(int thread)
{
    compute_next(warpgroups[warpgroup_of(thread)], thread / xg_sim_block_threads());
}

static void describe(int thread, char *text, size_t size)
{
    warpgroup *g = warpgroups[warpgroup_of(thread)];
    int lane = 0;
    while (lane < WARPGROUP - 1 && g->awaited[lane] > g->computed)
        lane++;
    snprintf(text, size,
             "waits without end for a matrix product: thread %d of the warpgroup has issued %lld "
             "of %lld and waits for %lld of them",
             lane, (long long)g->issued[lane], (long long)g->begun, (long long)g->awaited[lane]);
}

void xg_sim_wgmma_wait(int groups_left, const xg_sim_location *here)
{
    static const xg_sim_condition condition = {is_computed, can_force, force, describe, 2};
    warpgroup *g = running_warpgroup(here);
    const int lane = lane_of(xg_sim_thread());
    int64_t number = g->issued[lane];
    while (number > g->awaited[lane] &&
           product_at(g, number - 1)->group >= g->groups[lane] - groups_left)
        number--;
    if (number > g->awaited[lane])
        g->awaited[lane] = number;
    g->fenced[lane] = false;
    xg_sim_sync_lanes(0xffffffff, false, here);
    xg_sim_wait(&condition, here);
}

static void thread_ends(int thread)
{
    const warpgroup *g = warpgroup_count > 0 ? warpgroups[warpgroup_of(thread)] : NULL;
    const int lane = lane_of(thread);
    if (g && g->awaited[lane] < g->issued[lane]) {
        const xg_sim_location *location = g->products[g->awaited[lane] % RING].location;
        xg_sim_fail("%s leaves the kernel and has not waited for the matrix product of %s:%d",
                    xg_sim_where(), location->file, location->line);
    }
}

static void reset(void)
{
    for (int i = 0; warpgroup_count > 0 && i < WARPGROUPS_MAX; i++) {
        for (int tile = 0; warpgroups[i] && tile < TILES_MAX; tile++)
            free(warpgroups[i]->tiles[tile]);
        free(warpgroups[i]);
        warpgroups[i] = NULL;
    }
    warpgroup_count = 0;
}

const xg_sim_model xg_sim_wgmma_model = {
    .thread_ends = thread_ends, .reset = reset, .reads = reads};
