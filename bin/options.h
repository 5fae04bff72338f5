/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines. One table of rows a command makes both the parser and the
 * help; options that every command has are added to it.
 */
#ifndef XGEMM_BIN_OPTIONS_H
#define XGEMM_BIN_OPTIONS_H

#include <xgemm.h>

#include <stdbool.h>

/* The utility's exit statuses. */
enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_NO_DEVICE = 77 };

typedef enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON } output_format;

/* What every command is told. */
typedef struct {
    int device; /* for xgemm_create() */
    output_format format;
    bool quiet;
} settings;

typedef struct {
    int key;              /* a short option's letter, or a number from 256 for none */
    const char *name;     /* the long option */
    const char *argument; /* what it takes, for the help; NULL: nothing; "[=FILE]": it may be left
                             out, and *value is NULL then */
    const char *text;
} option_row;

/* A row that several commands have, where a macro stands for it. */
#define OPTION_ROW(key, name, argument, text)                                                      \
    {                                                                                              \
        key, name, argument, text                                                                  \
    }

typedef struct {
    const char *name;     /* "bench" */
    const char *operands; /* "A.npy B.npy -o C.npy" */
    const char *summary;  /* one line */
    const option_row *options;
    int option_count;
    int (*run)(int argc, char **argv);
    bool has_no_device; /* --device is refused, with a sentence, and not in its help */
} command;

/*
 * The next option of the command's own: its key, with its argument in *value;
 * -1 at the end, when optind is the first operand. Common options are put into
 * *common; --help prints and ends the program, a wrong option ends it with 2, and so does one that
 * has no effect: one with an argument that is given twice, and --json beside --csv. At the end, a
 * standard output that cannot be written to ends it with 1.
 */
int option_next(const command *which, int argc, char **argv, settings *common, const char **value);

/* Whether an option was given, by its key, once option_next() has come to it. */
bool option_given(int key);

/*
 * Ends the program with 2 if another option was given than one of these keys, 0 after them, and
 * those of the output: it would have no effect, since: "--from measures nothing".
 */
void option_only(const command *which, const char *since, const int *keys);

/* The same for a command whose first operand is a program, with options of its own after it. */
int option_next_leading(const command *which, int argc, char **argv, settings *common,
                        const char **value);

/* Prints "xgemm COMMAND: sentence" and how to get help, and ends the program with 2. */
_Noreturn void usage_error(const command *which, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Values of options; each ends the program with 2 and a sentence when the text is none. */
double option_real(const command *which, const char *name, const char *text);
int64_t option_integer(const command *which, const char *name, const char *text, int64_t least,
                       int64_t most);
xgemm_transpose option_transpose(const command *which, const char *name, const char *text);
xgemm_order option_order(const command *which, const char *text);
xgemm_math option_math(const command *which, const char *text);

/* Letters and words for what the above take. */
const char *transpose_letter(xgemm_transpose trans);
const char *order_word(xgemm_order order);
const char *math_word(xgemm_math math);

/* A handle on the device; on failure prints why and ends the program with 77, 2 or 1. */
xgemm_handle *open_device(const command *which, const settings *common);

/*
 * The status, or STATUS_FAILED with a message when what was printed did not all
 * go out: a full disk or a closed pipe is a failure.
 */
int close_output(int status);

/* Prints "xgemm COMMAND: sentence" to stderr and gives back STATUS_FAILED. */
int failed(const command *which, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a libxgemm call that failed on the handle. */
int failed_call(const command *which, const xgemm_handle *handle);

/* What the program ends with where a device cannot be had: 77 where there is none. */
int status_without_device(xgemm_status status);

/* The ending of a noun that is counted. */
static inline const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
