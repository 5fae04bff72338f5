/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of .npz files. */
#include "npy_support.h"

#include <string.h>
#include <sys/wait.h>

#ifdef HAVE_ZLIB

#include <zlib.h>

/* A ZIP archive as it is written: its bytes, and those of its directory. */
struct archive {
    unsigned char bytes[4096], directory[1024];
    size_t size, directory_size;
    unsigned count;
};

static void put(unsigned char *to, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static size_t deflated(const unsigned char *bytes, size_t size, unsigned char *to, size_t room)
{
    z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = (uInt)size};

    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static void add_member(struct archive *to, const char *name, const unsigned char *bytes,
                       size_t size, bool deflate)
{
    const size_t name_size = strlen(name), offset = to->size;
    unsigned char *local = to->bytes + offset, *entry = to->directory + to->directory_size;
    unsigned char *data = local + 30 + name_size;
    size_t packed = size;

    if (deflate)
        packed = deflated(bytes, size, data, 1024);
    else
        memcpy(data, bytes, size);
    put(local, 0x04034b50, 4);
    put(local + 26, name_size, 2);
    memcpy(local + 30, name, name_size);
    put(entry, 0x02014b50, 4);
    put(entry + 10, deflate ? 8 : 0, 2);
    put(entry + 16, crc32(0, bytes, (uInt)size), 4);
    put(entry + 20, packed, 4);
    put(entry + 24, size, 4);
    put(entry + 28, name_size, 2);
    put(entry + 42, offset, 4);
    memcpy(entry + 46, name, name_size);
    to->size += 30 + name_size + packed;
    to->directory_size += 46 + name_size;
    to->count++;
}

static void end_archive(struct archive *to)
{
    unsigned char *end = to->bytes + to->size + to->directory_size;

    memcpy(to->bytes + to->size, to->directory, to->directory_size);
    put(end, 0x06054b50, 4);
    put(end + 10, to->count, 2);
    put(end + 12, to->directory_size, 4);
    put(end + 16, to->size, 4);
    to->size += to->directory_size + 22;
}

/* Of one or two members, x and y, which is twice as long; x begins at byte 35. */
static struct archive make_archive(unsigned members, bool deflate)
{
    struct archive made = {.size = 0};
    unsigned char bytes[512];
    size_t size;

    write_npy_file(in_folder("x.npy"), 1, TEXT(DICT34), 48);
    size = read_file(in_folder("x.npy"), bytes, sizeof(bytes));
    add_member(&made, "x.npy", bytes, size, deflate);
    if (members == 2) {
        write_npy_file(in_folder("y.npy"), 2, WITH_SHAPE("(6, 4)"), 96);
        size = read_file(in_folder("y.npy"), bytes, sizeof(bytes));
        add_member(&made, "y.npy", bytes, size, !deflate);
    }
    end_archive(&made);
    return made;
}

static void write_archive(const struct archive *of)
{
    write_file(in_folder("a.npz"), of->bytes, of->size);
}

static const struct {
    unsigned members;
    const char *path, *sentence; /* NULL: taken */
    int64_t rows;
} MEMBERS[] = {
    {1, "a.npz", NULL, 3},
    {1, "a.npz:x", NULL, 3},
    {2, "a.npz:x.npy", NULL, 3},
    {2, "a.npz:y", NULL, 6},
    {2, "a.npz", "which of its members? There are x.npy, y.npy; one is named by FILE.npz:NAME", 0},
    {2, "a.npz:z", "there is no such member; there are x.npy, y.npy", 0},
    {1, "a.npz:", "there is no such member; there is x.npy", 0},
    {0, "a.npz:x", "the archive is empty", 0},
    {0, "a.npz", "the archive is empty", 0},
};

START_TEST(reads_members)
{
    struct archive archive = {.size = 0};
    npy_matrix matrix;

    if (MEMBERS[_i / 2].members > 0)
        archive = make_archive(MEMBERS[_i / 2].members, _i % 2 != 0);
    else
        end_archive(&archive);
    write_archive(&archive);
    const int result = npy_read(in_folder(MEMBERS[_i / 2].path), &matrix, message, sizeof(message));
    if (MEMBERS[_i / 2].sentence) {
        ck_assert_int_eq(result, -1);
        assert_sentence(message, MEMBERS[_i / 2].sentence);
        return;
    }
    ck_assert_msg(result == 0, "%s", message);
    ck_assert_int_eq(matrix.rows, MEMBERS[_i / 2].rows);
    ck_assert_float_eq(floats(&matrix)[11], 11.0f);
    npy_free(&matrix);
}
END_TEST

/* Whatever byte is another, the matrix is the same or there is none; so for a cut archive. */
START_TEST(refuses_damaged_archives)
{
    const struct archive whole = make_archive(1, _i != 0);
    npy_matrix matrix;
    int refused = 0;

    for (size_t at = 0; at < 2 * whole.size; at++) {
        struct archive damaged = whole;
        if (at < whole.size)
            damaged.bytes[at] ^= 0x41;
        else
            damaged.size = at - whole.size;
        write_archive(&damaged);
        if (npy_read(in_folder("a.npz:x"), &matrix, message, sizeof(message)) != 0) {
            assert_sentence(message, "a.npz");
            ck_assert_ptr_null(matrix.data);
            refused++;
            continue;
        }
        ck_assert_int_eq(matrix.rows, 3);
        for (int i = 0; i < 12; i++)
            ck_assert_float_eq(floats(&matrix)[i], (float)i);
        npy_free(&matrix);
    }
    ck_assert_int_gt(refused, (int)whole.size);
}
END_TEST

START_TEST(checks_sum_of_member)
{
    struct archive archive = make_archive(1, false);
    npy_matrix matrix;

    archive.bytes[35 + 70 + 4]++; /* of the data */
    write_archive(&archive);
    ck_assert_int_eq(npy_read(in_folder("a.npz"), &matrix, message, sizeof(message)), -1);
    assert_sentence(message, "the archive is damaged: its checksum is another");
}
END_TEST

START_TEST(needs_file_for_archive)
{
    const struct archive archive = make_archive(1, false);
    npy_header header;

    write_archive(&archive);
    const pid_t child = feed(in_folder("pipe"), in_folder("a.npz"), 4096);
    ck_assert_int_eq(npy_read_header(in_folder("pipe"), &header, message, sizeof(message)), -1);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    assert_sentence(message, "it has to be a file, and not a pipe");
}
END_TEST

static void add_archive_tests(TCase *cases)
{
    tcase_add_loop_test(cases, reads_members, 0, 2 * COUNT(MEMBERS));
    tcase_add_loop_test(cases, refuses_damaged_archives, 0, 2);
    tcase_add_test(cases, checks_sum_of_member);
    tcase_add_test(cases, needs_file_for_archive);
}

#else

START_TEST(refuses_archives)
{
    write_file(in_folder("a.npz"), TEXT("PK\x03\x04 and so on"));
    assert_refused(in_folder("a.npz"), "built without zlib");
}
END_TEST

static void add_archive_tests(TCase *cases)
{
    tcase_add_test(cases, refuses_archives);
}

#endif

START_TEST(member_of_no_archive)
{
    npy_header header;

    write_npy_file(in_folder("a.npz"), 1, TEXT(DICT34), 48);
    ck_assert_int_eq(npy_read_header(in_folder("a.npz:x"), &header, message, sizeof(message)), -1);
    assert_sentence(message, "is no archive (.npz), of which a member could be read");
    /* A file may be called so. */
    write_npy_file(in_folder("a.npz:x"), 1, TEXT(DICT34), 48);
    ck_assert_int_eq(npy_read_header(in_folder("a.npz:x"), &header, message, sizeof(message)), 0);
}
END_TEST

void add_archive_cases(Suite *suite)
{
    TCase *cases = add_case(suite, "archives");

    tcase_add_test(cases, member_of_no_archive);
    add_archive_tests(cases);
}
