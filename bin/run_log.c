/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_log.h"

#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const column columns[] = {
    {"calls", 9},         {"what", -9},       {"function", -28}, {"type", -4},    {"math", -7},
    {"trans", -5},        {"batch", 6},       {"m", 7},          {"n", 7},        {"k", 7},
    {"predicted_us", 12}, {"library_us", 10}, {"saved_ms", 9},   {"reason", -40},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

counters *run_log_create(char *name, size_t size)
{
    const int file = memfd_create("xgemm-run", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, sizeof(counters))) {
        if (file >= 0)
            close(file);
        return NULL;
    }
    counters *counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counts == MAP_FAILED) {
        close(file);
        return NULL;
    }
    counts->magic = COUNTERS_MAGIC;
    /* The descriptor stays open in this process: by this name all that the program starts find it.
     */
    snprintf(name, size, "/proc/%ld/fd/%d", (long)getpid(), file);
    return counts;
}

static bool is_served(const counters_kind *kind)
{
    return kind->key.reason[0] == '\0';
}

static uint64_t calls_of(const counters_kind *kind)
{
    return atomic_load(&kind->calls);
}

/* The time that all calls of a kind save; 0 where no times are known. */
static double saved_us(const counters_kind *kind)
{
    const bool known = is_served(kind) && kind->predicted_us > 0 && kind->library_us > 0;
    return known ? (double)calls_of(kind) * (kind->library_us - kind->predicted_us) : 0;
}

/* What is saved first, then by the arithmetic of the calls. */
static int by_weight(const void *left, const void *right)
{
    const counters_kind *kinds[2];
    double weights[2];
    memcpy(&kinds[0], left, sizeof *kinds);
    memcpy(&kinds[1], right, sizeof *kinds);
    if (is_served(kinds[0]) != is_served(kinds[1]))
        return is_served(kinds[0]) ? -1 : 1;
    for (int i = 0; i < 2; i++) {
        const counters_key *key = &kinds[i]->key;
        weights[i] = (double)calls_of(kinds[i]) * (double)key->m * (double)key->n * (double)key->k *
                     (double)key->batch;
    }
    return (weights[0] < weights[1]) - (weights[0] > weights[1]);
}

static void add_row(report *to, const counters_kind *kind)
{
    const counters_key *key = &kind->key;
    const bool timed = kind->predicted_us > 0;
    const cell cells[COLUMNS] = {
        cell_integer((int64_t)calls_of(kind)),
        cell_text(is_served(kind) ? "served" : "passed on"),
        cell_text(key->function),
        cell_text(key->type),
        cell_text(key->math),
        cell_text(key->transposes),
        cell_integer(key->batch),
        cell_integer(key->m),
        cell_integer(key->n),
        cell_integer(key->k),
        timed ? cell_real(kind->predicted_us, 1) : cell_none(),
        kind->library_us > 0 ? cell_real(kind->library_us, 1) : cell_none(),
        saved_us(kind) != 0 ? cell_real(1e-3 * saved_us(kind), 3) : cell_none(),
        is_served(kind) ? cell_none() : cell_text(key->reason),
    };
    report_row(to, cells);
}

typedef struct {
    uint64_t served, passed_on, lost, processes;
    double saved_us;
    size_t kinds;
    const counters_kind *list[COUNTERS_KINDS];
} totals;

static void add_up(const counters *counts, totals *all)
{
    *all =
        (totals){.lost = atomic_load(&counts->lost), .processes = atomic_load(&counts->processes)};
    for (size_t i = 0; i < COUNTERS_KINDS; i++) {
        const counters_kind *kind = &counts->kinds[i];
        if (!atomic_load(&kind->is_ready) || calls_of(kind) == 0)
            continue;
        *(is_served(kind) ? &all->served : &all->passed_on) += calls_of(kind);
        all->saved_us += saved_us(kind);
        all->list[all->kinds++] = kind;
    }
    qsort(all->list, all->kinds, sizeof *all->list, by_weight);
}

static json_t *facts_of(const command *which, const totals *all)
{
    json_t *facts = report_facts(which);
    report_add(facts, json_pack("{s:I, s:I, s:I, s:I, s:f}", "served", (json_int_t)all->served,
                                "passed_on", (json_int_t)all->passed_on, "not_counted",
                                (json_int_t)all->lost, "processes", (json_int_t)all->processes,
                                "saved_s", 1e-6 * all->saved_us));
    return facts;
}

static int close_log(const command *which)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return STATUS_DONE;
    const int why = errno;
    __fpurge(stdout); /* so that nobody tries again */
    clearerr(stdout);
    return failed(which, "the log cannot be written: %s", strerror(why));
}

/* To a file of its own, by way of standard output, where reports go. */
int run_log_print(const command *which, const settings *common, const counters *counts, int to)
{
    static totals all;
    fflush(stdout);
    if (dup2(to, STDOUT_FILENO) < 0)
        return failed(which, "the log cannot be written");
    add_up(counts, &all);
    if (common->format == FORMAT_TEXT) {
        printf("xgemm run: libxgemm %s served %" PRIu64 " of %" PRIu64
               " calls; predicted to save %.3g s\n",
               xgemm_version(), all.served, all.served + all.passed_on + all.lost,
               1e-6 * all.saved_us);
        if (all.lost)
            printf("xgemm run: %" PRIu64 " calls of more kinds are not in the table\n", all.lost);
        if (all.kinds == 0)
            return close_log(which);
    }
    report table = report_open(common, columns, COLUMNS, "kinds", facts_of(which, &all));
    for (size_t i = 0; i < all.kinds; i++)
        add_row(&table, all.list[i]);
    report_close(&table);
    return close_log(which);
}
