/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What trace-sites.awk puts beside the traced kernels: the source of each access, and the arrays in
 * shared memory. And the numbering of words of shared memory: the static first, then the dynamic of
 * each block from a multiple of the banks.
 */
#ifndef XGEMM_SIM_TRACE_TABLES_H
#define XGEMM_SIM_TRACE_TABLES_H

#include "shared_memory.h"
#include "trace_state.h"

#define XG_TRACE_SECTION(name)                                                                     \
    extern const char __start_##name[] __attribute__((weak, visibility("hidden")));                \
    extern const char __stop_##name[] __attribute__((weak, visibility("hidden")));
XG_TRACE_SECTION(xg_shared_traced)
XG_TRACE_SECTION(xg_sites)

/* An access site in the code. Offsets are from their own address. */
typedef struct {
    int32_t file, line, text;
} xg_site_record;

/* The number of a site, by its record: from 0, over all units of kernels. */
HOT int xg_trace_number_of(const void *record)
{
    return (int)((const xg_site_record *)record -
                 (const xg_site_record *)(const void *)__start_xg_sites);
}

/* How many sites the code has; the file and line of one, and the line's text. */
int xg_trace_site_total(void);
const char *xg_trace_file_of(int site, int *line);
const char *xg_trace_text_of(int site);

/* The array in shared memory that holds a word, and which of its elements; NULL: there is none. */
const char *xg_trace_shared_array(size_t word, int64_t *element);

/* The bytes of the static one whose name stands there; 0: there is none. */
int64_t xg_trace_array_bytes(const char *name);

/* "FILE:LINE does what ARRAY[ELEMENT]" of an access; and of an instruction, a word of shared
 * memory. */
_Noreturn void xg_trace_fail(const char *what, const char *array, int64_t element, int site);
_Noreturn void xg_trace_fail_at_word(size_t word, const char *what, const xg_sim_location *here);
/* "FILE:LINE reads (writes) so many bytes outside every array of the launch". */
_Noreturn void xg_trace_fail_outside(bool is_store, int bytes, int site);

HOT size_t static_words(void)
{
    return __start_xg_shared_traced
               ? (size_t)(__stop_xg_shared_traced - __start_xg_shared_traced) / 4
               : 0;
}

HOT size_t dynamic_start(void)
{
    return (static_words() + BANKS - 1) / BANKS * BANKS;
}

HOT size_t dynamic_start_of(int rank)
{
    return dynamic_start() + (size_t)rank * (XG_SIM_DYNAMIC_STRIDE / 4);
}

HOT size_t shared_words(void)
{
    return dynamic_start() + sizeof xg_sim_dynamic_memory / 4;
}

/* The number of a word in shared memory, if the address is there. */
HOT bool shared_word(uintptr_t address, size_t *word)
{
    const uintptr_t in_static = address - (uintptr_t)__start_xg_shared_traced;
    const uintptr_t in_dynamic = address - (uintptr_t)xg_sim_dynamic_memory;
    if (in_static < 4 * static_words())
        *word = in_static / 4;
    else if (in_dynamic < sizeof xg_sim_dynamic_memory)
        *word = dynamic_start() + in_dynamic / 4;
    else
        return false;
    return true;
}

#endif
