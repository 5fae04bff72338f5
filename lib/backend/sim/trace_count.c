/* SPDX-License-Identifier: BSD-3-Clause */
/* What the accesses of a warp cost, as a GPU serves them: sectors, lines and bank conflicts. */
#include "trace_events.h"
#include "source_memory.h"
#include "trace_state.h"

#include <string.h>

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

/*
 * The different bytes that a request asks for, by how many words (or wider parts) they begin in:
 * of smaller elements several share a word.
 */
static int bytes_asked(const xg_trace_site *site, const request *r, int parts)
{
    const int all = __builtin_popcount(r->lanes) * site->bytes;
    const int most = parts * (site->bytes < 4 ? 4 : site->bytes);
    return most < all ? most : all;
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
    site->ideal_sectors += (bytes_asked(site, r, asked.count) + SECTOR_BYTES - 1) / SECTOR_BYTES;
    if (sectors.count > site->most_sectors)
        site->most_sectors = sectors.count;
}

/* The different words that each bank has to give. */
typedef struct {
    uint32_t word[BANKS][WARP];
    int count[BANKS], words, most;
} bank_words;

HOT void ask_bank(bank_words *banks, uint32_t word)
{
    const uint32_t bank = word % BANKS;
    for (int i = 0; i < banks->count[bank]; i++)
        if (banks->word[bank][i] == word)
            return;
    banks->word[bank][banks->count[bank]++] = word;
    banks->words++;
    if (banks->count[bank] > banks->most)
        banks->most = banks->count[bank];
}

/* Whether all lanes want what the lane does whose number differs in that bit. */
static bool share_words(const request *r, int bit)
{
    for (int lane = 0; lane < WARP; lane++)
        if ((r->lanes >> lane & 1) && (r->lanes >> (lane ^ bit) & 1) &&
            r->word[lane] != r->word[lane ^ bit])
            return false;
    return true;
}

/*
 * The lanes that are served together: all with 4 bytes each, half a warp with 8, a quarter with 16;
 * and twice as many where all want what their neighbour does, or all what the next but one does: so
 * Nsight Compute's counters have it for 22 patterns of each width (doc/notes/simulator.md).
 */
static int lanes_together(const xg_trace_site *site, const request *r)
{
    const int words = (site->bytes + 3) / 4;
    const int alone = words <= 1 ? WARP : words == 2 ? WARP / 2 : WARP / 4;
    return words > 1 && (share_words(r, 1) || share_words(r, 2)) ? 2 * alone : alone;
}

/* Passes over the banks: each gives one word from each of the 32, and equal words are one. */
static void count_shared(xg_trace_site *site, const request *r)
{
    const int together = lanes_together(site, r);
    const uint32_t width = (uint32_t)(site->bytes + 3) / 4;
    for (int first = 0; first < WARP; first += together) {
        bank_words banks;
        memset(banks.count, 0, sizeof banks.count);
        banks.words = banks.most = 0;
        for (int lane = first; lane < first + together; lane++)
            for (uint32_t w = 0; (r->lanes >> lane & 1) && w < width; w++)
                ask_bank(&banks, r->word[lane] + w);
        site->wavefronts += banks.most;
        site->ideal_wavefronts += (banks.words + BANKS - 1) / BANKS;
        if (banks.most > site->most_ways)
            site->most_ways = banks.most;
    }
}

/* Constant memory: one word for the whole warp in a pass. */
static void count_constant(xg_trace_site *site, const request *r)
{
    number_set words;
    words.count = 0;
    words.largest = 0;
    for (int lane = 0; lane < WARP; lane++)
        if (r->lanes >> lane & 1)
            add_new(&words, r->word[lane]);
    site->wavefronts += words.count;
    site->ideal_wavefronts++;
    if (words.count > site->most_ways)
        site->most_ways = words.count;
}

/* As many steps of the warp as its busiest thread made. */
static void count_block(xg_trace *trace, code_site *code)
{
    int most = 0, all = 0;
    for (int lane = 0; lane < WARP; lane++) {
        all += code->next[lane];
        if (code->next[lane] > most)
            most = code->next[lane];
    }
    trace->totals.step_lanes += all;
    trace->totals.steps += most;
    code->step_lanes += all;
    code->steps += most;
}

/* The number of the first word of the memory that a word is in. */
static uint32_t first_word(const struct source_memories *s, uint32_t word)
{
    uint32_t first = 0;
    for (int i = 0; i < s->of->array_count && s->memories[i].first_word <= word; i++)
        first = s->memories[i].first_word;
    return first;
}

/* The worst request, to be shown: with words from the beginning of its array, or of the first. */
static void keep_request(const struct source_memories *s, xg_trace_site *site, const request *r)
{
    uint32_t first = UINT32_MAX;
    site->request_lanes = r->lanes;
    for (int lane = 0; lane < WARP; lane++)
        if (r->lanes >> lane & 1 && r->word[lane] < first)
            first = r->word[lane];
    first = first_word(s, first);
    for (int lane = 0; lane < WARP; lane++)
        site->request_word[lane] = r->word[lane] - first;
}

static void count_request(xg_trace *trace, const request *r, int lanes_alive)
{
    const int lanes = __builtin_popcount(r->lanes);
    xg_trace_site *site = &trace->sites[r->merged];
    const int sectors = site->most_sectors, ways = site->most_ways;
    site->requests++;
    site->lanes += lanes;
    site->partial_requests += lanes < lanes_alive;
    if (site->is_constant)
        count_constant(site, r);
    else if (site->is_shared)
        count_shared(site, r);
    else
        count_global(site, r);
    if (trace->source &&
        (site->requests == 1 || site->most_sectors > sectors || site->most_ways > ways))
        keep_request(trace->source, site, r);
}

void xg_trace_warp_stops(int lanes_alive)
{
    xg_trace *trace = xg_trace_current;
    for (int i = 0; i < trace->touched_count; i++) {
        code_site *code = &trace->code[trace->touched[i]];
        if (code->is_block)
            count_block(trace, code);
        for (int j = 0; !code->is_block && j < code->count; j++)
            count_request(trace, &code->requests[j], lanes_alive);
        code->count = 0;
        memset(code->next, 0, sizeof code->next);
    }
    trace->touched_count = 0;
    if (trace->source)
        trace->source->stops++;
}
