/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a product of F16 or BF16 operands is computed: which tile, how many splits of k, and how long
 * it takes.
 *
 *     time = launches + copies + waves * (k-blocks * block_us + tile_us) + reduction
 *
 * A wave is a work item on each multiprocessor, and takes no less than its stores; all waves take
 * no less than the memory does for operands and C. block_us is by whether L2 holds the operands.
 * The copies and the reduction take a launch, and their bytes at the memory's rate.
 */
#include "families/split_search.h"
#include "half.h"

#include <math.h>

enum { PER_SPLIT_LEAST = 256 /* k */, SPLITS_MOST = 128, SIZE_MOST = INT32_MAX / 2 };

/*
 * How C is computed: in tiles of so many columns by CTAs of so many rows, "cluster" of them one
 * above the other, which share tiles of B; the last split_tiles of them by split-K with so many
 * splits, which half_reduce adds up. With splits_in_cluster every tile is split, and the CTAs of a
 * cluster have its splits and add them up; of tiles with 64 rows the two warpgroups have a part
 * each, too (sliced-K).
 */
typedef struct {
    int tile_n, cluster;
    int cta_rows; /* XG_HALF_TILE_M, or of 64 columns half of that */
    int64_t splits, split_tiles;
    bool splits_in_cluster; /* then "cluster" is 1 and split_tiles 0 */
} tiling;

/* Elements: lines of 128 bytes. A box of a tensor map whose rows lie across lines takes longer. */
enum { COPY_ALIGNMENT = 64 };

/* Copies and partial sums of a pass, at most, unless a single product has more; and of that. */
#define PASS_BYTES    0x1p29
#define PRODUCT_BYTES 0x1p36
#define STRIDE_BYTES  0x1p40 /* below which tensor maps have strides */

/* "ragged": its lines are divided by groups; else a group has an operand of its own. */
static xg_half_operand operand_of(const void *base, int64_t mn, int64_t k, int64_t stride_mn,
                                  int64_t stride_k, int64_t batch_stride, bool ragged,
                                  const xg_problem *p)
{
    const int64_t matrices = p->groups > 0 && !ragged ? p->groups : p->batch_count;
    const bool mn_major = stride_mn == 1 && (stride_k != 1 || k == 1);
    xg_half_operand of = {.mn_major = mn_major,
                          .batched = matrices > 1 && (batch_stride > 0 || p->pointer_arrays),
                          .lines = mn_major ? k : mn,
                          .length = mn_major ? mn : k,
                          .stride = mn_major ? stride_k : stride_mn,
                          .batch_stride = batch_stride};
    of.copied_stride = xg_round_up(of.length, COPY_ALIGNMENT);
    of.aligned = !p->pointer_arrays && (uintptr_t)base % 16 == 0 &&
                 (of.lines == 1 || of.stride % XG_HALF_ALIGNMENT == 0) &&
                 (!of.batched || batch_stride % XG_HALF_ALIGNMENT == 0);
    return of;
}

xg_half_operand xg_half_operand_a(const xg_problem *p)
{
    return operand_of(p->a, p->m, p->k, p->a_stride_m, p->a_stride_k, p->a_batch_stride,
                      !p->ragged_columns, p);
}

xg_half_operand xg_half_operand_b(const xg_problem *p)
{
    return operand_of(p->b, p->n, p->k, p->b_stride_n, p->b_stride_k, p->b_batch_stride,
                      p->ragged_columns, p);
}

/*
 * TMA takes 4 to 7 ns more for each k of a narrow MN-major box whose rows do not begin with
 * sectors: from so many k on an aligned copy is made sooner.
 */
static xg_half_operand for_tma(xg_half_operand of, const xg_problem *p)
{
    enum { SECTOR_ELEMENTS = 16, FEW = 64, K_THAT_PAYS = 2048 };
    if (p->groups == 0 && of.mn_major && of.length <= FEW && of.lines >= K_THAT_PAYS &&
        of.stride % SECTOR_ELEMENTS != 0)
        of.aligned = false;
    return of;
}

xg_half_operand xg_half_tma_operand_a(const xg_problem *p)
{
    return for_tma(xg_half_operand_a(p), p);
}

xg_half_operand xg_half_tma_operand_b(const xg_problem *p)
{
    return for_tma(xg_half_operand_b(p), p);
}

/* The bytes of the copies of so many products. */
static double copy_bytes(const xg_half_operand *of, int64_t products)
{
    const int64_t copies = of->batched ? products : 1;
    return of->aligned ? 0.0
                       : xg_room_bytes((double)of->lines * (double)copies,
                                       (double)of->copied_stride, XG_F16);
}

int xg_half_tile_k(int tile_n)
{
    return tile_n == 64 ? 128 : 64;
}

bool xg_half_c_is_aligned(const xg_problem *p)
{
    const int64_t unit = 16 / (int64_t)xg_type_bytes(p->type_c);
    return !p->pointer_arrays && !p->ragged_columns && (uintptr_t)p->c % 16 == 0 &&
           p->c_stride_m % unit == 0 && p->c_batch_stride % unit == 0 && p->n % unit == 0;
}

/*
 * Clusters that run at once: each among six neighbouring multiprocessors (a third of a GPC): 32
 * clusters of four took two waves on an H100, of three one.
 */
static int64_t clusters_of(const xg_request *request, int cluster)
{
    enum { NEIGHBOURS = 6 };
    const int all = request->target.multiprocessors;
    const int of = cluster <= 2 || all < NEIGHBOURS ? all / cluster
                                                    : all / NEIGHBOURS * (NEIGHBOURS / cluster);
    return of > 1 ? of : 1;
}

/*
 * By the tiling, of so many products a launch. CTAs are so many that a multiprocessor has one, or
 * as few more as share the work evenly. Of ragged groups tiles are as many as there may be, and
 * none is split.
 */
static xg_half_schedule schedule_of(const xg_request *request, const tiling *way, int64_t products)
{
    const xg_problem *const p = &request->problem;
    xg_half_schedule of = {.cluster = way->cluster,
                           .cta_rows = way->cta_rows,
                           .launch_cluster =
                               way->splits_in_cluster ? (int)way->splits : way->cluster,
                           .splits = way->splits};
    const int64_t tile_m = (int64_t)way->cta_rows * of.cluster, rows = xg_round_up(p->m, 16);
    of.rows = xg_ceil_div(p->m, tile_m) + (p->ragged_columns ? 0 : p->groups);
    of.columns = xg_ceil_div(p->n, way->tile_n) + (p->ragged_columns ? p->groups : 0);
    of.k_blocks = xg_ceil_div(p->k, xg_half_tile_k(way->tile_n));
    of.k_blocks_per_split = xg_ceil_div(of.k_blocks, way->splits);
    of.split_tiles = way->splits > 1 ? way->split_tiles : 0;
    of.whole = of.rows * of.columns - of.split_tiles;
    of.tile_rows = rows < tile_m ? rows : tile_m;
    of.sum_bytes = 4.0 * (double)(of.split_tiles * of.splits) * (double)of.tile_rows * way->tile_n;
    const int64_t items = of.whole + of.split_tiles * of.splits;
    const int64_t all = xg_of_pass(items, products);
    of.ctas = of.launch_cluster *
              (way->splits_in_cluster
                   ? items
                   : xg_ceil_div(all, xg_ceil_div(all, clusters_of(request, of.cluster))));
    return of;
}

xg_half_schedule xg_half_schedule_of_candidate(const xg_candidate *of, const xg_request *request)
{
    const int64_t k = request->problem.k;
    const bool in_cluster = of->splits_in_cluster;
    const tiling way = {.tile_n = of->tile_n,
                        .cluster = of->cluster > 1 && !in_cluster ? of->cluster : 1,
                        .cta_rows = of->tile_m,
                        .splits = of->k_per_split < k ? xg_ceil_div(k, of->k_per_split) : 1,
                        .split_tiles = of->split_tiles,
                        .splits_in_cluster = in_cluster};
    return schedule_of(request, &way, of->batch_per_pass);
}

int64_t xg_half_products(const xg_candidate *of, const xg_request *request)
{
    const int64_t groups = request->problem.groups;
    return groups > 0 ? groups : of->batch_per_pass;
}

bool xg_half_operands_fit(const xg_problem *p)
{
    if (p->groups > XG_GRID_Z_MAX || (p->groups > 0 && xg_has_no_product(p)))
        return false;
    const xg_half_operand a = xg_half_tma_operand_a(p), b = xg_half_tma_operand_b(p);
    const double most = STRIDE_BYTES / 2;
    const int64_t least = p->groups > 0 ? p->groups : 1; /* products whose copies there must be */
    return (double)a.stride < most && (double)b.stride < most && (double)a.batch_stride < most &&
           (double)b.batch_stride < most &&
           copy_bytes(&a, least) + copy_bytes(&b, least) < PRODUCT_BYTES;
}

double xg_half_pass_bytes(const xg_half_operand *a, const xg_half_operand *b,
                          const xg_half_schedule *of, int64_t products)
{
    return copy_bytes(a, products) + copy_bytes(b, products) +
           (of->split_tiles > 0 ? xg_room_bytes((double)products, of->sum_bytes / 4, XG_F32) : 0.0);
}

int64_t xg_half_products_within(const xg_request *request, const xg_half_operand *a,
                                const xg_half_operand *b, const xg_half_schedule *of)
{
    const double room = request->workspace_limit == SIZE_MAX
                            ? PASS_BYTES
                            : xg_smaller((double)request->workspace_limit, PASS_BYTES);
    if (request->problem.groups > 0)
        return 1;
    int64_t products = xg_products_of_grid(&request->problem);
    while (products > 1 && xg_half_pass_bytes(a, b, of, products) > room)
        products = xg_ceil_div(products, 2);
    return products;
}

double xg_half_beside_us(const xg_request *request, const xg_half_operand *a,
                         const xg_half_operand *b, const xg_half_schedule *of, int64_t products)
{
    const xg_costs *const costs = request->target.costs;
    const int64_t groups = request->problem.groups;
    const int64_t copies = groups > 0 ? groups : products; /* whose operands there are */
    const double copied = copy_bytes(a, copies) + copy_bytes(b, copies);
    double us = 0.0;
    if (copied > 0.0)
        us += costs->half_align_us + 2.0 * copied / costs->half_align_rate;
    if (of->split_tiles > 0)
        us += costs->half_reduce_us + (double)products * of->sum_bytes / costs->half_reduce_rate;
    return us;
}

double xg_half_memory_us(const xg_request *request, const xg_half_operand *a,
                         const xg_half_operand *b, int64_t products)
{
    const xg_problem *const p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const double all = (double)products;
    const double read =
        2.0 * (double)p->k *
        ((a->batched ? all : 1.0) * (double)p->m + (b->batched ? all : 1.0) * (double)p->n);
    const double written = all * (double)p->m * (double)p->n * (double)xg_type_bytes(p->type_c);
    return read / costs->half_read_rate + written / costs->half_write_rate;
}

double xg_half_longer_us(double computed_us, double memory_us)
{
    const double also = 0.03;
    return xg_larger(computed_us, memory_us) + also * xg_smaller(computed_us, memory_us);
}

bool xg_half_applies(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    return kernel->typed[p->type_a] && p->m <= SIZE_MOST && p->n <= SIZE_MOST &&
           p->k <= SIZE_MOST && xg_half_operands_fit(p) &&
           (double)xg_ceil_div(p->m, XG_HALF_TILE_M) * (double)xg_ceil_div(p->n, 64) * SPLITS_MOST <
               INT32_MAX;
}

/* What is the same for all ways to compute a problem. */
typedef struct {
    const xg_request *request;
    xg_half_operand a, b;
    bool c_is_aligned;
} planned;

static planned planned_of(const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    return (planned){.request = request,
                     .a = xg_half_tma_operand_a(p),
                     .b = xg_half_tma_operand_b(p),
                     .c_is_aligned = xg_half_c_is_aligned(p)};
}

/* The schedule, and the products of a pass: as many as fit what there is. */
static xg_half_schedule schedule_within(const planned *what, const tiling *way, int64_t *products)
{
    const xg_half_schedule one = schedule_of(what->request, way, 1);
    *products = xg_half_products_within(what->request, &what->a, &what->b, &one);
    return *products == 1 ? one : schedule_of(what->request, way, *products);
}

/* Without clusters tiles of B are read twice as often, and CTAs drift apart wave after wave. */
static double apart(double waves)
{
    const double before = 3.0, more = 0.02, most = 1.1;
    return xg_smaller(1.0 + more * xg_larger(waves - before, 0.0), most);
}

/*
 * The time of the product's launch where clusters have the splits, or one CTA those of a tile with
 * 64 rows. There are few CTAs, and L2 delivers what each of them reads.
 */
static double in_cluster_us(const planned *what, const tiling *way, const xg_half_schedule *of,
                            int64_t products)
{
    const xg_request *const request = what->request;
    const xg_costs *const costs = request->target.costs;
    const int of_tile = way->cta_rows < XG_HALF_TILE_M ? 0 : way->tile_n / 64;
    const xg_half_split_cost *const cost = &costs->half_split[of_tile];
    const double ctas = (double)(of->whole * products * of->splits); /* all run at once */
    const double k = (double)(of->k_blocks_per_split * xg_half_tile_k(way->tile_n));
    const double rows = xg_smaller((double)request->problem.m, way->cta_rows) + way->tile_n;
    const double blocks_us = xg_larger((double)of->k_blocks_per_split * cost->block_us,
                                       ctas * k * 2.0 * rows / costs->half_l2_rate);
    const double rest_us =
        of->splits > 1 ? cost->tile_us + (double)(of->splits - 2) * cost->cta_us : cost->one_cta_us;
    const double memory_us = xg_half_memory_us(request, &what->a, &what->b, products);
    return costs->half_launch_us + xg_larger(blocks_us, memory_us) + rest_us;
}

/* The time of the product's launch: waves of whole tiles, then of splits. */
static double product_us(const planned *what, const tiling *way, const xg_half_schedule *of,
                         int64_t products)
{
    const xg_request *const request = what->request;
    const xg_problem *const p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const int index = way->tile_n / 128;
    const xg_tensor_cost *const cost = &costs->half[index];
    const double unaligned = what->c_is_aligned ? 0.0 : costs->half_unaligned_us[index];
    const int64_t clusters = clusters_of(request, of->launch_cluster);
    const double share = costs->l2_bytes / (2.0 * (double)(p->m + p->n) * (double)p->k);
    const double whole = (double)xg_ceil_div(of->whole * products, clusters);
    const double split = (double)xg_ceil_div(of->split_tiles * of->splits * products, clusters);
    const double block =
        (cost->in_l2_us + (cost->beyond_l2_us - cost->in_l2_us) * xg_larger(1.0 - share, 0.0)) *
        (of->cluster == 1 ? apart(whole) : 1.0) *
        (of->cta_rows < XG_HALF_TILE_M ? costs->half_few_rows : 1.0);
    const double whole_us = (double)of->k_blocks * block + cost->tile_us;
    const double split_us = (double)of->k_blocks_per_split * block + cost->tile_us;
    const double computed =
        whole * (xg_larger(whole_us, costs->half_store_us[index]) + unaligned) + split * split_us;
    return costs->half_launch_us +
           xg_half_longer_us(computed, xg_half_memory_us(request, &what->a, &what->b, products));
}

/* A way, into *of where it is faster. */
static void consider(const planned *what, const tiling *way, xg_candidate *of)
{
    const xg_problem *const p = &what->request->problem;
    int64_t products;
    const xg_half_schedule schedule = schedule_within(what, way, &products);
    const double us = xg_passes_us(
        what->request->target.costs,
        (way->splits_in_cluster ? in_cluster_us : product_us)(what, way, &schedule, products) +
            xg_half_beside_us(what->request, &what->a, &what->b, &schedule, products),
        xg_ceil_div(p->batch_count, products));
    if (us >= of->microseconds)
        return;
    if (schedule.split_tiles > 0 && xg_half_pass_bytes(&what->a, &what->b, &schedule, products) >
                                        (double)what->request->workspace_limit)
        return;
    of->microseconds = us;
    of->tile_m = way->cta_rows;
    of->tile_n = way->tile_n;
    of->tile_k = xg_half_tile_k(way->tile_n);
    of->cluster = schedule.launch_cluster;
    of->splits_in_cluster = way->splits_in_cluster;
    of->batch_per_pass = products;
    of->k_per_split = way->splits > 1 ? schedule.k_blocks_per_split * of->tile_k : p->k;
    of->split_tiles = schedule.split_tiles;
}

static void consider_tile(const planned *what, int tile_n, int cluster, xg_candidate *of)
{
    const xg_request *const request = what->request;
    const int64_t clusters = clusters_of(request, cluster);
    tiling way = {.tile_n = tile_n, .cluster = cluster, .cta_rows = XG_HALF_TILE_M, .splits = 1};
    const xg_half_schedule all = schedule_of(request, &way, 1);
    const bool may_split = !request->by_element && request->problem.groups == 0;
    xg_split_search search = {.tiles = all.whole,
                              .last_wave =
                                  request->problem.batch_count == 1 ? all.whole % clusters : 0,
                              .held = clusters,
                              .steps = all.k_blocks,
                              .least_steps = PER_SPLIT_LEAST / xg_half_tile_k(tile_n),
                              .most_splits = may_split ? SPLITS_MOST : 1};
    while (xg_next_splits(&search)) {
        way.splits = search.splits;
        way.split_tiles = search.split_tiles;
        consider(what, &way, of);
    }
}

/* Tiles of half the rows, so that twice as many CTAs read A. */
static void consider_few_rows(const planned *what, xg_candidate *of)
{
    const tiling way = {.tile_n = 64, .cluster = 1, .cta_rows = XG_HALF_TILE_M / 2, .splits = 1};
    if (what->request->problem.m > way.cta_rows && what->request->problem.groups == 0)
        consider(what, &way, of);
}

/* All tiles split within clusters; those of 64 rows, within CTAs alone, too: where all run at once,
   since a CTA has one tile. */
static void consider_in_cluster(const planned *what, int tile_n, int cta_rows, xg_candidate *of)
{
    const xg_request *const request = what->request;
    const int tile_k = xg_half_tile_k(tile_n);
    const xg_problem *const p = &request->problem;
    const int64_t blocks = xg_ceil_div(p->k, tile_k);
    const int64_t tiles =
        xg_of_pass(xg_ceil_div(p->m, cta_rows) * xg_ceil_div(p->n, tile_n), p->batch_count);
    tiling way = {.tile_n = tile_n, .cluster = 1, .cta_rows = cta_rows, .splits_in_cluster = true};
    if (request->by_element || p->groups > 0)
        return;
    for (way.splits = cta_rows < XG_HALF_TILE_M ? 1 : 2; way.splits <= XG_HALF_CLUSTER_MOST;
         way.splits++) {
        const int64_t each = xg_ceil_div(blocks, way.splits);
        if (tiles > clusters_of(request, (int)way.splits))
            break;
        if (way.splits > 1 && each * tile_k < PER_SPLIT_LEAST / 2)
            break;
        if (xg_ceil_div(blocks, each) == way.splits)
            consider(what, &way, of);
    }
}

/*
 * The kernel with tiles of 128 x 128 has a program with tiles of half that, too; of ragged groups
 * that one alone.
 */
xg_candidate xg_half_candidate(const xg_kernel *kernel, const xg_request *request)
{
    const planned what = planned_of(request);
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.microseconds = INFINITY;
    const bool groups = request->problem.groups > 0;
    for (int cluster = 1; cluster <= (groups ? 1 : 2); cluster++) {
        if (!groups || kernel->tile_n != 128)
            consider_tile(&what, kernel->tile_n, cluster, &of);
        if (kernel->tile_n == 128 && cluster == 1)
            consider_tile(&what, 64, cluster, &of);
    }
    if (kernel->tile_n == 128)
        consider_few_rows(&what, &of);
    for (int tile_n = 64; tile_n <= 128 && kernel->tile_n == 128; tile_n += 64)
        consider_in_cluster(&what, tile_n, XG_HALF_TILE_M, &of);
    if (kernel->tile_n == 128)
        consider_in_cluster(&what, 64, XG_HALF_TILE_M / 2, &of);
    return of;
}

double xg_half_workspace(const xg_candidate *of, const xg_request *request)
{
    const planned what = planned_of(request);
    const xg_half_schedule schedule = xg_half_schedule_of_candidate(of, request);
    return xg_half_pass_bytes(&what.a, &what.b, &schedule, xg_half_products(of, request));
}
