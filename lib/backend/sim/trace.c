/* SPDX-License-Identifier: BSD-3-Clause */
#include "cuda_shim.h"
#include "order.h"
#include "scheduler.h"
#include "shared.h"
#include "specialised.h"
#include "trace_state.h"

#include <stdlib.h>
#include <string.h>

/* What trace-sites.awk puts beside the kernels; offsets are from their own place. */
typedef struct {
    int32_t file, line, text;
} site_record;
typedef struct {
    int32_t address, name, bytes;
} object_record;

#define SECTION(name)                                                                              \
    extern const char __start_##name[] __attribute__((weak, visibility("hidden")));                \
    extern const char __stop_##name[] __attribute__((weak, visibility("hidden")));
SECTION(xg_sites)
SECTION(xg_objects)
SECTION(xg_shared_traced)

static xg_trace *watching;

/* An epoch is the number of the block among those that ran, from 1, and its barriers so far. */
enum { EPOCH_BITS = 32 };

HOT uint64_t block_of(uint64_t epoch)
{
    return epoch >> EPOCH_BITS;
}

static int site_total(void)
{
    return __start_xg_sites
               ? (int)((__stop_xg_sites - __start_xg_sites) / (long)sizeof(site_record))
               : 0;
}

static const site_record *record_at(int index)
{
    return (const site_record *)(const void *)__start_xg_sites + index;
}

static uintptr_t relative(const int32_t *offset)
{
    return (uintptr_t)offset + (uintptr_t)(intptr_t)*offset;
}

static size_t static_words(void)
{
    return __start_xg_shared_traced
               ? (size_t)(__stop_xg_shared_traced - __start_xg_shared_traced) / 4
               : 0;
}

/*
 * Dynamic shared memory is numbered after the static, from a multiple of the banks: that of a
 * cluster's blocks in pieces.
 */
static size_t dynamic_start(void)
{
    return (static_words() + BANKS - 1) / BANKS * BANKS;
}

static size_t piece_start(int rank)
{
    return dynamic_start() + (size_t)rank * (XG_SIM_PIECE / 4);
}

static size_t shared_words(void)
{
    return dynamic_start() + sizeof xg_sim_pieces / 4;
}

bool xg_trace_available(void)
{
    return site_total() > 0;
}

xg_trace *xg_trace_new(void)
{
    const size_t total = (size_t)site_total();
    xg_trace *trace = total > 0 ? calloc(1, sizeof *trace) : NULL;
    if (!trace)
        return NULL;
    trace->code_total = (int)total;
    trace->code = calloc(total, sizeof *trace->code);
    trace->touched = calloc(total, sizeof *trace->touched);
    trace->shared = calloc(shared_words(), sizeof *trace->shared);
    if (!trace->code || !trace->touched || !trace->shared) {
        xg_trace_free(trace);
        return NULL;
    }
    for (size_t i = 0; i < total; i++)
        trace->code[i].merged = -1;
    return trace;
}

static void free_global(xg_trace *trace)
{
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        free(trace->global[i]);
        trace->global[i] = NULL;
    }
}

void xg_trace_free(xg_trace *trace)
{
    if (!trace)
        return;
    for (int i = 0; trace->code && i < trace->code_total; i++)
        free(trace->code[i].requests);
    free_global(trace);
    free(trace->code);
    free(trace->touched);
    free(trace->shared);
    free(trace->sites);
    free(trace);
}

static int64_t region_words(const xg_region *region)
{
    return region->lines > 0 ? (region->lines - 1) * region->step + region->width : 0;
}

/* With those of all products; matrices from a list have one after the other the same states. */
static int64_t all_words(const xg_launch *what, const xg_region *region)
{
    const int64_t words = region_words(region);
    return words > 0 && !region->list ? words + ((int64_t)what->grid[2] - 1) * region->apart
                                      : words;
}

/* The regions of the blocks whose z is that. */
static void begin_product(xg_trace *trace, int64_t product)
{
    trace->product = product;
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        const xg_region *region = &trace->launch->regions[i];
        const int64_t on = region->list ? 0 : product * region->apart;
        if (region->lines <= 0)
            continue;
        trace->bases[i] = region->list ? region->list[product] : region->base + on;
        trace->states[i] = trace->global[i] ? trace->global[i] + on : NULL;
        if (region->list && trace->global[i])
            memset(trace->global[i], 0, (size_t)region_words(region) * sizeof *trace->global[i]);
    }
}

bool xg_trace_begin(xg_trace *trace, const xg_launch *what)
{
    trace->launch = what;
    trace->epoch = 0;
    trace->product = -1;
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        const int64_t words = all_words(what, &what->regions[i]);
        /* Only what is written can race. */
        const bool written = words > 0 && (i == XG_REGION_WRITTEN || i == XG_REGION_LIST);
        trace->global[i] = written ? calloc((size_t)words, sizeof *trace->global[i]) : NULL;
        if (written && !trace->global[i])
            return false;
    }
    watching = trace;
    return true;
}

void xg_trace_end(xg_trace *trace)
{
    watching = NULL;
    free_global(trace);
    for (int i = 0; i < trace->touched_count; i++) {
        code_site *code = &trace->code[trace->touched[i]];
        code->count = 0;
        memset(code->next, 0, sizeof code->next);
    }
    trace->touched_count = 0;
}

void xg_trace_block_begins(xg_trace *trace, int warps)
{
    const size_t used = ((size_t)xg_sim_dynamic_bytes() + 3) / 4;
    const uint32_t *grid = trace->launch->grid;
    const int64_t product = xg_sim_block() / ((int64_t)grid[0] * grid[1]);
    if (product != trace->product)
        begin_product(trace, product);
    trace->totals.blocks += xg_sim_cluster_blocks();
    trace->totals.warps += warps;
    trace->epoch = (block_of(trace->epoch) + 1) << EPOCH_BITS;
    memset(trace->warp_phase, 0, sizeof trace->warp_phase);
    memset(trace->fences, 0, sizeof trace->fences);
    trace->ordered_since = 0;
    memset(trace->shared, 0, static_words() * sizeof *trace->shared);
    for (int rank = 0; rank < xg_sim_cluster_blocks(); rank++)
        memset(trace->shared + piece_start(rank), 0, used * sizeof *trace->shared);
}

void xg_trace_barrier_passes(xg_trace *trace)
{
    trace->totals.barriers++;
    trace->epoch++;
}

void xg_trace_keeps_order(xg_trace *trace)
{
    trace->ordered_since = ++trace->epoch;
}

void xg_trace_warp_meets(xg_trace *trace, int warp)
{
    trace->warp_phase[warp]++;
}

static const char *source_of(int place, int *line)
{
    const site_record *record = record_at(place);
    *line = record->line;
    return (const char *)relative(&record->file);
}

_Noreturn static void abandon(const char *what, const char *array, int64_t element, int place)
{
    int line;
    const char *file = source_of(place, &line);
    xg_sim_abandon("%s: %s:%d %s %s[%lld]", xg_sim_where(), file, line, what, array,
                   (long long)element);
}

/* Notes that the running thread of its warp came by, with the word that it accessed. */
HOT void take_part(xg_trace *trace, code_site *code, uint32_t word)
{
    const int lane = xg_sim_thread() % WARP, index = code->next[lane]++;
    if (index == code->room) {
        const int room = code->room ? 2 * code->room : 64;
        request *larger = realloc(code->requests, (size_t)room * sizeof *larger);
        if (!larger)
            xg_sim_abandon("%s: no memory for the simulator's trace", xg_sim_where());
        code->requests = larger;
        code->room = room;
    }
    if (code->count == 0)
        trace->touched[trace->touched_count++] = (int)(code - trace->code);
    if (index == code->count) {
        code->count++;
        code->requests[index].lanes = 0;
    }
    code->requests[index].lanes |= 1u << lane;
    code->requests[index].word[lane] = word;
}

/* The site of the report, by source line and array. */
static int merged_site(xg_trace *trace, int place, const xg_trace_site *wanted)
{
    xg_trace_site site = *wanted;
    site.file = source_of(place, &site.line);
    site.source = (const char *)relative(&record_at(place)->text);
    for (int i = 0; i < trace->site_count; i++) {
        const xg_trace_site *other = &trace->sites[i];
        if (other->line == site.line && other->bytes == site.bytes &&
            other->is_store == site.is_store && other->is_atomic == site.is_atomic &&
            strcmp(other->array, site.array) == 0 && strcmp(other->file, site.file) == 0)
            return i;
    }
    if (trace->site_count == trace->site_room) {
        const int room = trace->site_room ? 2 * trace->site_room : 32;
        xg_trace_site *larger = realloc(trace->sites, (size_t)room * sizeof *larger);
        if (!larger)
            xg_sim_abandon("%s: no memory for the simulator's trace", xg_sim_where());
        trace->sites = larger;
        trace->site_room = room;
    }
    trace->sites[trace->site_count] = site;
    return trace->site_count++;
}

/* The array in shared memory that holds a word, and which of its elements that is. */
static const char *shared_object(size_t word, int64_t *element)
{
    const uintptr_t address = (uintptr_t)__start_xg_shared_traced + 4 * (uintptr_t)word;
    if (word >= dynamic_start()) {
        *element = (int64_t)((word - dynamic_start()) % (XG_SIM_PIECE / 4));
        return "dynamic";
    }
    const object_record *record = (const object_record *)(const void *)__start_xg_objects;
    const object_record *end = (const object_record *)(const void *)__stop_xg_objects;
    for (; record < end; record++) {
        const uintptr_t start = relative(&record->address);
        if (address - start < (uintptr_t)record->bytes) {
            *element = (int64_t)(address - start) / 4;
            return (const char *)relative(&record->name);
        }
    }
    *element = 0;
    return NULL;
}

_Noreturn static void conflict(const char *what, bool across_blocks, const char *array,
                               int64_t element, int place)
{
    int64_t in_array;
    const char *name = across_blocks ? NULL : shared_object((size_t)element, &in_array);
    abandon(what, name ? name : array, name ? in_array : element, place);
}

/* What is wrong with an access, in the order of the kinds in cuda_shim.h. */
static const char *const while_written[] = {
    "reads what another thread writes without a barrier between:",
    "writes what another thread writes without a barrier between:",
    "writes what another thread writes without a barrier between:",
    "copies to what another thread writes without a barrier between:"};
static const char *const while_read[] = {
    "", "writes what another thread reads without a barrier between:",
    "writes what another thread reads without a barrier between:",
    "copies to what another thread reads without a barrier between:"};
static const char *const while_copied[] = {
    "reads what an asynchronous copy has not brought yet:",
    "writes what an asynchronous copy has not brought yet:",
    "writes what an asynchronous copy has not brought yet:",
    "copies to what an asynchronous copy has not brought yet:"};

/*
 * Whether an access of this phase, by a thread or by several of a warp, came
 * before the running thread in every order: its own, or before its warp met.
 */
HOT bool comes_before(int other, uint32_t warp_phase, int thread)
{
    const int warp = other >= 0 ? other >> WARP_BITS : -2 - other;
    return other == thread || (other != SEVERAL_WARPS && warp == thread >> WARP_BITS &&
                               warp_phase < watching->warp_phase[warp]);
}

/* The readers of a word, one more among them. */
HOT int with_reader(int readers, int thread)
{
    const int whole_warp = -2 - (thread >> WARP_BITS);
    if (readers == whole_warp || readers == SEVERAL_WARPS || readers == thread)
        return readers;
    return readers >= 0 && readers >> WARP_BITS == thread >> WARP_BITS ? whole_warp : SEVERAL_WARPS;
}

/*
 * Whether the last write of a word, or its last read, was by another thread and
 * neither before nor after the running one's step. Where the order of threads is
 * kept it decides; of several readers only the last one is known then.
 */
HOT bool meets_write(const word_state *state, int thread)
{
    if (watching->ordered_since)
        return state->write_epoch >= watching->ordered_since &&
               !xg_order_came_before(state->writer, state->write_time, thread);
    return state->write_epoch == watching->epoch &&
           !comes_before(state->writer, state->write_time, thread);
}

HOT bool meets_read(const word_state *state, int thread)
{
    if (watching->ordered_since)
        return state->read_epoch >= watching->ordered_since &&
               !xg_order_came_before(state->reader, state->read_time, thread);
    return state->read_epoch == watching->epoch &&
           !comes_before(state->reader, state->read_time, thread);
}

/* The running thread's time within the epoch. */
HOT uint32_t time_of(int thread)
{
    return watching->ordered_since ? xg_order_moment(thread)
                                   : watching->warp_phase[thread >> WARP_BITS];
}

/* Reports a conflict with another thread that no barrier orders. */
HOT void check_word(word_state *state, int kind, bool across_blocks, const char *array,
                    int64_t element, int place)
{
    const bool is_store = kind != XG_SIM_READ, atomic = kind == XG_SIM_ATOMIC;
    const uint64_t epoch = watching->epoch, block = block_of(epoch);
    const int thread = xg_sim_thread();
    const bool written_now = state->write_epoch == epoch, read_now = state->read_epoch == epoch;
    const bool both_atomic = atomic && state->atomic;
    const bool begins = !written_now || !meets_write(state, thread); /* a row of atomics */

    if (state->coming)
        conflict(while_copied[kind], across_blocks, array, element, place);
    if (!both_atomic && meets_write(state, thread))
        conflict(while_written[kind], across_blocks, array, element, place);
    if (is_store && meets_read(state, thread))
        conflict(while_read[kind], across_blocks, array, element, place);
    if (across_blocks && state->write_epoch && block_of(state->write_epoch) != block &&
        !both_atomic && (is_store || !xg_sim_count_was_awaited()))
        conflict(is_store ? "writes what another block writes:"
                          : "reads what another block writes:",
                 across_blocks, array, element, place);
    if (across_blocks && is_store && state->read_epoch && block_of(state->read_epoch) != block)
        conflict("writes what another block reads:", across_blocks, array, element, place);
    if (is_store) {
        state->atomic = atomic && (begins || state->atomic);
        state->coming = kind == XG_SIM_ASYNC_WRITE;
        state->write_epoch = epoch;
        state->write_time = time_of(thread);
        state->writer = (int16_t)thread;
        state->by_engine = false;
        state->write_fence = watching->fences[thread];
    } else {
        const bool add = read_now && !watching->ordered_since;
        state->reader = (int16_t)(add ? with_reader(state->reader, thread) : thread);
        state->read_epoch = epoch;
        state->read_time = time_of(thread);
    }
}

/* Between the arrays, or past the dynamic memory that the launch has. */
_Noreturn static void outside_shared(size_t word, int place)
{
    if (word >= dynamic_start())
        abandon("accesses dynamic shared memory past the launch's end:", "dynamic",
                (int64_t)((word - dynamic_start()) % (XG_SIM_PIECE / 4)), place);
    abandon("accesses shared memory between its arrays:", "shared", (int64_t)word, place);
}

HOT void shared_access(xg_trace *trace, size_t first, int bytes, int kind, int place)
{
    const size_t end = first + (size_t)(bytes + 3) / 4;
    code_site *code = &trace->code[place];
    int64_t element;
    const char *name = code->merged >= 0 ? trace->sites[code->merged].array : NULL;

    if (first >= dynamic_start() &&
        (first < piece_start(xg_sim_rank()) ||
         4 * (int64_t)(end - piece_start(xg_sim_rank())) > xg_sim_dynamic_bytes() + 3))
        outside_shared(end - 1, place);
    if (!name) {
        name = shared_object(first, &element);
        if (!name)
            outside_shared(first, place);
        const xg_trace_site wanted = {.array = name,
                                      .is_shared = true,
                                      .is_store = kind != XG_SIM_READ,
                                      .is_atomic = kind == XG_SIM_ATOMIC,
                                      .bytes = bytes};
        code->merged = merged_site(trace, place, &wanted);
    }
    for (size_t word = first; word < end; word++) {
        word_state *state = &trace->shared[word];
        if ((kind == XG_SIM_READ || kind == XG_SIM_ATOMIC) && !state->write_epoch) {
            name = shared_object(word, &element);
            abandon("reads what nothing wrote:", name ? name : "shared", element, place);
        }
        check_word(state, kind, false, name, (int64_t)word, place);
    }
    take_part(trace, code, (uint32_t)first);
}

/* The number of a word in shared memory, if the address is there. */
HOT bool shared_word(uintptr_t address, size_t *word)
{
    const uintptr_t in_static = address - (uintptr_t)__start_xg_shared_traced;
    const uintptr_t in_dynamic = address - (uintptr_t)xg_sim_pieces;
    if (in_static < 4 * static_words())
        *word = in_static / 4;
    else if (in_dynamic < sizeof xg_sim_pieces)
        *word = dynamic_start() + in_dynamic / 4;
    else
        return false;
    return true;
}

/* From now on another thread may use what was copied, after a barrier. */
void xg_trace_copy_arrives(const void *to, int bytes)
{
    size_t first;
    if (!shared_word((uintptr_t)to, &first))
        return;
    for (size_t word = first; word < first + (size_t)(bytes + 3) / 4; word++) {
        watching->shared[word].coming = false;
        watching->shared[word].write_epoch = watching->epoch;
        watching->shared[word].write_time = time_of(xg_sim_thread());
    }
}

HOT bool inside(const xg_region *region, int64_t element, int words)
{
    const int64_t column = region->lines > 1 ? element % region->step : element;
    return element >= 0 && element + words <= region_words(region) &&
           column + words <= region->width;
}

/* The region in which an address lies, gaps included; -1: none. */
HOT int region_of(const xg_trace *trace, uintptr_t address)
{
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        const xg_region *region = &trace->launch->regions[i];
        if (address - (uintptr_t)trace->bases[i] < (uintptr_t)region_words(region) * 4)
            return i;
    }
    return -1;
}

/* Whether a block reads where a list has its own pointer. */
HOT bool is_in_list(const xg_trace *trace, uintptr_t address, int bytes)
{
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        const float *const *list = trace->launch->regions[i].list;
        if (list && address == (uintptr_t)(list + trace->product) && bytes == (int)sizeof *list)
            return true;
    }
    return false;
}

/* An access that is right: for the report. */
HOT void count_access(xg_trace *trace, const xg_trace_site *wanted, uintptr_t address,
                      uintptr_t base, int place)
{
    code_site *code = &trace->code[place];
    if (code->merged < 0)
        code->merged = merged_site(trace, place, wanted);
    const uintptr_t origin = base / LINE_BYTES * LINE_BYTES;
    take_part(trace, code, (uint32_t)((address - origin) / 4));
}

HOT void global_access(xg_trace *trace, uintptr_t address, int bytes, int kind, int place)
{
    const bool is_store = kind != XG_SIM_READ;
    const int index = region_of(trace, address), words = (bytes + 3) / 4;
    if (index < 0 && xg_sim_on_stack(address))
        return; /* a variable of the thread's own */
    if (index < 0 && !is_store && is_in_list(trace, address, bytes)) {
        const xg_trace_site wanted = {.array = "pointers", .bytes = bytes};
        count_access(trace, &wanted, address, address, place);
        return;
    }
    if (index < 0) {
        int line;
        const char *file = source_of(place, &line);
        xg_sim_abandon("%s: %s:%d %s %d bytes outside every array of the launch", xg_sim_where(),
                       file, line, is_store ? "writes" : "reads", bytes);
    }
    const xg_region *region = &trace->launch->regions[index];
    const int64_t element = (int64_t)(address - (uintptr_t)trace->bases[index]) / 4;
    if (!inside(region, element, words))
        abandon(is_store ? "writes past the end of a line:" : "reads past the end of a line:",
                region->name, element, place);
    if (is_store && !trace->states[index])
        abandon("writes an array that is only read:", region->name, element, place);
    for (int i = 0; trace->states[index] && i < words; i++)
        check_word(&trace->states[index][element + i], kind, true, region->name, element + i,
                   place);
    const xg_trace_site wanted = {.array = region->name,
                                  .is_store = is_store,
                                  .is_atomic = kind == XG_SIM_ATOMIC,
                                  .bytes = bytes};
    count_access(trace, &wanted, address, (uintptr_t)trace->bases[index], place);
}

/* What the copy engine reads: one request of as many sectors as there are. */
static void bulk_read(xg_trace *trace, uintptr_t address, int bytes, int place)
{
    const int index = region_of(trace, address);
    const xg_region *region = &trace->launch->regions[index < 0 ? 0 : index];
    const int64_t element = (int64_t)(address - (uintptr_t)trace->bases[index < 0 ? 0 : index]) / 4;
    if (index < 0) {
        int line;
        const char *file = source_of(place, &line);
        xg_sim_abandon("%s: %s:%d reads %d bytes outside every array of the launch", xg_sim_where(),
                       file, line, bytes);
    }
    if (!inside(region, element, bytes / 4))
        abandon("reads past the end of a line:", region->name, element, place);
    for (int i = 0; trace->states[index] && i < bytes / 4; i++)
        check_word(&trace->states[index][element + i], XG_SIM_READ, true, region->name, element + i,
                   place);
    const xg_trace_site wanted = {.array = region->name, .bytes = bytes};
    const int merged = merged_site(trace, place, &wanted); /* may move the sites */
    xg_trace_site *site = &trace->sites[merged];
    const uintptr_t last = address + (uintptr_t)bytes - 1;
    const int sectors = (int)(last / SECTOR_BYTES - address / SECTOR_BYTES + 1);
    site->requests++;
    site->lanes++;
    site->sectors += sectors;
    site->ideal_sectors += (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    site->cache_lines += (int64_t)(last / LINE_BYTES - address / LINE_BYTES + 1);
    site->most_sectors = sectors > site->most_sectors ? sectors : site->most_sectors;
}

/* The launch fails at a word of shared memory, for what a model does there. */
_Noreturn static void blame_word(size_t word, const char *what, const xg_sim_place *here)
{
    int64_t element;
    const char *name = shared_object(word, &element);
    xg_sim_blame(here, "%s %s[%lld]", what, name ? name : "shared", (long long)element);
}

void xg_trace_bulk_sent(const void *to, int bytes, const xg_sim_place *here)
{
    const int thread = xg_sim_thread();
    size_t first;
    if (!shared_word((uintptr_t)to, &first))
        return;
    for (size_t word = first; word < first + (size_t)bytes / 4; word++) {
        word_state *state = &watching->shared[word];
        if (meets_write(state, thread))
            blame_word(word, while_written[XG_SIM_ASYNC_WRITE], here);
        if (meets_read(state, thread))
            blame_word(word, while_read[XG_SIM_ASYNC_WRITE], here);
        *state = (word_state){.write_epoch = watching->epoch,
                              .writer = (int16_t)thread,
                              .write_time = time_of(thread),
                              .coming = true,
                              .by_engine = true};
    }
}

void xg_trace_bulk_comes(const void *to, int bytes)
{
    size_t first;
    if (shared_word((uintptr_t)to, &first))
        for (size_t word = first; word < first + (size_t)bytes / 4; word++)
            watching->shared[word].coming = false;
}

void xg_trace_fence(void)
{
    watching->fences[xg_sim_thread()]++;
}

/* What wrote it must have come before; and a thread's store passed a fence, for a product. */
static const char *wrong_read(const word_state *state, bool by_product)
{
    if (!state->write_epoch)
        return by_product ? "multiplies what nothing wrote:" : "reads what nothing wrote:";
    if (meets_write(state, xg_sim_thread()))
        return by_product ? "multiplies what another thread writes without a barrier between:"
                          : "reads what another thread writes without a barrier between:";
    if (by_product && !state->by_engine && state->write_fence == watching->fences[state->writer])
        return "multiplies what a thread wrote without xg_fence_async() after it:";
    return NULL;
}

void xg_trace_model_reads(const void *from, int bytes, bool by_product, const xg_sim_place *here)
{
    size_t first;
    if (!shared_word((uintptr_t)from, &first))
        return;
    for (size_t word = first; word < first + (size_t)bytes / 4; word++) {
        word_state *state = &watching->shared[word];
        const char *wrong = wrong_read(state, by_product);
        if (wrong)
            blame_word(word, wrong, here);
        if (!by_product) {
            state->reader = (int16_t)xg_sim_thread();
            state->read_epoch = watching->epoch;
            state->read_time = time_of(xg_sim_thread());
        }
    }
}

HOT void access_of(const void *pointer, int bytes, int kind, int place)
{
    size_t word;
    if (!watching)
        return;
    if (shared_word((uintptr_t)pointer, &word))
        shared_access(watching, word, bytes, kind, place);
    else
        global_access(watching, (uintptr_t)pointer, bytes, kind, place);
}

/* Of the shim's own: atomics and asynchronous copies. */
void xg_trace_access(const void *address, int place, int bytes, int kind)
{
    if (watching && kind == XG_SIM_BULK_READ)
        bulk_read(watching, (uintptr_t)address, bytes, place);
    else
        access_of(address, bytes, kind, place);
}

/* The hooks, under the names that trace-sites.awk gives them. */
#define HOOK __attribute__((visibility("hidden"))) void
#define ACCESS_HOOK(name, bytes, kind)                                                             \
    HOOK name(void *address, int place);                                                           \
    void name(void *address, int place)                                                            \
    {                                                                                              \
        access_of(address, bytes, kind, place);                                                    \
    }
#define ACCESS_HOOKS(bytes)                                                                        \
    ACCESS_HOOK(xg_trace_read##bytes, bytes, XG_SIM_READ)                                          \
    ACCESS_HOOK(xg_trace_write##bytes, bytes, XG_SIM_WRITE)                                        \
    ACCESS_HOOK(xg_trace_unaligned_read##bytes, bytes, XG_SIM_READ)                                \
    ACCESS_HOOK(xg_trace_unaligned_write##bytes, bytes, XG_SIM_WRITE)
ACCESS_HOOKS(1)
ACCESS_HOOKS(2)
ACCESS_HOOKS(4)
ACCESS_HOOKS(8)
ACCESS_HOOKS(16)

HOOK xg_trace_block(const void *unused, int place);
HOOK xg_trace_init(void);

/* Of a basic block only counts are kept: how often each thread came by. */
void xg_trace_block(const void *unused, int place)
{
    (void)unused;
    if (!watching)
        return;
    code_site *code = &watching->code[place];
    if (code->count == 0) {
        code->is_block = true;
        code->count = 1;
        watching->touched[watching->touched_count++] = place;
    }
    code->next[xg_sim_thread() % WARP]++;
}

/* The sanitizer's start-up, which nothing calls. */
void xg_trace_init(void)
{
}
