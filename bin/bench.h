/* SPDX-License-Identifier: BSD-3-Clause */
/* What bench is asked for, and the measuring. */
#ifndef XGEMM_BIN_BENCH_H
#define XGEMM_BIN_BENCH_H

#include "baseline.h"
#include "data_list.h"
#include "plot.h"
#include "results.h"
#include "sweep.h"

typedef struct {
    settings common;
    shape_options shapes;
    const char *kernel, *data_text, *plot_path, *from_path, *baseline_path;
    data_list data;
    bool compare, graph, check;
    double noise; /* percent */
    problem_options problem;
    sweep sweep; /* of the layouts, math modes and types that are measured in turn */
    schedule how;
    uint64_t seed;
} bench_request;

/* Measures, prints and draws on the handle's device; an exit status. */
int bench_measure(const bench_request *request, xgemm_handle *handle, const shape_list *list);

/* What is multiplied, for a picture: "SGEMM NN, row order". Without an order: "several layouts". */
void bench_product_text(char text[64], xgemm_type type, const char *transa, const char *transb,
                        const char *order);

/* A picture of results, or NULL where none is asked for or memory is out. */
plot *bench_plot(const bench_request *request, const char *product, const char *device,
                 const char *date);

/* Writes it where it is wanted; an exit status. */
int bench_draw(const bench_request *request, const plot *drawing);

/*
 * What the rows that were compared with the baseline add up to, on standard error; STATUS_FAILED
 * where one was slower or none could be compared.
 */
int bench_verdict(const bench_request *request, const baseline *of);

#endif
