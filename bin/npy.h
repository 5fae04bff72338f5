/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    npy.h
 * \brief   Matrices of 32-bit floats in NumPy's .npy files.
 *
 * Taken: versions 1.0, 2.0 and 3.0 of the format, dtype '<f4' (or '=f4', '|f4',
 * 'f4'), two dimensions, either order, as NumPy reads them. All else is refused
 * with a sentence. A file is taken for hostile: what is allocated is bounded by
 * the length of the file, and bytes of the file that a sentence shows are escaped
 * (\xNN).
 *
 * Errors, for the whole header: a function returns 0, or -1 with one sentence
 * without a newline in message. message is NUL-terminated always (unless
 * message_size is 0, when it may be NULL), "" on success; a sentence that does
 * not fit ends in "...". 512 bytes and the length of the path hold any
 * sentence. The functions keep no state.
 */
#ifndef XGEMM_BIN_NPY_H
#define XGEMM_BIN_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** \brief A matrix in host memory. */
typedef struct {
    int64_t rows, columns;
    bool fortran_order; /**< true: columns are contiguous; false: rows are. */
    float *data;        /**< rows*columns elements; owned by the struct. */
} npy_matrix;

/** \brief What the header of a file says. */
typedef struct {
    int64_t rows, columns; /**< Both at least 0; see npy_parse_dict(). */
    bool fortran_order;    /**< As in the file, even where both orders are equal. */
    size_t data_offset;    /**< Where the data begins, in bytes from the file's beginning. */
} npy_header;

/**
 * \brief   Reads the header of a file, not its data.
 *
 * Lets the caller see whether there is memory enough before npy_read(). The
 * file must be a regular file, and exactly as long as its header says.
 *
 * \param   path          The file; symbolic links are followed.
 * \param   header        Out; zeroed on failure.
 * \param   message       Out: the sentence, which begins with path.
 * \param   message_size  Size of message in bytes.
 * \return  0, or -1: the file cannot be opened or read, is not a regular file,
 *          not a .npy file, of an unknown version, has a header that
 *          npy_parse_dict() refuses or that is longer than 1 MiB, or is
 *          shorter or longer than the header says.
 */
int npy_read_header(const char *path, npy_header *header, char *message, size_t message_size);

/**
 * \brief   Reads a matrix from a file.
 *
 * \param   path          The file; symbolic links are followed.
 * \param   matrix        Out. Its data is aligned to 64 bytes, never NULL (even
 *                        without elements), and the caller's to free with
 *                        npy_free(). Zeroed on failure. What it held before is
 *                        not freed.
 * \param   message       Out: the sentence, which begins with path.
 * \param   message_size  Size of message in bytes.
 * \return  0, or -1: as npy_read_header(), or memory is short.
 */
int npy_read(const char *path, npy_matrix *matrix, char *message, size_t message_size);

/**
 * \brief   Frees the data of a matrix and zeroes the struct.
 *
 * \param   matrix  From npy_read(), or zeroed, or with data from malloc(). Not NULL.
 */
void npy_free(npy_matrix *matrix);

/**
 * \brief   Writes a matrix to a file, whole or not at all.
 *
 * Writes a temporary file (.xgemm-XXXXXX) in the folder of path, flushes it to
 * the disk (fsync) and renames it over path. File systems without permission
 * bits may refuse the mode. On failure the temporary file is
 * removed, and path is as it was. A new file has the mode 0666 less the umask;
 * a file that is replaced keeps its permission bits, but not its owner, and is
 * replaced even where it is read-only. Where path is a symbolic link, the file
 * it leads to is replaced, and the link stays. What is not a regular file
 * (a folder, a device, a pipe) is never replaced.
 *
 * SIGHUP, SIGINT, SIGTERM and SIGXFSZ (RLIMIT_FSIZE) end the process as ever,
 * and the temporary file is removed; a caller that ignores them, or handles
 * them, gets a sentence where the limit is reached. To read the umask, it is set
 * to 077 for a moment.
 *
 * \param   path          The file.
 * \param   matrix        rows and columns at least 0; data may be NULL where
 *                        there are no elements.
 * \param   message       Out: the sentence, which begins with path.
 * \param   message_size  Size of message in bytes.
 * \return  0, or -1: the matrix is not valid, path is not a regular file or a
 *          link that leads nowhere, or a call of the system failed.
 */
int npy_write(const char *path, const npy_matrix *matrix, char *message, size_t message_size);

/**
 * \brief   Whether npy_write() could begin: makes the temporary file, and
 *          removes it.
 *
 * \return  0, or -1: as npy_write().
 */
int npy_check_writable(const char *path, char *message, size_t message_size);

/**
 * \brief   Parses the text of a header: the Python dict that follows the magic,
 *          the version and the length, with the padding and the newline, if any.
 *
 * On success rows and columns are at least 0, and the size of the data in bytes
 * fits ptrdiff_t, with a dimension of 0 counted as 1 (as NumPy does).
 *
 * \param   text          The text; need not be NUL-terminated.
 * \param   length        Length of text in bytes.
 * \param   header        Out; data_offset is 0. Zeroed on failure.
 * \param   message       Out: the sentence, which here names no path.
 * \param   message_size  Size of message in bytes.
 * \return  0, or -1: not such a dict, a key that is missing,
 *          repeated or unknown, another dtype, not two dimensions, or a
 *          dimension that is negative or too large.
 */
int npy_parse_dict(const char *text, size_t length, npy_header *header, char *message,
                   size_t message_size);

#endif
