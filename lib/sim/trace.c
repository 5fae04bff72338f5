/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

enum { WARP = 32, SECTOR_BYTES = 32, LINE_BYTES = 128, BANKS = 32, NOBODY = -1 };

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

/* One access of a warp: which threads, and where each. */
typedef struct {
    uint32_t lanes;
    uint32_t word[WARP]; /* 4-byte words from the array's beginning, as aligned as a line */
} request;

/* One place in the machine code; what its threads did since the warp's last stop. */
typedef struct {
    int merged; /* index of the site in the report; -1: not met yet */
    bool is_block;
    request *requests;
    int count, room;
    int next[WARP]; /* requests that each thread has taken part in */
} code_site;

/* Who last wrote and read a word, to find races and reads of what nobody wrote. */
typedef struct {
    int64_t write_block, read_block; /* number of the block, plus 1 */
    int32_t write_phase, read_phase; /* barriers before it */
    int16_t writer, reader;          /* thread; NOBODY: several */
} word_state;

struct xg_trace {
    const xg_launch *launch;
    code_site *code;             /* one for each record of xg_sites */
    int *touched, touched_count; /* code sites used since the warp's last stop */
    xg_trace_site *sites;
    int site_count, site_room;
    xg_trace_totals totals;
    word_state *shared, *global[XG_REGIONS_MAX];
    int32_t phase;
    int64_t block; /* the number of the block that runs, plus 1 */
};

static xg_trace *watching;

/* Called for every access; compiled once for each size, which is constant there. */
#define HOT static inline __attribute__((always_inline))

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

static size_t shared_words(void)
{
    return __start_xg_shared_traced
               ? (size_t)(__stop_xg_shared_traced - __start_xg_shared_traced) / 4
               : 0;
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
    trace->code = calloc(total, sizeof *trace->code);
    trace->touched = calloc(total, sizeof *trace->touched);
    trace->shared = calloc(shared_words() + 1, sizeof *trace->shared);
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
    for (int i = 0; trace->code && i < site_total(); i++)
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

bool xg_trace_begin(xg_trace *trace, const xg_launch *what)
{
    trace->launch = what;
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        const int64_t words = region_words(&what->regions[i]);
        /* Only what is written can race: by the dialect's rule, the last region. */
        trace->global[i] = words > 0 && i == XG_REGIONS_MAX - 1
                               ? calloc((size_t)words, sizeof *trace->global[i])
                               : NULL;
        if (words > 0 && i == XG_REGIONS_MAX - 1 && !trace->global[i])
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

void xg_trace_block_begins(xg_trace *trace)
{
    trace->totals.blocks++;
    trace->phase = 0;
    trace->block = xg_sim_block() + 1;
    memset(trace->shared, 0, shared_words() * sizeof *trace->shared);
}

void xg_trace_barrier_passes(xg_trace *trace)
{
    trace->totals.barriers++;
    trace->phase++;
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
            other->is_store == site.is_store && strcmp(other->array, site.array) == 0 &&
            strcmp(other->file, site.file) == 0)
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

static const char *shared_object(uintptr_t address, int64_t *element)
{
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
    const uintptr_t address = (uintptr_t)__start_xg_shared_traced + 4 * (uintptr_t)element;
    const char *name = across_blocks ? NULL : shared_object(address, &in_array);
    abandon(what, name ? name : array, name ? in_array : element, place);
}

/* Reports a conflict with another thread that no barrier orders. */
HOT void check_word(word_state *state, bool is_store, bool across_blocks, const char *array,
                    int64_t element, int place)
{
    const int64_t block = watching->block;
    const int thread = xg_sim_thread();
    const int32_t phase = watching->phase;
    const bool same_block_write = state->write_block == block && state->write_phase == phase;
    const bool same_block_read = state->read_block == block && state->read_phase == phase;

    if (same_block_write && state->writer != thread)
        conflict(is_store ? "writes what another thread writes without a barrier between:"
                          : "reads what another thread writes without a barrier between:",
                 across_blocks, array, element, place);
    if (is_store && same_block_read && state->reader != thread)
        conflict("writes what another thread reads without a barrier between:", across_blocks,
                 array, element, place);
    if (across_blocks && state->write_block && state->write_block != block)
        conflict(is_store ? "writes what another block writes:"
                          : "reads what another block writes:",
                 across_blocks, array, element, place);
    if (across_blocks && is_store && state->read_block && state->read_block != block)
        conflict("writes what another block reads:", across_blocks, array, element, place);
    if (is_store) {
        state->write_block = block;
        state->write_phase = phase;
        state->writer = (int16_t)thread;
    } else {
        state->reader = same_block_read && state->reader != thread ? NOBODY : (int16_t)thread;
        state->read_block = block;
        state->read_phase = phase;
    }
}

HOT void shared_access(xg_trace *trace, uintptr_t address, int bytes, bool is_store, int place)
{
    const size_t first = (address - (uintptr_t)__start_xg_shared_traced) / 4;
    code_site *code = &trace->code[place];
    int64_t element;
    const char *name = code->merged >= 0 ? trace->sites[code->merged].array : NULL;

    if (!name) {
        name = shared_object(address, &element);
        if (!name)
            abandon("accesses shared memory between its arrays:", "shared", (int64_t)first, place);
        const xg_trace_site wanted = {
            .array = name, .is_shared = true, .is_store = is_store, .bytes = bytes};
        code->merged = merged_site(trace, place, &wanted);
    }
    for (size_t word = first; word < first + (size_t)(bytes + 3) / 4; word++) {
        word_state *state = &trace->shared[word];
        if (!is_store && !state->write_block) {
            name = shared_object((uintptr_t)__start_xg_shared_traced + 4 * word, &element);
            abandon("reads what nothing wrote:", name ? name : "shared", element, place);
        }
        check_word(state, is_store, false, name, (int64_t)word, place);
    }
    take_part(trace, code, (uint32_t)first);
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
        if (address - (uintptr_t)region->base < (uintptr_t)region_words(region) * 4)
            return i;
    }
    return -1;
}

HOT void global_access(xg_trace *trace, uintptr_t address, int bytes, bool is_store, int place)
{
    const int index = region_of(trace, address), words = (bytes + 3) / 4;
    if (index < 0 && xg_sim_on_stack(address))
        return; /* a variable of the thread's own */
    if (index < 0) {
        int line;
        const char *file = source_of(place, &line);
        xg_sim_abandon("%s: %s:%d %s %d bytes outside every array of the launch", xg_sim_where(),
                       file, line, is_store ? "writes" : "reads", bytes);
    }
    const xg_region *region = &trace->launch->regions[index];
    const int64_t element = (int64_t)(address - (uintptr_t)region->base) / 4;
    if (!inside(region, element, words))
        abandon(is_store ? "writes past the end of a line:" : "reads past the end of a line:",
                region->name, element, place);
    if (is_store && !trace->global[index])
        abandon("writes an array that is only read:", region->name, element, place);
    for (int i = 0; trace->global[index] && i < words; i++)
        check_word(&trace->global[index][element + i], is_store, true, region->name, element + i,
                   place);
    code_site *code = &trace->code[place];
    if (code->merged < 0) {
        const xg_trace_site wanted = {.array = region->name, .is_store = is_store, .bytes = bytes};
        code->merged = merged_site(trace, place, &wanted);
    }
    const uintptr_t origin = (uintptr_t)region->base / LINE_BYTES * LINE_BYTES;
    take_part(trace, code, (uint32_t)((address - origin) / 4));
}

HOT void access_of(void *pointer, int bytes, bool is_store, int place)
{
    const uintptr_t address = (uintptr_t)pointer;
    if (!watching)
        return;
    if (address - (uintptr_t)__start_xg_shared_traced < 4 * shared_words())
        shared_access(watching, address, bytes, is_store, place);
    else
        global_access(watching, address, bytes, is_store, place);
}

/* The hooks, under the names that trace-sites.awk gives them. */
#define HOOK __attribute__((visibility("hidden"))) void
#define ACCESS_HOOK(name, bytes, is_store)                                                         \
    HOOK name(void *address, int place);                                                           \
    void name(void *address, int place)                                                            \
    {                                                                                              \
        access_of(address, bytes, is_store, place);                                                \
    }
#define ACCESS_HOOKS(bytes)                                                                        \
    ACCESS_HOOK(xg_trace_read##bytes, bytes, false)                                                \
    ACCESS_HOOK(xg_trace_write##bytes, bytes, true)                                                \
    ACCESS_HOOK(xg_trace_unaligned_read##bytes, bytes, false)                                      \
    ACCESS_HOOK(xg_trace_unaligned_write##bytes, bytes, true)
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

/* A small set of numbers that mostly come in rising order. */
typedef struct {
    uint32_t values[2 * WARP], largest;
    int count;
} number_set;

/* Adds a number; whether it was new. */
static bool add_new(number_set *set, uint32_t value)
{
    if (set->count > 0 && value <= set->largest)
        for (int i = set->count - 1; i >= 0; i--)
            if (set->values[i] == value)
                return false;
    if (set->count == 0 || value > set->largest)
        set->largest = value;
    set->values[set->count++] = value;
    return true;
}

static void count_global(xg_trace_site *site, const request *r)
{
    enum { SECTOR_WORDS = SECTOR_BYTES / 4, LINE_WORDS = LINE_BYTES / 4 };
    const uint32_t words = (uint32_t)(site->bytes + 3) / 4;
    number_set sectors, lines, asked;
    sectors.count = lines.count = asked.count = 0;
    sectors.largest = lines.largest = asked.largest = 0;
    for (int lane = 0; lane < WARP; lane++)
        if (r->lanes >> lane & 1) {
            const uint32_t first = r->word[lane], last = first + words - 1;
            if (!add_new(&asked, first))
                continue;
            for (uint32_t s = first / SECTOR_WORDS; s <= last / SECTOR_WORDS; s++)
                if (add_new(&sectors, s))
                    add_new(&lines, s * SECTOR_WORDS / LINE_WORDS);
        }
    site->sectors += sectors.count;
    site->cache_lines += lines.count;
    site->ideal_sectors += (asked.count * site->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    if (sectors.count > site->most_sectors)
        site->most_sectors = sectors.count;
}

/*
 * Passes over the banks: each gives one word from each of the 32, and equal words
 * are one. Accesses of 16 bytes are served by half-warps, which is what Nsight
 * Compute's counters show on a card (doc/results, calibration).
 */
static void count_shared(xg_trace_site *site, const request *r)
{
    const int together = site->bytes <= 8 ? WARP : WARP / 2;
    const uint32_t width = (uint32_t)(site->bytes + 3) / 4;
    for (int first = 0; first < WARP; first += together) {
        number_set words;
        int in_bank[BANKS] = {0}, most = 0;
        words.count = 0;
        words.largest = 0;
        for (int lane = first; lane < first + together; lane++)
            for (uint32_t w = 0; (r->lanes >> lane & 1) && w < width; w++) {
                const uint32_t word = r->word[lane] + w;
                if (add_new(&words, word) && ++in_bank[word % BANKS] > most)
                    most = in_bank[word % BANKS];
            }
        site->wavefronts += most;
        site->ideal_wavefronts += (words.count + BANKS - 1) / BANKS;
        if (most > site->most_ways)
            site->most_ways = most;
    }
}

/* As many steps of the warp as its busiest thread made. */
static void count_block(xg_trace *trace, const code_site *code)
{
    int most = 0;
    for (int lane = 0; lane < WARP; lane++) {
        trace->totals.step_lanes += code->next[lane];
        if (code->next[lane] > most)
            most = code->next[lane];
    }
    trace->totals.steps += most;
}

static void count_request(xg_trace *trace, const code_site *code, const request *r, int lanes_alive)
{
    const int lanes = __builtin_popcount(r->lanes);
    xg_trace_site *site = &trace->sites[code->merged];
    site->requests++;
    site->lanes += lanes;
    site->partial_requests += lanes < lanes_alive;
    if (site->is_shared)
        count_shared(site, r);
    else
        count_global(site, r);
}

void xg_trace_warp_stops(xg_trace *trace, int lanes_alive)
{
    if (trace->phase == 0)
        trace->totals.warps++;
    for (int i = 0; i < trace->touched_count; i++) {
        code_site *code = &trace->code[trace->touched[i]];
        if (code->is_block)
            count_block(trace, code);
        for (int j = 0; !code->is_block && j < code->count; j++)
            count_request(trace, code, &code->requests[j], lanes_alive);
        code->count = 0;
        memset(code->next, 0, sizeof code->next);
    }
    trace->touched_count = 0;
}

static int by_source(const void *left, const void *right)
{
    const xg_trace_site *a = left, *b = right;
    const int file = strcmp(a->file, b->file);
    if (file || a->line != b->line)
        return file ? file : a->line - b->line;
    return strcmp(a->array, b->array);
}

const xg_trace_site *xg_trace_sites(xg_trace *trace, int *count)
{
    *count = trace->site_count;
    if (trace->site_count > 0)
        qsort(trace->sites, (size_t)trace->site_count, sizeof *trace->sites, by_source);
    /* The order changed: places in the code find their sites again. */
    for (int i = 0; i < site_total(); i++)
        trace->code[i].merged = -1;
    return trace->sites;
}

const xg_trace_totals *xg_trace_sum(const xg_trace *trace)
{
    return &trace->totals;
}
