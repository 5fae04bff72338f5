/* SPDX-License-Identifier: BSD-3-Clause */
/* How explain shows a trace: as text for people, or as rows. */
#ifndef XGEMM_BIN_EXPLAIN_TEXT_H
#define XGEMM_BIN_EXPLAIN_TEXT_H

#include "problem_options.h"

#include <jansson.h>

enum { DRAM_MOST = 4096 };

/* Memory interleaved over channels first, then banks; channels 0: not asked for. */
typedef struct {
    int channels, banks;
    int bytes;    /* that lie together before the next channel */
    int64_t tile; /* width of the tiles of A; 0: the kernel's */
} dram_shape;

typedef struct {
    settings common;
    const char *kernel;
    xgemm_kernel_info info;
    problem_options problem; /* the math mode is that by which "auto" is chosen */
    workload work;           /* with the sizes */
    int64_t most_blocks;     /* of each launch to simulate; 0: all */
    dram_shape dram;
    xgemm_device gpu; /* struct_size 0: none */
    const char *plot;
    bool is_source; /* a kernel of the user's own: of info only math is set */
    bool is_fp64;   /* and most of its operations are */
    bool by_nvcc;   /* its registers were not given */
} explain_request;

void explain_text(const explain_request *r, const xgemm_trace_report *report);

/* One row an access site, CSV or JSON. */
void explain_rows(const explain_request *r, const command *which, const xgemm_trace_report *report);

/* Parts of the text: which threads are a warp; the tables of accesses. */
void explain_warp_map(const xgemm_trace_report *report);
void explain_accesses(const xgemm_trace_report *report);

/* The trace's sums, for JSON; and a row for each site, below facts that are taken over. */
json_t *explain_trace_facts(const xgemm_trace_report *report);
void explain_site_rows(const settings *common, const xgemm_trace_report *report, json_t *facts);

/* "coalesced", "not coalesced" or "not applicable" (shared memory). */
const char *site_class(const xgemm_trace_site *site);

/* The kernel on the GPU: occupancy, waves, roofline. */
/* Of a kernel of one's own: what its peak is of, "in FP32" for example. */
const char *source_peak(const xgemm_device *gpu, const xgemm_trace_report *report, bool is_fp64);
void explain_gpu(const explain_request *r, const xgemm_trace_report *report);

/* The same for JSON: the members gpu, occupancy and roofline, null without a GPU. */
void explain_gpu_facts(json_t *facts, const explain_request *r, const xgemm_trace_report *report);

/* Draws the GPU's roofline with the kernel on it; 0, or -1 with a sentence. */
int explain_roofline(const explain_request *r, const xgemm_trace_report *report, char *message,
                     size_t message_size);

/* Which channels and banks the first phase of a tiled product touches in A. */
void explain_dram(const explain_request *r);

#endif
