/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results on standard output: a table with headings, CSV, or JSON. Rows of
 * text and CSV come out as they are added; JSON at the end.
 */
#ifndef XGEMM_BIN_REPORT_H
#define XGEMM_BIN_REPORT_H

#include "options.h"

#include <jansson.h>

typedef struct {
    const char *key; /* heading and JSON key, with its unit: "time_us" */
    int width;       /* of the column in text; negative: text to the left */
} column;

typedef struct {
    enum { CELL_NONE, CELL_TEXT, CELL_INTEGER, CELL_REAL } kind;
    const char *text;
    int64_t integer;
    double real;
    int digits; /* after the point, in text */
} cell;

typedef struct {
    output_format format;
    const column *columns;
    int count;
    const char *rows_key;
    json_t *root, *rows;
} report;

cell cell_none(void);
cell cell_text(const char *text);
cell cell_integer(int64_t value);
cell cell_real(double value, int digits);

/*
 * Begins a report with facts about the run (a JSON object, taken over; may be
 * NULL); rows_key names the array of rows.
 */
report report_open(const settings *common, const column *columns, int count, const char *rows_key,
                   json_t *facts);
/* Adds a member to a JSON result (taken over), which is known only after some rows. */
void report_fact(report *to, const char *key, json_t *value);

void report_row(report *to, const cell *cells);
void report_close(report *to);

/*
 * What JSON results are, share/xgemm.schema.json says; the number is in it. A reader of results
 * takes those from REPORT_SCHEMA_OLDEST on.
 */
enum { REPORT_SCHEMA = 3, REPORT_SCHEMA_OLDEST = 1 };

/* Remembers the command line for report_facts(), before getopt turns it over; at the start. */
void report_keep_arguments(int argc, char **argv);

/* The object every JSON result begins with: schema, version, command and its line, date, host. */
json_t *report_facts(const command *which);

/* The value of a cell; null where it has none, or one that is not finite. */
json_t *report_value(const cell *x);

/* A name of a file need not be UTF-8, and JSON must be: else each byte of no ASCII is a ?. */
json_t *report_text(const char *text);

/* Adds members (an object, taken over). */
void report_add(json_t *facts, json_t *members);

#endif
