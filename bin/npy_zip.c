/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member of a .npz file, which is a ZIP archive: found by the directory at the archive's end,
 * read by way of zlib.
 */
#include "npy_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *npy_member_name(const char *path)
{
    static const char mark[] = ".npz:";
    struct stat status;
    const char *at = strstr(path, mark);
    /* A file may well be called so. */
    return at && stat(path, &status) != 0 ? at + sizeof mark - 1 : NULL;
}

#ifndef HAVE_ZLIB

int npy_member_open(const npy_report *report, npy_source *source, const char *name)
{
    (void)source;
    (void)name;
    return npy_refuse(report, "is an archive (.npz), for which this xgemm was built without zlib");
}

int npy_member_read(const npy_report *report, npy_source *source, void *bytes, size_t size,
                    size_t *found)
{
    (void)source;
    (void)bytes;
    (void)size;
    *found = 0;
    return npy_refuse(report, "is an archive");
}

int npy_member_check(const npy_report *report, const npy_source *source)
{
    (void)report;
    (void)source;
    return 0;
}

void npy_member_close(npy_member *member)
{
    (void)member;
}

#else

#include <zlib.h>

enum {
    STORED = 0,
    DEFLATED = 8,
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    COMMENT_MAX = 65535,
    INPUT_SIZE = 1 << 16
};
#define DIRECTORY_SIZE_LIMIT ((uint64_t)1 << 24)

/* The archive's directory, and how much of it has been looked at. */
typedef struct {
    unsigned char *bytes;
    size_t size, at;
} directory;

/* What the directory says of a member. */
typedef struct {
    const char *name; /* in the directory, without a NUL */
    size_t name_size;
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed, size, offset;
} entry;

struct npy_member {
    z_stream stream;
    bool deflated;
    uint64_t packed_left; /* bytes of the archive that are still to be read */
    uint64_t left;        /* bytes of the member that are still to come */
    uint32_t crc, wanted_crc;
    unsigned char input[INPUT_SIZE];
};

/* ---- The directory ---- */

static uint64_t number_at(const unsigned char *bytes, int size)
{
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

static bool has_signature(const unsigned char *bytes, uint32_t signature)
{
    return number_at(bytes, 4) == signature;
}

static int damaged(const npy_report *report, const char *what)
{
    return npy_refuse(report, "the archive is damaged: %s", what);
}

/* Exactly so many bytes from that place of the file. */
static int read_at(const npy_report *report, int descriptor, void *bytes, size_t size,
                   uint64_t offset)
{
    size_t found = 0;
    while (found < size && offset + found <= INT64_MAX) {
        const ssize_t count =
            pread(descriptor, (char *)bytes + found, size - found, (off_t)(offset + found));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return npy_refuse(report, "cannot be read: %s", strerror(errno));
        if (count == 0)
            break;
        found += (size_t)count;
    }
    return found == size ? 0 : damaged(report, "it ends too soon");
}

/* Archives of more than 4 GiB say in a second record where their directory is. */
static int find_directory_64(const npy_report *report, int descriptor, uint64_t end,
                             uint64_t *offset, uint64_t *size)
{
    unsigned char locator[LOCATOR_SIZE], record[END64_SIZE];
    if (end < LOCATOR_SIZE)
        return damaged(report, "its directory is missing");
    if (read_at(report, descriptor, locator, LOCATOR_SIZE, end - LOCATOR_SIZE) != 0)
        return -1;
    if (!has_signature(locator, 0x07064b50))
        return damaged(report, "its directory is missing");
    if (read_at(report, descriptor, record, END64_SIZE, number_at(locator + 8, 8)) != 0)
        return -1;
    if (!has_signature(record, 0x06064b50))
        return damaged(report, "its directory is missing");
    *size = number_at(record + 40, 8);
    *offset = number_at(record + 48, 8);
    return 0;
}

static int find_directory(const npy_report *report, const npy_source *source, uint64_t *offset,
                          uint64_t *size)
{
    static unsigned char tail[COMMENT_MAX + END_SIZE];
    const uint64_t length = (uint64_t)source->size;
    const size_t looked_at = length < sizeof tail ? (size_t)length : sizeof tail;
    size_t at;
    if (looked_at < END_SIZE)
        return damaged(report, "it ends too soon");
    if (read_at(report, source->descriptor, tail, looked_at, length - looked_at) != 0)
        return -1;
    for (at = looked_at - END_SIZE; at > 0 && !has_signature(tail + at, 0x06054b50); at--)
        ;
    if (!has_signature(tail + at, 0x06054b50))
        return damaged(report, "its directory is missing");
    *size = number_at(tail + at + 12, 4);
    *offset = number_at(tail + at + 16, 4);
    if (*size == UINT32_MAX || *offset == UINT32_MAX)
        return find_directory_64(report, source->descriptor, length - looked_at + at, offset, size);
    return 0;
}

static int read_directory(const npy_report *report, const npy_source *source, directory *all)
{
    uint64_t offset = 0, size = 0;
    *all = (directory){0};
    if (find_directory(report, source, &offset, &size) != 0)
        return -1;
    if (size > DIRECTORY_SIZE_LIMIT || size > (uint64_t)source->size ||
        offset > (uint64_t)source->size - size)
        return damaged(report, "its directory is not inside it, or over 16 MiB");
    all->bytes = malloc(size > 0 ? size : 1);
    all->size = size;
    if (!all->bytes)
        return npy_refuse(report, "no memory for its directory");
    if (read_at(report, source->descriptor, all->bytes, size, offset) == 0)
        return 0;
    free(all->bytes);
    return -1;
}

/* Sizes that do not fit 32 bits stand in an extra field, in this order. */
static void read_sizes_64(const unsigned char *extra, size_t size, entry *found)
{
    uint64_t *const wide[] = {&found->size, &found->packed, &found->offset};
    while (size >= 4) {
        const size_t tag = number_at(extra, 2), length = number_at(extra + 2, 2);
        if (length > size - 4)
            return;
        for (size_t i = 0, at = 0; tag == 1 && i < sizeof wide / sizeof *wide; i++)
            if (*wide[i] == UINT32_MAX && at + 8 <= length) {
                *wide[i] = number_at(extra + 4 + at, 8);
                at += 8;
            }
        extra += 4 + length;
        size -= 4 + length;
    }
}

/* 1, 0 at the end, or -1. */
static int next_entry(const npy_report *report, directory *all, entry *next)
{
    const unsigned char *at = all->bytes + all->at;
    const size_t left = all->size - all->at;
    if (left == 0)
        return 0;
    if (left < ENTRY_SIZE || !has_signature(at, 0x02014b50))
        return damaged(report, "its directory cannot be read");
    const size_t name = number_at(at + 28, 2), extra = number_at(at + 30, 2);
    const size_t all_of_it = ENTRY_SIZE + name + extra + number_at(at + 32, 2);
    if (all_of_it > left)
        return damaged(report, "its directory cannot be read");
    *next = (entry){.name = (const char *)at + ENTRY_SIZE,
                    .name_size = name,
                    .flags = (unsigned)number_at(at + 8, 2),
                    .method = (unsigned)number_at(at + 10, 2),
                    .crc = (uint32_t)number_at(at + 16, 4),
                    .packed = number_at(at + 20, 4),
                    .size = number_at(at + 24, 4),
                    .offset = number_at(at + 42, 4)};
    read_sizes_64(at + ENTRY_SIZE + name, extra, next);
    all->at += all_of_it;
    return 1;
}

/* NumPy names the array x the member x.npy. */
static bool is_named(const entry *x, const char *name)
{
    static const char suffix[] = ".npy";
    const size_t length = strlen(name), whole = length + sizeof suffix - 1;
    return x->name_size >= length && memcmp(x->name, name, length) == 0 &&
           (x->name_size == length ||
            (x->name_size == whole && memcmp(x->name + length, suffix, sizeof suffix - 1) == 0));
}

static int find_entry(const npy_report *report, directory *all, const char *name, entry *found)
{
    char names[160] = "";
    size_t used = 0, count = 0;
    entry next;
    int more;
    while ((more = next_entry(report, all, &next)) > 0) {
        if (name && is_named(&next, name)) {
            *found = next;
            return 0;
        }
        const npy_shown shown = npy_show(next.name, next.name_size);
        if (used + strlen(shown.text) + 8 < sizeof names) {
            strcpy(names + used, used > 0 ? ", " : "");
            strcat(names + used, shown.text);
            used += strlen(names + used);
        }
        *found = next;
        count++;
    }
    if (more < 0)
        return -1;
    if (!name && count == 1)
        return 0;
    if (count == 0)
        return npy_refuse(report, "the archive is empty");
    return npy_refuse(report,
                      name ? "there is no such member; there %s %s"
                           : "which of its members? There %s %s; one is named by FILE.npz:NAME",
                      count == 1 ? "is" : "are", names);
}

/* ---- The member ---- */

static int go_to_data(const npy_report *report, const npy_source *source, const entry *of)
{
    unsigned char local[LOCAL_SIZE];
    if (read_at(report, source->descriptor, local, LOCAL_SIZE, of->offset) != 0)
        return -1;
    if (!has_signature(local, 0x04034b50))
        return damaged(report, "a member is not where the directory says");
    const uint64_t begin =
        of->offset + LOCAL_SIZE + number_at(local + 26, 2) + number_at(local + 28, 2);
    if (begin > (uint64_t)source->size || of->packed > (uint64_t)source->size - begin)
        return damaged(report, "a member is longer than it");
    if (lseek(source->descriptor, (off_t)begin, SEEK_SET) < 0)
        return npy_refuse(report, "cannot be read: %s", strerror(errno));
    return 0;
}

static int open_entry(const npy_report *report, npy_source *source, const entry *of)
{
    if (of->flags & 1)
        return npy_refuse(report, "the member is encrypted");
    if (of->method != STORED && of->method != DEFLATED)
        return npy_refuse(report,
                          "the member is compressed by method %u; stored and deflated ones "
                          "are taken",
                          of->method);
    if (of->size > INT64_MAX || (of->method == STORED && of->size != of->packed))
        return damaged(report, "a member's size");
    if (go_to_data(report, source, of) != 0)
        return -1;
    npy_member *member = calloc(1, sizeof *member);
    /* Raw deflate, without zlib's header. */
    if (!member || (of->method == DEFLATED && inflateInit2(&member->stream, -MAX_WBITS) != Z_OK)) {
        free(member);
        return npy_refuse(report, "no memory to read an archive");
    }
    member->deflated = of->method == DEFLATED;
    member->packed_left = of->packed;
    member->left = of->size;
    member->wanted_crc = of->crc;
    source->member = member;
    source->size = (int64_t)of->size;
    source->ahead_size = 0;
    return 0;
}

int npy_member_open(const npy_report *report, npy_source *source, const char *name)
{
    directory all;
    entry found = {0};
    if (source->size < 0)
        return npy_refuse(report, "is an archive, whose directory is at its end: it has to be a "
                                  "file, and not a pipe");
    if (read_directory(report, source, &all) != 0)
        return -1;
    int result = find_entry(report, &all, name, &found);
    if (result == 0)
        result = open_entry(report, source, &found);
    free(all.bytes);
    return result;
}

static int refill(const npy_report *report, npy_source *source)
{
    npy_member *m = source->member;
    size_t found, wanted = m->packed_left < INPUT_SIZE ? (size_t)m->packed_left : INPUT_SIZE;
    if (npy_read_descriptor(report, source->descriptor, m->input, wanted, &found) != 0)
        return -1;
    if (found == 0)
        return damaged(report, "it ends too soon");
    m->packed_left -= found;
    m->stream.next_in = m->input;
    m->stream.avail_in = (uInt)found;
    return 0;
}

static int read_deflated(const npy_report *report, npy_source *source, void *bytes, size_t size,
                         size_t *found)
{
    npy_member *m = source->member;
    int state = Z_OK;
    while (*found < size && state != Z_STREAM_END) {
        const size_t chunk = size - *found < NPY_CHUNK_SIZE ? size - *found : NPY_CHUNK_SIZE;
        if (m->stream.avail_in == 0 && refill(report, source) != 0)
            return -1;
        m->stream.next_out = (unsigned char *)bytes + *found;
        m->stream.avail_out = (uInt)chunk;
        state = inflate(&m->stream, Z_NO_FLUSH);
        if (state == Z_MEM_ERROR)
            return npy_refuse(report, "no memory to read an archive");
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
            return damaged(report, "what it compresses");
        *found += chunk - m->stream.avail_out;
    }
    return 0;
}

int npy_member_read(const npy_report *report, npy_source *source, void *bytes, size_t size,
                    size_t *found)
{
    npy_member *m = source->member;
    const size_t wanted = size < m->left ? size : (size_t)m->left;
    *found = 0;
    if ((m->deflated ? read_deflated(report, source, bytes, wanted, found)
                     : npy_read_descriptor(report, source->descriptor, bytes, wanted, found)) != 0)
        return -1;
    m->left -= *found;
    for (size_t at = 0; at < *found; at += NPY_CHUNK_SIZE) {
        const size_t left = *found - at;
        m->crc = (uint32_t)crc32(m->crc, (unsigned char *)bytes + at,
                                 (uInt)(left < NPY_CHUNK_SIZE ? left : NPY_CHUNK_SIZE));
    }
    return 0;
}

int npy_member_check(const npy_report *report, const npy_source *source)
{
    const npy_member *m = source->member;
    return !m || m->crc == m->wanted_crc ? 0 : damaged(report, "its checksum is another");
}

void npy_member_close(npy_member *member)
{
    if (!member)
        return;
    if (member->deflated)
        inflateEnd(&member->stream);
    free(member);
}

#endif
