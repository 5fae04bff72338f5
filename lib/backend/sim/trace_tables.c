/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace_tables.h"

XG_TRACE_SECTION(xg_objects)

/* As in a site's record, offsets are from their own address. */
typedef struct {
    int32_t address, name, bytes;
} object_record;

static uintptr_t relative(const int32_t *offset)
{
    return (uintptr_t)offset + (uintptr_t)(intptr_t)*offset;
}

static const xg_site_record *record_of(int site)
{
    return (const xg_site_record *)(const void *)__start_xg_sites + site;
}

int xg_trace_site_total(void)
{
    return __start_xg_sites
               ? (int)((__stop_xg_sites - __start_xg_sites) / (long)sizeof(xg_site_record))
               : 0;
}

const char *xg_trace_file_of(int site, int *line)
{
    *line = record_of(site)->line;
    return (const char *)relative(&record_of(site)->file);
}

const char *xg_trace_text_of(int site)
{
    return (const char *)relative(&record_of(site)->text);
}

const char *xg_trace_shared_array(size_t word, int64_t *element)
{
    const uintptr_t address = (uintptr_t)__start_xg_shared_traced + 4 * (uintptr_t)word;
    if (word >= dynamic_start()) {
        *element = (int64_t)((word - dynamic_start()) % (XG_SIM_DYNAMIC_STRIDE / 4));
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

int64_t xg_trace_array_bytes(const char *name)
{
    const object_record *record = (const object_record *)(const void *)__start_xg_objects;
    const object_record *end = (const object_record *)(const void *)__stop_xg_objects;
    for (; record < end; record++)
        if (relative(&record->name) == (uintptr_t)name)
            return record->bytes;
    return 0;
}

void xg_trace_fail(const char *what, const char *array, int64_t element, int site)
{
    int line;
    const char *file = xg_trace_file_of(site, &line);
    xg_sim_fail("%s: %s:%d %s %s[%lld]", xg_sim_where(), file, line, what, array,
                (long long)element);
}

void xg_trace_fail_at_word(size_t word, const char *what, const xg_sim_location *here)
{
    int64_t element;
    const char *name = xg_trace_shared_array(word, &element);
    xg_sim_fail_at(here, "%s %s[%lld]", what, name ? name : "shared", (long long)element);
}

void xg_trace_fail_outside(bool is_store, int bytes, int site)
{
    int line;
    const char *file = xg_trace_file_of(site, &line);
    xg_sim_fail("%s: %s:%d %s %d bytes outside every array of the launch", xg_sim_where(), file,
                line, is_store ? "writes" : "reads", bytes);
}
