/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a user's own kernel, in sentences. */
#include "source_memory.h"

#include <stdio.h>
#include <string.h>

static const char *const verbs[] = {"reads", "writes", "updates", "copies to"};

static int line_of(int site)
{
    const struct source_memories *s = xg_trace_current->source;
    return site >= 0 ? s->of->sites[site].line : 0;
}

/* "12", or "12 of header.cuh": the user's file alone has its lines' text. */
typedef struct {
    char text[48];
} place;

static place place_of(int site)
{
    const struct source_memories *s = xg_trace_current->source;
    place p = {"0"};
    if (site >= 0 && *s->of->sites[site].text)
        snprintf(p.text, sizeof p.text, "%d", line_of(site));
    else if (site >= 0 && *s->of->sites[site].file)
        snprintf(p.text, sizeof p.text, "%d of %.32s", line_of(site), s->of->sites[site].file);
    return p;
}

const char *xg_trace_thread_text(void)
{
    static char text[96];
    const xg_index3 *b = &blockIdx, *t = &xg_sim_threadIdx;
    snprintf(text, sizeof text, "thread (%u, %u, %u) of block (%u, %u, %u)", t->x, t->y, t->z, b->x,
             b->y, b->z);
    return text;
}

/*
 * The bytes of an element. Where its type is not known it is as large as the smallest access; of 16
 * bytes, as a float4, it is rather one of 4 with vectorized accesses.
 */
static int element_of(const memory *m, int bytes)
{
    const int least = m->least > 0 && m->least < bytes ? m->least : bytes;
    return m->array->element_bytes > 0 ? m->array->element_bytes : least < 16 ? least : 4;
}

/* "a[17]", "dynamic shared memory[4]" */
static void element_text(const memory *m, uintptr_t address, char *text, size_t size)
{
    snprintf(text, size, "%s[%lld]", m->array->name,
             (long long)(address - m->base) / (long long)element_of(m, m->least));
}

void xg_source_found(struct source_memories *s, const xg_source_fault *fault)
{
    for (int i = 0; i < s->fault_count; i++) {
        xg_source_fault *known = &s->faults[i];
        if (known->kind == fault->kind && known->line == fault->line &&
            known->other_line == fault->other_line) {
            known->count++;
            return;
        }
    }
    if (s->fault_count == XG_FAULTS_MOST)
        return;
    s->faults[s->fault_count] = *fault;
    s->faults[s->fault_count++].count = 1;
}

void xg_source_stops(const xg_source_fault *fault)
{
    xg_source_found(xg_trace_current->source, fault);
    xg_sim_fail("%s", fault->text);
}

xg_source_fault xg_source_fault_of(xg_fault_kind kind, const memory *m, uintptr_t address,
                                   int access, int site)
{
    xg_source_fault fault = {.kind = kind, .line = line_of(site), .site = site, .other_site = -1};
    char element[128];
    const char *const why =
        kind == XG_FAULT_UNDEFINED && m->is_shared
            ? "shared memory that no thread of the block has written"
        : kind == XG_FAULT_UNDEFINED ? "which nothing has written"
        : kind == XG_FAULT_IN_FLIGHT ? "which an asynchronous copy has not brought yet"
        : kind == XG_FAULT_CONSTANT  ? "which is constant memory"
                                     : "at an address that is not a multiple of the access's size";
    element_text(m, address, element, sizeof element);
    snprintf(fault.text, sizeof fault.text, "line %s: %s %s %s, %s", place_of(site).text,
             xg_trace_thread_text(), verbs[access], element, why);
    return fault;
}

/* "thread (4, 0, 0)", "several threads of warp 2", "several threads". */
static void others_text(int others, char *text, size_t size)
{
    if (others >= 0) {
        const xg_index3 t = xg_sim_thread_indices[others];
        snprintf(text, size, "thread (%u, %u, %u)", t.x, t.y, t.z);
    } else if (others == SEVERAL_WARPS) {
        snprintf(text, size, "a thread of another warp");
    } else {
        snprintf(text, size, "a thread of warp %d", -2 - others);
    }
}

xg_source_fault xg_source_race_of(const memory *m, uintptr_t address, int access, int site,
                                  const cell *with, bool with_write)
{
    xg_source_fault fault = {.kind = XG_FAULT_RACE,
                             .line = line_of(site),
                             .site = site,
                             .other_site = with_write ? with->write_site : with->read_site};
    const uint64_t phase = with_write ? with->write_phase : with->read_phase;
    char element[128], others[64];
    fault.other_line = line_of(fault.other_site);
    const place own = place_of(site), other = place_of(fault.other_site);
    element_text(m, address, element, sizeof element);
    if (block_of(phase) == block_of(xg_trace_current->phase))
        others_text(with_write ? with->writer : with->reader, others, sizeof others);
    else
        snprintf(others, sizeof others, "another block");
    snprintf(fault.text, sizeof fault.text,
             "race between lines %s and %s: %s %s %s at line %s, which %s %s at line %s; %s",
             fault.other_line < fault.line ? other.text : own.text,
             fault.other_line < fault.line ? own.text : other.text, xg_trace_thread_text(),
             verbs[access], element, own.text, others, with_write ? "writes" : "reads", other.text,
             block_of(phase) == block_of(xg_trace_current->phase) ? "no barrier is between them"
                                                                  : "nothing orders blocks");
    return fault;
}

/* How far an address is from a memory; 0: inside. */
static uintptr_t distance(const memory *m, uintptr_t address)
{
    return address < m->base              ? m->base - address
           : address - m->base < m->bytes ? 0
                                          : address - m->base - (uintptr_t)m->bytes + 1;
}

void xg_source_outside(struct source_memories *s, uintptr_t address, int bytes, int access,
                       int site)
{
    enum { NEAR = 1 << 26 }; /* further off it is of no array */
    xg_source_fault fault = {
        .kind = XG_FAULT_OUTSIDE, .line = line_of(site), .site = site, .other_site = -1};
    const memory *nearest = NULL;
    for (int i = 0; i < s->of->array_count; i++)
        if (!nearest || distance(&s->memories[i], address) < distance(nearest, address))
            nearest = &s->memories[i];
    if (address < 65536) {
        snprintf(fault.text, sizeof fault.text, "line %s: %s %s %d bytes at a null pointer",
                 place_of(site).text, xg_trace_thread_text(), verbs[access], bytes);
    } else if (nearest && distance(nearest, address) < NEAR) {
        const int size = element_of(nearest, bytes);
        const bool before = address < nearest->base;
        const long long from =
            before ? -(long long)(nearest->base - address) : (long long)(address - nearest->base);
        snprintf(fault.text, sizeof fault.text, "line %s: %s %s %s[%lld], %s %s of %lld elements",
                 place_of(site).text, xg_trace_thread_text(), verbs[access], nearest->array->name,
                 (from - (before ? size - 1 : 0)) / size,
                 before ? "before the beginning of" : "past the end of", nearest->array->name,
                 (long long)nearest->bytes / size);
    } else {
        snprintf(fault.text, sizeof fault.text, "line %s: %s %s %d bytes outside every array",
                 place_of(site).text, xg_trace_thread_text(), verbs[access], bytes);
    }
    xg_source_stops(&fault);
}
