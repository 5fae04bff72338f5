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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARPGROUP = 128, /* threads */
    WARPGROUPS_A_BLOCK = XG_SIM_BLOCK_MAX / WARPGROUP,
    WARPGROUPS_MAX = XG_SIM_CLUSTER_MAX * WARPGROUPS_A_BLOCK,
    ROWS = 64,
    DEPTH = 16,
    COLUMNS_MAX = 256,
    TILES_MAX = 8, /* of accumulators, in flight at once */
    ROW_BYTES = 128,
    IN_FLIGHT_MAX = 256,     /* products that a thread has not waited for */
    RING = 2 * IN_FLIGHT_MAX /* other threads may be behind */
};

/* The accumulators of one or more products in a row: each thread's registers, and as a matrix. */
typedef struct {
    int columns;
    int64_t last;                /* number of the latest product that adds to them */
    float *registers[WARPGROUP]; /* of each thread; NULL: it has not issued yet */
    float values[ROWS * COLUMNS_MAX];
} accumulators;

typedef struct {
    uint64_t a, b;
    bool add, bf16;                     /* else FP16 */
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
static float halves[1 << 16];

static void fill_table(void)
{
    const unsigned last = 0xffff;
    for (unsigned half = 0; halves[last] == 0.0f && half <= last; half++)
        halves[half] = xg_sim_half_value(half);
}

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
        fill_table();
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

/* An operand as its descriptor says. */
typedef struct {
    unsigned address, group_bytes;
} operand;

static operand decode(uint64_t descriptor, const xg_sim_location *here)
{
    const operand o = {.address = (unsigned)(descriptor & 0x3fff) << 4,
                       .group_bytes = (unsigned)(descriptor >> 32 & 0x3fff) << 4};
    const uint64_t used = 0x3fffull | 0x3fffull << 16 | 0x3fffull << 32 | 7ull << 49 | 3ull << 62;
    if (descriptor & ~used || descriptor >> 49 & 7)
        xg_sim_fail_at(here, "has an operand whose descriptor 0x%016llx has bits that are not 0",
                       (unsigned long long)descriptor);
    if (descriptor >> 62 != 1)
        xg_sim_fail_at(here,
                       "has an operand with swizzle mode %u; the simulator knows mode 1, of "
                       "128 bytes",
                       (unsigned)(descriptor >> 62));
    if (o.address % (8 * ROW_BYTES) % ROW_BYTES % 32 != 0 ||
        o.address % (8 * ROW_BYTES) >= ROW_BYTES)
        xg_sim_fail_at(
            here,
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
static bool operand_reads(uint64_t descriptor, int rows, unsigned address, unsigned bytes)
{
    const operand o = {.address = (unsigned)(descriptor & 0x3fff) << 4,
                       .group_bytes = (unsigned)(descriptor >> 32 & 0x3fff) << 4};
    for (int row = 0; row < rows; row++)
        for (int chunk = 0; chunk < DEPTH / 8; chunk++)
            if (chunk_address(&o, row, chunk) - address < bytes)
                return true;
    return false;
}

static bool reads(int rank, unsigned address, unsigned bytes)
{
    for (int i = 0; i < WARPGROUPS_A_BLOCK; i++) {
        warpgroup *g = warpgroups[rank * WARPGROUPS_A_BLOCK + i];
        for (int64_t n = g ? g->computed : 0; g && n < g->begun; n++) {
            const product *p = product_at(g, n);
            if ((!p->a_in_registers && operand_reads(p->a, ROWS, address, bytes)) ||
                operand_reads(p->b, p->columns, address, bytes))
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
    const xg_sim_location *here = p->location;
    const operand o = decode(descriptor, here);
    for (int row = 0; row < rows; row++)
        for (int chunk = 0; chunk < DEPTH / 8; chunk++) {
            const unsigned address = chunk_address(&o, row, chunk);
            const void *from = xg_sim_shared_at(rank, address, 16);
            uint16_t values[8];
            if (!from)
                xg_sim_fail_at(here,
                               "multiplies what is outside the dynamic shared memory: 16 bytes "
                               "at 0x%x",
                               address);
            if (xg_sim_is_traced())
                xg_trace_model_reads(from, sizeof values, true, here);
            memcpy(values, from, sizeof values);
            for (int k = 0; k < 8; k++)
                to[row * row_step + (8 * chunk + k) * k_step] = value_of(values[k], p->bf16);
        }
}

/* Copies in flight to what a product reads. */
static void check_copies(uint64_t descriptor, int rows, int rank, const xg_sim_location *here)
{
    const operand o = decode(descriptor, here);
    const unsigned span = (unsigned)(rows / 8 - 1) * o.group_bytes + 8 * ROW_BYTES;
    if (!xg_sim_is_written(rank, o.address / ROW_BYTES * ROW_BYTES, span))
        return;
    for (int row = 0; row < rows; row++)
        for (int chunk = 0; chunk < DEPTH / 8; chunk++)
            if (xg_sim_is_written(rank, chunk_address(&o, row, chunk), 16))
                xg_sim_fail_at(here,
                               "multiplies what a bulk copy has not brought yet: 16 bytes at "
                               "0x%x",
                               chunk_address(&o, row, chunk));
}

/* A's elements of all threads' registers, see common/ptx_wgmma_ra.h. */
static void load_registers(float *to, const product *p)
{
    for (int lane = 0; lane < WARPGROUP; lane++)
        for (int i = 0; i < 8; i++) {
            const int row = lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8;
            const int k = lane % 4 * 2 + i % 2 + i / 4 * 8;
            to[row * DEPTH + k] = halves[p->a_registers[lane][i / 2] >> i % 2 * 16 & 0xffff];
        }
}

static void write_registers(const accumulators *tile)
{
    for (int lane = 0; lane < WARPGROUP; lane++)
        for (int i = 0; i < tile->columns / 2; i++)
            tile->registers[lane][i] = tile->values[element_of(lane, i, tile->columns)];
}

/*
 * What accumulators hold that nobody may touch between issue and wait: a NaN that signals, as no
 * calculation with it leaves it as it is.
 */
static const uint32_t poison = 0xffa5a5a5u;

static void fill_with_poison(float *registers, int count)
{
    for (int i = 0; i < count; i++)
        memcpy(&registers[i], &poison, sizeof poison);
}

static void check_poison(const accumulators *tile, const xg_sim_location *here)
{
    for (int lane = 0; lane < WARPGROUP; lane++)
        for (int i = 0; i < tile->columns / 2; i++) {
            uint32_t bits;
            memcpy(&bits, &tile->registers[lane][i], sizeof bits);
            if (bits != poison)
                xg_sim_fail_at(here,
                               "computes accumulators of which thread %d of the warpgroup changed "
                               "number %d since it issued the product",
                               lane, i);
        }
}

static void compute_next(warpgroup *g, int rank)
{
    static float a[ROWS * DEPTH], b[DEPTH * COLUMNS_MAX];
    const int64_t number = g->computed++;
    const product *p = product_at(g, number);
    accumulators *tile = g->tiles[p->tile];
    if (p->a_in_registers)
        load_registers(a, p);
    else {
        check_copies(p->a, ROWS, rank, p->location);
        load(a, DEPTH, 1, p->a, ROWS, rank, p);
    }
    check_copies(p->b, p->columns, rank, p->location);
    load(b, 1, p->columns, p->b, p->columns, rank, p);
    if (!p->add)
        memset(tile->values, 0, sizeof tile->values);
    xg_tensor_core_multiply(tile->values, a, b, p->columns);
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
static int tile_in_flight(const warpgroup *g, int lane, const float *registers, int columns,
                          const xg_sim_location *here)
{
    for (int i = 0; i < TILES_MAX && g->tiles[i]; i++) {
        const accumulators *tile = g->tiles[i];
        const float *other = tile->registers[lane];
        if (!other || g->awaited[lane] > tile->last)
            continue;
        if (other == registers && tile->columns == columns)
            return i;
        if (registers < other + tile->columns / 2 && other < registers + columns / 2)
            xg_sim_fail_at(here, "uses accumulators of which some belong to a product of another "
                                 "shape in flight");
    }
    return -1;
}

/* The thread's accumulators so far; the registers then hold nothing until it has waited. */
static void read_registers(accumulators *tile, int lane, float *registers)
{
    tile->registers[lane] = registers;
    for (int i = 0; i < tile->columns / 2; i++)
        tile->values[element_of(lane, i, tile->columns)] = registers[i];
    if (xg_sim_is_late())
        fill_with_poison(registers, tile->columns / 2);
}

static void begin(warpgroup *g, int lane, const product *wanted, int tile)
{
    if (g->begun - g->awaited[lane] == IN_FLIGHT_MAX)
        xg_sim_fail_at(wanted->location, "is one of more than %d matrix products in flight",
                       IN_FLIGHT_MAX);
    if (!wanted->a_in_registers)
        decode(wanted->a, wanted->location);
    decode(wanted->b, wanted->location);
    *product_at(g, g->begun) = *wanted;
    product_at(g, g->begun)->tile = tile >= 0 ? tile : new_tile(g, wanted->columns);
    g->begun++;
}

static void check_same(const product *p, const product *wanted)
{
    if (p->a != wanted->a || p->b != wanted->b || p->columns != wanted->columns ||
        p->add != wanted->add || p->bf16 != wanted->bf16 || p->group != wanted->group ||
        p->a_in_registers != wanted->a_in_registers)
        xg_sim_fail_at(wanted->location,
                       "issues another matrix product than the threads of its warpgroup before it, "
                       "of %s:%d",
                       p->location->file, p->location->line);
}

/* The thread's part of a product, whose accumulators are "registers". */
static product *issue(warpgroup *g, float *registers, product *wanted)
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

void xg_sim_wgmma(float *registers, uint64_t a, uint64_t b, int add, int columns, bool bf16,
                  const xg_sim_location *here)
{
    warpgroup *g = running_warpgroup(here);
    product wanted = {
        .a = a, .b = b, .add = add != 0, .bf16 = bf16, .columns = columns, .location = here};
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
