/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm explain FILE.cu: a kernel of the user's own. */
#ifndef XGEMM_BIN_EXPLAIN_SOURCE_H
#define XGEMM_BIN_EXPLAIN_SOURCE_H

#include "options.h"

enum { SOURCE_WORDS_MOST = 64 };

enum {
    KEY_SOURCE_KERNEL = 700,
    KEY_SOURCE_GRID,
    KEY_SOURCE_BLOCK,
    KEY_SOURCE_SHARED,
    KEY_SOURCE_ARGUMENT,
    KEY_SOURCE_DEFINE,
    KEY_SOURCE_REGISTERS,
    KEY_SOURCE_CHECK,
    KEY_SOURCE_FILE,
    KEY_SOURCE_COMPARE,
    KEY_SOURCE_DIFF,
    KEY_SOURCE_HTML,
    KEY_SOURCE_SECONDS,
    KEY_SOURCE_MEMORY
};
#define SOURCE_ROWS                                                                                \
    OPTION_ROW(KEY_SOURCE_KERNEL, "kernel", "NAME", "of FILE.cu: which of its kernels"),           \
        OPTION_ROW(KEY_SOURCE_GRID, "grid", "X[,Y[,Z]]", "of FILE.cu: blocks; default 1"),         \
        OPTION_ROW(KEY_SOURCE_BLOCK, "block", "X[,Y[,Z]]", "of FILE.cu: threads of a block"),      \
        OPTION_ROW(KEY_SOURCE_SHARED, "shared", "BYTES", "of FILE.cu: dynamic shared memory"),     \
        OPTION_ROW(KEY_SOURCE_ARGUMENT, "arg", "NAME=TYPE...",                                     \
                   "of FILE.cu: a=float[512x512]:random, n=int:512"),                              \
        OPTION_ROW(KEY_SOURCE_DEFINE, "define", "X=Y...", "of FILE.cu: a macro"),                  \
        OPTION_ROW(KEY_SOURCE_REGISTERS, "registers", "N",                                         \
                   "of FILE.cu: registers a thread, from nvcc -Xptxas -v"),                        \
        OPTION_ROW(KEY_SOURCE_CHECK, "check-only", NULL, "of FILE.cu: only what is wrong"),        \
        OPTION_ROW(KEY_SOURCE_FILE, "source", "FILE", "take such options from a file"),            \
        OPTION_ROW(KEY_SOURCE_COMPARE, "compare", "NAME", "of FILE.cu: beside another kernel"),    \
        OPTION_ROW(KEY_SOURCE_DIFF, "diff", NULL, "of A.cu B.cu: beside the other file"),          \
        OPTION_ROW(KEY_SOURCE_HTML, "html", "FILE", "of FILE.cu: a page that shows it all"),       \
        OPTION_ROW(KEY_SOURCE_SECONDS, "seconds", "N", "of FILE.cu: its most time; default 60"),   \
        OPTION_ROW(KEY_SOURCE_MEMORY, "memory", "MIB",                                             \
                   "of FILE.cu: its most memory; default 4096")

typedef struct {
    settings common;
    xgemm_source_launch launch;
    const char *arguments[SOURCE_WORDS_MOST], *defines[SOURCE_WORDS_MOST];
    const char *compare;    /* another kernel of the file; NULL: none */
    const char *other;      /* another file; NULL: none */
    const char *other_text; /* of that, where it is the standard input */
    const char *html, *launch_file;
    bool diff, check_only;
    bool any;         /* some of these options were given: */
    unsigned given;   /* a bit for each, from KEY_SOURCE_KERNEL on */
    bool by_nvcc;     /* launch.registers are what nvcc says, and were not given */
    xgemm_device gpu; /* struct_size 0: none */
} source_request;

/* Takes an option of SOURCE_ROWS; false: it is none. */
bool source_option(const command *which, source_request *request, int key, const char *value);

/* The kernel's registers by nvcc ($NVCC, or that of PATH) for the GPU; 0: not known. */
int source_registers(const source_request *request);

/* Whether the operand is a file of CUDA C++; "-", the standard input, is taken for one. */
bool is_source(const char *operand);

/* Runs it; the exit status. */
int explain_source(const command *which, source_request *request, int count, char *const *operands);

/* "coalesced" and so on, also of constant memory. */
const char *source_class(const xgemm_trace_site *site);

bool is_mostly_fp64(const xgemm_source_report *report);

/* The report as text; without a GPU that is said. */
void source_text(const source_request *request, const xgemm_source_report *report);
void source_faults(const xgemm_source_report *report);
/* The faults as messages, where the results have no place for them. */
void source_fault_messages(const command *which, const xgemm_source_report *report);
/* What could be better, with figures: a sentence each, to be freed with source_advice_free(). */
typedef struct {
    char *sentences[24];
    int lines[24]; /* of the source; 0: of none */
    int count;
} source_advice;
source_advice source_advise(const source_request *request, const xgemm_source_report *report);
void source_advice_free(source_advice *advice);
/* Why there is none, where there is none. */
const char *source_no_advice(const xgemm_source_report *report);

/* One row a site, CSV or JSON. */
void source_rows(const command *which, const source_request *request,
                 const xgemm_source_report *report);

/* With --check-only: the faults alone. */
void source_fault_rows(const command *which, const source_request *request,
                       const xgemm_source_report *report);

/* What one run has more and less than the other. */
void source_compare(const command *which, const source_request *request,
                    const xgemm_source_report *before, const xgemm_source_report *after);

/* A page; 0, or -1 with a sentence. */
int source_page(const source_request *request, const xgemm_source_report *report, char *why,
                size_t why_size);

#endif
