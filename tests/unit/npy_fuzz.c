/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutates the headers of .npy files and reads them: npy_fuzz [ITERATIONS [SEED]].
 * The same arguments give the same run. With XGEMM_LIBFUZZER defined it is the
 * target of a libFuzzer instead (clang -fsanitize=fuzzer).
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "element.h"
#include "npy_whole.h"

#define TEXT_LIMIT 1024
#define FILES_MOST 64
#define SKIPPED    77 /* what Automake takes it for: there is no corpus */

/* Not assert(), which NDEBUG removes. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void require_sentence(const char *message, size_t size)
{
    size_t length = strnlen(message, size);

    REQUIRE(length < size);
    REQUIRE(length > 0 || size == 1);
    for (size_t i = 0; i < length; i++)
        REQUIRE(message[i] >= ' ' && message[i] < 0x7f);
}

static void require_bounds(const npy_header *header)
{
    /* A header that is refused is zero, and has no type. */
    const int64_t limit = PTRDIFF_MAX / (int64_t)(header->type ? type_bytes(header->type) : 1);
    const int64_t batch = header->batch > 0 ? header->batch : 1;
    const int64_t rows = header->rows > 0 ? header->rows : 1;

    REQUIRE(header->batch >= 0 && header->rows >= 0 && header->columns >= 0);
    REQUIRE(batch <= limit && rows <= limit / batch && header->columns <= limit / batch / rows);
}

/* The text and the message are of the exact size, so that a sanitizer sees a step beyond. */
static int parse_text(const unsigned char *bytes, size_t size, size_t message_size)
{
    char *text = malloc(size > 0 ? size : 1), *message = malloc(message_size);
    npy_header header;
    int result;

    REQUIRE(text != NULL && message != NULL);
    memcpy(text, bytes, size);
    memset(message, 0x7f, message_size);
    memset(&header, 0x7f, sizeof(header));
    result = npy_parse_dict(text, size, (unsigned)size % 4, &header, message, message_size);
    REQUIRE(result == 0 || result == -1);
    require_bounds(&header);
    if (result == 0)
        REQUIRE(message[0] == '\0' && header.data_offset == 0);
    else
        require_sentence(message, message_size);
    free(text);
    free(message);
    return result;
}

#ifdef XGEMM_LIBFUZZER

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    parse_text(data, size, 256);
    return 0;
}

#else

#define ENTRY(bytes)                                                                               \
    {                                                                                              \
        bytes, sizeof(bytes) - 1                                                                   \
    }

static const struct {
    const char *bytes;
    size_t size;
} CORPUS[] = {
    ENTRY("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n"),
    ENTRY("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 7), }\n"),
    ENTRY("{\"shape\":(2,2,),\"fortran_order\":True,\"descr\":\"=f4\"}\n"),
    ENTRY("{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 4L), }\n"),
    ENTRY(" {\n'fortran_order'\t: False,\r\n'shape' : ( 1 , 1 ) , 'descr' : '<f4' }  \n\n"),
    ENTRY("{'descr': '<f4', 'fortran_order': False, 'shape': (2305843009213693951, 1), }\n"),
    ENTRY("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 2), }\n"),
    ENTRY("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n"),
    ENTRY("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 99999999999999999999), }\n"),
    ENTRY("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 4), }\n"),
    ENTRY("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3, 4), }\n"),
    ENTRY("{'descr': [('x', '<f4'), ('y', '<i8', (2,))], 'fortran_order': True, 'shape': (9,)}\n"),
    ENTRY("{'descr': [[[[[[[[((((((((((\n"),
    ENTRY("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3, 4, 5, 6, 7, 8), }\n"),
    ENTRY("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n"),
    ENTRY("{'descr': '<f4', 'descr': '<f4', 'unknown\x00\x1b\xff': None}\n"),
    ENTRY("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3, 4), }\n"),
    ENTRY("{'descr': '>f2', 'fortran_order': False, 'shape': (3, 1, 7), }\n"),
    ENTRY("{'descr': '<V2', 'fortran_order': False, 'shape': (3, 4), }\n"),
    ENTRY("{'descr': 'bfloat16', 'fortran_order': False, 'shape': (5,), }\n"),
    ENTRY("{'descr': '<c8', 'fortran_order': True, 'shape': (3, 4), }\n"),
    ENTRY("{'descr': '>c16', 'fortran_order': False, 'shape': (1, 576460752303423487), }\n"),
    ENTRY("{}\n"),
    ENTRY("\n"),
    ENTRY(""),
};

static const char *const NUMBERS[] = {
    "0",
    "1",
    "-1",
    "-0",
    "2147483648",
    "4294967296",
    "2305843009213693951",
    "2305843009213693952",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "3L",
    "1e9",
    "0x10",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct sample {
    unsigned char bytes[TEXT_LIMIT];
    size_t size;
};

static uint64_t generator_state;

/* Below the bound, which is not 0. */
static size_t pick(size_t bound)
{
    generator_state ^= generator_state << 13;
    generator_state ^= generator_state >> 7;
    generator_state ^= generator_state << 17;
    return (size_t)((generator_state * 0x9e3779b97f4a7c15u) >> 32) % bound;
}

/* Whole files, from which samples come instead while there are some; see load_files(). */
static struct sample files[FILES_MOST];
static size_t file_count;
static bool from_files;

static void load_sample(struct sample *sample)
{
    size_t chosen = pick(from_files ? file_count : COUNT(CORPUS));

    if (from_files) {
        *sample = files[chosen];
        return;
    }

    sample->size = CORPUS[chosen].size;
    memcpy(sample->bytes, CORPUS[chosen].bytes, sample->size);
}

/* Puts the bytes in the place of those from begin to end, as far as there is room. */
static void replace(struct sample *sample, size_t begin, size_t end, const void *bytes, size_t size)
{
    size_t tail = sample->size - end;

    if (begin + size + tail > TEXT_LIMIT)
        return;
    memmove(sample->bytes + begin + size, sample->bytes + end, tail);
    memcpy(sample->bytes + begin, bytes, size);
    sample->size = begin + size + tail;
}

static void flip_bit(struct sample *sample)
{
    if (sample->size > 0)
        sample->bytes[pick(sample->size)] ^= (unsigned char)(1 << pick(8));
}

static void set_byte(struct sample *sample)
{
    static const char likely[] = "{}()[]'\",:\\ \n-0LTF<>|=";

    if (sample->size > 0)
        sample->bytes[pick(sample->size)] = (unsigned char)likely[pick(sizeof(likely))];
}

static void truncate_sample(struct sample *sample)
{
    sample->size = pick(sample->size + 1);
    /* As files have it. */
    if (sample->size > 0 && pick(4) != 0)
        sample->bytes[sample->size - 1] = '\n';
}

static void remove_bytes(struct sample *sample)
{
    size_t begin = pick(sample->size + 1);

    replace(sample, begin, begin + pick(sample->size - begin + 1), "", 0);
}

static void splice(struct sample *sample)
{
    struct sample other;
    size_t begin, end, at;

    load_sample(&other);
    begin = pick(other.size + 1);
    end = begin + pick(other.size - begin + 1);
    at = pick(sample->size + 1);
    replace(sample, at, at + pick(sample->size - at + 1), other.bytes + begin, end - begin);
}

static void swap_number(struct sample *sample)
{
    const char *number = NUMBERS[pick(COUNT(NUMBERS))];
    size_t begin = pick(sample->size + 1), end;

    while (begin < sample->size && (sample->bytes[begin] < '0' || sample->bytes[begin] > '9'))
        begin++;
    for (end = begin; end < sample->size && sample->bytes[end] >= '0' && sample->bytes[end] <= '9';
         end++)
        ;
    if (end > begin)
        replace(sample, begin, end, number, strlen(number));
}

static void mutate(struct sample *sample)
{
    static void (*const mutations[])(struct sample *) = {
        flip_bit, set_byte, truncate_sample, remove_bytes, splice, swap_number, swap_number,
    };

    for (size_t count = pick(4); count > 0; count--)
        mutations[pick(COUNT(mutations))](sample);
}

/* ---- Files ---- */

static char folder[512];

static void make_folder(void)
{
    const char *parent = getenv("TMPDIR");

    if (parent == NULL || parent[0] == '\0')
        parent = "/tmp";
    snprintf(folder, sizeof(folder), "%s/xgemm-npy-fuzz-XXXXXX", parent);
    REQUIRE(mkdtemp(folder) != NULL);
    REQUIRE(chdir(folder) == 0);
}

static void remove_folder(void)
{
    remove("in.npy");
    remove("out.npy");
    REQUIRE(chdir("/") == 0);
    REQUIRE(rmdir(folder) == 0);
}

/* The size that the header asks for, if it is valid and small, else any. */
static size_t data_size(const struct sample *sample, size_t limit)
{
    npy_header header;
    size_t room = limit;

    if (npy_parse_dict((const char *)sample->bytes, sample->size, NPY_CAST, &header, NULL, 0) != 0)
        return pick(limit + 1);
    room /= type_bytes(header.type);
    const size_t count = (size_t)(header.batch * header.rows * header.columns);
    return count <= room ? count * (limit / room) : pick(limit + 1);
}

static void write_sample_file(const struct sample *sample)
{
    enum { DATA_LIMIT = 256 };
    unsigned char bytes[12 + TEXT_LIMIT + DATA_LIMIT] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    size_t offset = pick(2) == 0 ? 10 : 12, size;
    size_t claimed = pick(8) == 0 ? pick((size_t)1 << 22) : sample->size;
    FILE *file = fopen("in.npy", "wb");

    REQUIRE(file != NULL);
    bytes[6] = (unsigned char)(offset == 10 ? 1 : 2 + pick(2));
    for (size_t i = 8; i < offset; i++)
        bytes[i] = (unsigned char)(claimed >> 8 * (i - 8));
    memcpy(bytes + offset, sample->bytes, sample->size);
    size = offset + sample->size + data_size(sample, DATA_LIMIT);
    if (pick(8) == 0)
        bytes[pick(size)] ^= (unsigned char)(1 << pick(8));
    if (pick(8) == 0)
        size = pick(size + 1);
    REQUIRE(fwrite(bytes, 1, size, file) == size);
    REQUIRE(fclose(file) == 0);
}

/* What was read is written, read again and the same. */
static void repeat_matrix(const npy_matrix *matrix)
{
    size_t size =
        (size_t)(npy_count(matrix) * matrix->rows * matrix->columns) * type_bytes(matrix->type);
    char message[256];
    npy_matrix again;

    REQUIRE(npy_write("out.npy", matrix, message, sizeof(message)) == 0);
    REQUIRE(npy_read("out.npy", &again, message, sizeof(message)) == 0);
    REQUIRE(again.rows == matrix->rows && again.columns == matrix->columns);
    REQUIRE(again.is_batch == matrix->is_batch && again.batch == matrix->batch);
    REQUIRE(again.fortran_order == matrix->fortran_order && again.type == matrix->type);
    REQUIRE(memcmp(again.data, matrix->data, size) == 0);
    npy_free(&again);
}

static int read_sample_file(const struct sample *sample)
{
    char message[256], header_message[256];
    npy_matrix matrix;
    npy_header header;
    int result;

    write_sample_file(sample);
    const unsigned taken = (unsigned)pick(4);
    result = npy_read_as("in.npy", taken, &matrix, message, sizeof(message));
    npy_input *input = npy_open("in.npy", taken, &header, header_message, sizeof(header_message));
    /* What NPY_CAST reads as floats may not be complex. */
    const bool has_parts = input && (taken & NPY_CAST) && type_is_complex(header.type);
    REQUIRE((input && !has_parts ? 0 : -1) == result);
    npy_close(input);
    REQUIRE(has_parts || strcmp(message, header_message) == 0);
    require_bounds(&header);
    REQUIRE(has_parts || (matrix.rows == header.rows && matrix.columns == header.columns));
    if (result == 0) {
        REQUIRE(matrix.data != NULL);
        repeat_matrix(&matrix);
    } else {
        REQUIRE(matrix.data == NULL);
        require_sentence(message, sizeof(message));
    }
    npy_free(&matrix);
    return result;
}

/* ---- Whole files ---- */

/* Those of tests/unit/corpus: each format and each way in which it is written. */
static void load_files(void)
{
    const char *top = getenv("srcdir");
    char path[1024];
    struct dirent *entry;

    snprintf(path, sizeof(path), "%s/tests/unit/corpus", top != NULL ? top : ".");
    DIR *directory = opendir(path);
    while (directory != NULL && (entry = readdir(directory)) != NULL && file_count < FILES_MOST) {
        struct sample *to = &files[file_count];

        snprintf(path, sizeof(path), "%s/tests/unit/corpus/%s", top != NULL ? top : ".",
                 entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (file == NULL)
            continue;
        to->size = fread(to->bytes, 1, sizeof(to->bytes), file);
        file_count++;
        fclose(file);
    }
    if (directory != NULL)
        closedir(directory);
}

/* What a caller does: it looks at the sizes before it lets the data be read. */
static int read_whole_file(const struct sample *sample)
{
    const int64_t most = 1 << 16;
    char message[256];
    npy_matrix matrix = {0};
    npy_header header;
    FILE *file = fopen("in.npy", "wb");

    REQUIRE(file != NULL);
    REQUIRE(fwrite(sample->bytes, 1, sample->size, file) == sample->size);
    REQUIRE(fclose(file) == 0);
    npy_input *input = npy_open("in.npy", NPY_CAST, &header, message, sizeof(message));
    require_bounds(&header);
    int result = input != NULL ? 0 : -1;
    if (input != NULL && header.batch <= most && header.rows <= most && header.columns <= most &&
        header.batch * header.rows * header.columns <= most)
        result =
            npy_load(input, (xgemm_type)(1 + pick(XGEMM_C64)), &matrix, message, sizeof(message));
    if (result != 0)
        require_sentence(message, sizeof(message));
    else if (matrix.data != NULL)
        repeat_matrix(&matrix);
    npy_close(input);
    npy_free(&matrix);
    return result;
}

static unsigned long number_argument(const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (end == text || *end != '\0') {
        fprintf(stderr, "usage: npy_fuzz [ITERATIONS [SEED]]\n");
        exit(EXIT_FAILURE);
    }
    return number;
}

int main(int argument_count, char **arguments)
{
    unsigned long iterations = argument_count > 1 ? number_argument(arguments[1]) : 20000;
    unsigned long seed = argument_count > 2 ? number_argument(arguments[2]) : 1;
    unsigned long parsed = 0, read = 0, whole = 0;
    struct sample sample;

    /* A state of 0 would stay 0. */
    generator_state = seed * 2 + 1;
    load_files();
    make_folder();
    for (unsigned long i = 0; i < iterations; i++) {
        load_sample(&sample);
        mutate(&sample);
        parsed += parse_text(sample.bytes, sample.size, pick(8) == 0 ? 1 + pick(64) : 512) == 0;
        if (i % 100 == 0)
            read += read_sample_file(&sample) == 0;
        from_files = file_count > 0 && i % 5 == 0;
        if (from_files) {
            load_sample(&sample);
            mutate(&sample);
            whole += read_whole_file(&sample) == 0;
        }
        from_files = false;
    }
    remove_folder();
    printf(
        "%lu headers, of which %lu were taken; %lu files were taken; of %zu files of the corpus, "
        "changed, %lu\n",
        iterations, parsed, read, file_count, whole);
    return file_count > 0 ? EXIT_SUCCESS : SKIPPED;
}

#endif
