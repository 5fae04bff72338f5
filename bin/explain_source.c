/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain_source.h"

#include "gpu.h"
#include "replacement.h"
#include "stdout_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_stdin(const char *file)
{
    return file && strcmp(file, "-") == 0;
}

bool is_source(const char *operand)
{
    static const char *const endings[] = {".cu", ".cuh", ".cpp", ".cc", ".cxx"};
    const size_t length = strlen(operand);
    if (is_stdin(operand))
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (length > strlen(endings[i]) &&
            strcmp(operand + length - strlen(endings[i]), endings[i]) == 0)
            return true;
    return false;
}

/* "8", "8,4" or "8x4x2". */
static void take_sizes(const command *which, const char *name, const char *text, unsigned *to)
{
    const char *at = text;
    bool right = true;
    for (int d = 0; d < 3 && right && (d == 0 || *at); d++) {
        char *end;
        if (d > 0)
            right = *at == ',' || *at == 'x', at++;
        right = right && isdigit((unsigned char)*at);
        const unsigned long long size = right ? strtoull(at, &end, 10) : 0;
        right = right && size >= 1 && size <= INT32_MAX;
        to[d] = (unsigned)size;
        at = right ? end : at;
    }
    if (!right || *at)
        usage_error(which, "--%s takes X, X,Y or X,Y,Z, each from 1 to %d, not \"%s\"", name,
                    INT32_MAX, text);
}

static void add_word(const command *which, const char *name, const char **words, int *count,
                     const char *word)
{
    if (*count == SOURCE_WORDS_MOST)
        usage_error(which, "more than %d times --%s", SOURCE_WORDS_MOST, name);
    words[(*count)++] = word;
}

/* The macro's name: X of "X=1", "X(a)=a" and "X". */
static size_t name_length(const char *macro)
{
    return strcspn(macro, "=(");
}

static void add_define(const command *which, source_request *r, const char *macro)
{
    const size_t length = name_length(macro);
    if (length == 0)
        usage_error(which, "--define takes NAME or NAME=VALUE, not \"%s\"", macro);
    for (int i = 0; i < r->launch.define_count; i++)
        if (length == name_length(r->defines[i]) && memcmp(macro, r->defines[i], length) == 0)
            usage_error(which, "--define has \"%.*s\" twice", (int)length, macro);
    add_word(which, "define", r->defines, &r->launch.define_count, macro);
}

static unsigned bit_of(int key)
{
    return 1u << (key - KEY_SOURCE_KERNEL);
}

bool source_option(const command *which, source_request *r, int key, const char *value)
{
    xgemm_source_launch *l = &r->launch;
    if (key < KEY_SOURCE_KERNEL || key > KEY_SOURCE_MEMORY)
        return false;
    r->any = true;
    r->given |= bit_of(key);
    switch (key) {
    case KEY_SOURCE_KERNEL:
        l->kernel = value;
        break;
    case KEY_SOURCE_GRID:
        take_sizes(which, "grid", value, l->grid);
        break;
    case KEY_SOURCE_BLOCK:
        take_sizes(which, "block", value, l->block);
        break;
    case KEY_SOURCE_SHARED:
        l->shared_bytes = (unsigned)option_integer(which, "shared", value, 0, 1 << 20);
        break;
    case KEY_SOURCE_ARGUMENT:
        add_word(which, "arg", r->arguments, &l->argument_count, value);
        break;
    case KEY_SOURCE_DEFINE:
        add_define(which, r, value);
        break;
    case KEY_SOURCE_REGISTERS:
        l->registers = (int)option_integer(which, "registers", value, 1, 255);
        break;
    case KEY_SOURCE_CHECK:
        r->check_only = true;
        break;
    case KEY_SOURCE_FILE:
        r->launch_file = value;
        break;
    case KEY_SOURCE_COMPARE:
        r->compare = value;
        break;
    case KEY_SOURCE_DIFF:
        r->diff = true;
        break;
    case KEY_SOURCE_HTML:
        r->html = value;
        break;
    case KEY_SOURCE_SECONDS:
        l->seconds = (int)option_integer(which, "seconds", value, 1, 86400);
        break;
    default:
        l->memory_bytes = option_integer(which, "memory", value, 1, 1 << 24) * 1024 * 1024;
    }
    return true;
}

/* ---- A launch file ---- */

/* The words that a line of a launch file may begin with, as the options of the same name. */
static const struct {
    const char *word;
    int key;
} words[] = {
    {"kernel", KEY_SOURCE_KERNEL},       {"grid", KEY_SOURCE_GRID},
    {"block", KEY_SOURCE_BLOCK},         {"shared", KEY_SOURCE_SHARED},
    {"arg", KEY_SOURCE_ARGUMENT},        {"define", KEY_SOURCE_DEFINE},
    {"registers", KEY_SOURCE_REGISTERS}, {"seconds", KEY_SOURCE_SECONDS},
    {"memory", KEY_SOURCE_MEMORY},       {"compare", KEY_SOURCE_COMPARE},
};

/* The file's path beside the launch file's. */
static char *beside(const char *launch_file, const char *file)
{
    const char *slash = strrchr(launch_file, '/');
    const size_t folder = slash && *file != '/' ? (size_t)(slash - launch_file) + 1 : 0;
    char *path = malloc(folder + strlen(file) + 1);
    if (path) {
        memcpy(path, launch_file, folder);
        strcpy(path + folder, file);
    }
    return path;
}

/* Words of launch files live as long as the program; here they are found, and are no leaks. */
static void keep(const command *which, char *word)
{
    static char **kept;
    static size_t count;
    char **const more = word ? realloc(kept, (count + 1) * sizeof *kept) : NULL;
    if (!more)
        exit(failed(which, "the host is out of memory"));
    kept = more;
    kept[count++] = word;
}

/* What the command line has given stands: "given", from before the file was read. */
static void take_line(const command *which, source_request *r, char *line, int number,
                      unsigned given)
{
    char *word = line + strspn(line, " \t-");
    char *value = word + strcspn(word, " \t=");
    if (*word == '#' || *word == '\0')
        return;
    if (*value)
        *value++ = '\0';
    value += strspn(value, " \t");
    for (size_t end = strlen(value); end > 0 && isspace((unsigned char)value[end - 1]); end--)
        value[end - 1] = '\0';
    const bool has_folder = strcmp(word, "file") == 0 && !is_stdin(value);
    char *kept = has_folder ? beside(r->launch_file, value) : strdup(value);
    keep(which, kept);
    if (strcmp(word, "file") == 0) {
        r->launch.file = kept;
        return;
    }
    if (strcmp(word, "gpu") == 0) {
        if (r->gpu.struct_size == 0)
            r->gpu = gpu_choose(which, &(settings){.device = XGEMM_DEVICE_AUTO}, kept);
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0) {
            const bool is_list =
                words[i].key == KEY_SOURCE_ARGUMENT || words[i].key == KEY_SOURCE_DEFINE;
            if (is_list || !(given & bit_of(words[i].key)))
                source_option(which, r, words[i].key, kept);
            return;
        }
    usage_error(which,
                "%s:%d: \"%s\" is none of file, gpu, kernel, grid, block, shared, arg, "
                "define, registers, seconds, memory and compare",
                r->launch_file, number, word);
}

static void read_launch_file(const command *which, source_request *r)
{
    char *line = NULL;
    size_t room = 0;
    const unsigned given = r->given;
    const bool is_input = is_stdin(r->launch_file);
    FILE *file = is_input ? stdin : fopen(r->launch_file, "r");
    if (!file)
        usage_error(which, "cannot read %s: %s", r->launch_file, strerror(errno));
    for (int number = 1; getline(&line, &room, file) >= 0; number++) {
        line[strcspn(line, "\r\n")] = '\0';
        take_line(which, r, line, number, given);
    }
    const bool broken = !feof(file); /* also without memory for a line, which sets no error */
    const int error = errno;
    free(line);
    if (broken)
        usage_error(which, "cannot read %s: %s", r->launch_file, strerror(error));
    if (!is_input)
        fclose(file);
}

/* ---- The run ---- */

static xgemm_source_report *trace(const command *which, const source_request *r)
{
    xgemm_source_report *report;
    const xgemm_status status =
        xgemm_trace_source(&r->launch, r->gpu.struct_size ? &r->gpu : NULL, &report);
    if (status) {
        failed_call(which, NULL);
        exit(STATUS_USAGE); /* 1 says that the kernel has faults */
    }
    return report;
}

/* The standard input, read once, under the name that compilers give it. */
static void take_stdin(const command *which, const char **file, const char **text)
{
    enum { MOST = 1 << 24 };
    char *const input = malloc(MOST + 2);
    *file = "<stdin>";
    keep(which, input);
    const size_t size = fread(input, 1, MOST + 1, stdin);
    if (ferror(stdin))
        usage_error(which, "cannot read %s: %s", *file, strerror(errno));
    if (size > MOST || memchr(input, '\0', size))
        usage_error(which, "%s is no source: too large, or binary", *file);
    input[size] = '\0';
    *text = input;
}

static void take_operands(const command *which, source_request *r, int count, char *const *operands)
{
    const bool gpu_is_option = r->gpu.struct_size > 0;
    if (r->launch_file)
        read_launch_file(which, r);
    if (count > 0)
        r->launch.file = operands[0];
    if (r->diff) {
        if (count != 2)
            usage_error(which, "--diff compares two files: A.cu B.cu");
        r->other = operands[1];
    } else if (count > 1) {
        usage_error(which, "one file; --diff compares two");
    }
    if (!r->launch.file)
        usage_error(which, "which file? FILE.cu, or a line \"file\" in %s", r->launch_file);
    const int from_stdin = is_stdin(r->launch_file) + is_stdin(r->launch.file) + is_stdin(r->other);
    if (from_stdin > 1)
        usage_error(which, "one file alone can be the standard input; %d are", from_stdin);
    if (r->compare && r->other)
        usage_error(which, "--compare is for two kernels of one file, --diff for two files");
    if ((r->compare || r->other) && (r->html || r->check_only))
        usage_error(which, "a comparison has neither --html nor --check-only");
    if (r->check_only && gpu_is_option)
        usage_error(which, "--check-only says what is wrong alone, so that --gpu has no effect");
    if (is_stdin(r->launch.file))
        take_stdin(which, &r->launch.file, &r->launch.text);
    if (is_stdin(r->other))
        take_stdin(which, &r->other, &r->other_text);
}

/* Occupancy needs registers; only nvcc knows them. */
static void find_registers(source_request *r)
{
    if (r->gpu.struct_size == 0 || r->check_only || (r->launch.registers > 0 && !r->by_nvcc))
        return;
    r->launch.registers = source_registers(r);
    r->by_nvcc = r->launch.registers > 0;
}

static int compare(const command *which, source_request *r)
{
    find_registers(r);
    xgemm_source_report *before = trace(which, r);
    source_request second = *r;
    if (r->compare)
        second.launch.kernel = r->compare;
    if (r->other) {
        second.launch.file = r->other;
        second.launch.text = r->other_text;
    }
    find_registers(&second);
    xgemm_source_report *after = trace(which, &second);
    source_compare(which, r, before, after);
    if (r->common.format != FORMAT_TEXT) {
        source_fault_messages(which, before);
        source_fault_messages(which, after);
    }
    const int faults = before->fault_count + after->fault_count;
    xgemm_source_report_free(before);
    xgemm_source_report_free(after);
    return faults > 0 ? STATUS_FAILED : STATUS_DONE;
}

/* A page that cannot be written is found before the kernel runs. */
static void prepare_page(const command *which, const source_request *r)
{
    replacement there;
    if (!r->html)
        return;
    stdout_for_file(which, &r->common, r->html, "the page");
    if (!replacement_check(&there, r->html, 1)) {
        failed(which, "cannot write %s: %s", r->html, there.why);
        exit(STATUS_USAGE); /* 1 says that the kernel has faults */
    }
}

int explain_source(const command *which, source_request *r, int count, char *const *operands)
{
    char why[512];
    r->launch.struct_size = sizeof r->launch;
    r->launch.messages = 2;
    take_operands(which, r, count, operands);
    r->launch.arguments = r->arguments;
    r->launch.defines = r->defines;
    if (r->check_only && r->launch.most_blocks == 0)
        r->launch.most_blocks = -1;
    if (r->compare || r->other)
        return compare(which, r);
    prepare_page(which, r);
    find_registers(r);
    xgemm_source_report *report = trace(which, r);
    const int written = r->html ? source_page(r, report, why, sizeof why) : 0;
    if (r->check_only && r->common.format != FORMAT_TEXT)
        source_fault_rows(which, r, report);
    else if (r->common.format != FORMAT_TEXT)
        source_rows(which, r, report);
    else if (r->check_only)
        source_faults(report);
    else
        source_text(r, report);
    if (r->common.format == FORMAT_CSV && !r->check_only) /* which has no place for them */
        source_fault_messages(which, report);
    const int faults = report->fault_count;
    xgemm_source_report_free(report);
    if (written) {
        failed(which, "%s", why);
        return STATUS_USAGE;
    }
    return faults > 0 ? STATUS_FAILED : STATUS_DONE;
}
