/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    npy.h
 * \brief   Matrices in NumPy's .npy and .npz files and in Matrix Market's .mtx files.
 *
 * What a file is, its first bytes say, not its name. Taken are
 *
 *  - .npy: versions 1.0, 2.0 and 3.0 of the format, dtype '<f2', '<f4', '<f8', '<c8', '<c16', and
 *    '<V2', '|V2' or 'bfloat16' for bfloat16 (ml_dtypes writes the first); the others also with
 * '=',
 *    '|' or no byte order, and with NPY_CAST big-endian; two dimensions, or three for a batch of
 *    matrices, with NPY_VECTOR also one; either order, as NumPy reads them;
 *  - .npz: one of its members, stored or deflated, which is a .npy file: "A.npz:name". It has to be
 *    a file, since its directory is at its end;
 *  - .mtx: array and coordinate, real, complex, integer and pattern, general, symmetric,
 *    skew-symmetric and hermitian; entries that repeat a place are added up. Its decimal numbers
 *    have no type: they are rounded to the one that npy_load() is asked for.
 *
 * All else is refused with a sentence. A file is taken for hostile: what is allocated is bounded by
 * the length of the file, except where npy_open() says so, and bytes of the file that a sentence
 * shows are escaped (\xNN).
 *
 * Errors, for the whole header: a function returns 0 (or a pointer), or -1 (NULL) with one sentence
 * without a newline in message. message is NUL-terminated always (unless message_size is 0, when it
 * may be NULL), "" on success; a sentence that does not fit ends in "...". 512 bytes and the length
 * of the path hold any sentence. The functions keep no state.
 */
#ifndef XGEMM_BIN_NPY_H
#define XGEMM_BIN_NPY_H

#include <xgemm.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** \brief A matrix in host memory, or a batch of them. */
typedef struct {
    int64_t rows, columns;
    bool fortran_order; /**< true: columns are contiguous; false: rows are. */
    xgemm_type type;    /**< Of the elements. */
    void *data;         /**< The matrices, one after another; owned by the struct. */
    bool is_batch;      /**< Three dimensions in the file; false: two. */
    int64_t batch;      /**< The matrices of a batch; else without meaning. */
} npy_matrix;

/** \brief What the header of a file says. */
typedef struct {
    int64_t rows, columns; /**< Both at least 0; see npy_parse_dict(). */
    bool fortran_order;    /**< As in the file, even where both orders are equal. */
    size_t data_offset;    /**< Where the data begins, in bytes from the file's beginning. */
    bool is_batch;         /**< Three dimensions. */
    int64_t batch;         /**< The first of three dimensions, at least 0; else 1. */
    xgemm_type type;       /**< Of the elements; of text XGEMM_F32 or XGEMM_C32, see there. */
    bool big_endian;
    bool is_text;   /**< Matrix Market: numbers of any type, but real or complex ones. */
    bool is_vector; /**< One dimension, which is columns. */
} npy_header;

/** \brief What else is taken; bits. */
enum {
    NPY_CAST = 1,  /**< Big-endian numbers. */
    NPY_VECTOR = 2 /**< One dimension: a matrix of one row. */
};

/** \brief A file that is open, of which the header was read. */
typedef struct npy_input npy_input;

/**
 * \brief   Opens a file and reads its header, not its data.
 *
 * Lets the caller see whether there is memory enough before npy_load(), which reads on where this
 * function ended: a file that is replaced in between stays the one that was opened. A regular file,
 * or a member of a .npz file, must be exactly as long as its header says.
 *
 * What a pipe, a deflated member or a .mtx file with coordinates says of its size is not checked
 * against any length here.
 *
 * \param   path          The file; symbolic links are followed. "-": the standard input. A pipe is
 *                        waited for until somebody writes to it.
 * \param   taken         A sum of the above.
 * \param   header        Out; zeroed on failure.
 * \param   message       Out: the sentence, which begins with path.
 * \param   message_size  Size of message in bytes.
 * \return  The input, for npy_close(), or NULL: the file cannot be opened or read, is neither a
 *          regular file nor a pipe, none of the formats, of an unknown version, has a header that
 *          npy_parse_dict() refuses or that is longer than 1 MiB, or is shorter or longer than the
 *          header says.
 */
npy_input *npy_open(const char *path, unsigned taken, npy_header *header, char *message,
                    size_t message_size);

/**
 * \brief   Reads the data of an open file, once.
 *
 * \param   input         From npy_open().
 * \param   type          What the elements are converted to, rounded to nearest; what is too large
 *                        becomes infinite. Real numbers can become complex ones, not the reverse.
 * \param   matrix        Out. Its data is aligned to 64 bytes, never NULL (even without elements),
 *                        and the caller's to free with npy_free(). Zeroed on failure. What it held
 *                        before is not freed. A batch in Fortran order, whose matrices are
 *                        interleaved in the file, is stored anew as matrices in Fortran order.
 * \param   message       Out: the sentence, which begins with the path.
 * \param   message_size  Size of message in bytes.
 * \return  0, or -1: the type is real and the elements are not, the file cannot be read, ended
 * before its data did, as where it was cut while it was read, goes on after its data, is damaged,
 * or memory is short.
 */
int npy_load(npy_input *input, xgemm_type type, npy_matrix *matrix, char *message,
             size_t message_size);

/** \brief  Closes the file; NULL is fine. */
void npy_close(npy_input *input);

/**
 * \brief   Frees the data of a matrix and zeroes the struct.
 *
 * \param   matrix  From npy_load(), or zeroed, or with data from malloc(). Not NULL.
 */
void npy_free(npy_matrix *matrix);

/**
 * \brief   Writes a matrix to a file, whole or not at all.
 *
 * Writes a temporary file (.xgemm-XXXXXX) in the folder of path, flushes it to
 * the disk (fsync) and renames it over path. A file system may refuse the mode,
 * or be unable to flush. On failure the temporary file is
 * removed, and path is as it was. A new file has the mode 0666 less the umask;
 * a file that is replaced keeps its permission bits, but not its owner, and is
 * replaced even where it is read-only. Where path is a symbolic link, the file it leads to is
 * replaced, or made where it is not there, and the link stays. Pipes, character devices and "-",
 * the standard output, are written to as they are; so is a file that the system lets nobody replace
 * (a mount point, another user's file in a folder as /tmp, a folder that is write-protected or
 * append-only), which a failure leaves cut. What else is not a regular file is never replaced.
 *
 * Signals end the process as ever, and the temporary file is removed; a caller
 * that ignores SIGXFSZ (RLIMIT_FSIZE), or handles it, gets a sentence where the
 * limit is reached. To read the umask, it is set
 * to 077 for a moment.
 *
 * \param   path          The file.
 * \param   matrix        rows, columns and batch at least 0; data may be NULL where
 *                        there are no elements. A batch in Fortran order takes memory for its
 *                        elements once more.
 * \param   message       Out: the sentence, which begins with path.
 * \param   message_size  Size of message in bytes.
 * \return  0, or -1: the matrix is not valid, path is a folder, a socket or a block device or a
 *          link that leads to itself, or a call of the system failed.
 */
int npy_write(const char *path, const npy_matrix *matrix, char *message, size_t message_size);

/**
 * \brief   Whether npy_write() could begin, and there is room: makes the temporary
 *          file, as large as it will be, and removes it.
 *
 * \param   matrix  Of which the data are not looked at.
 * \return  0, or -1: as npy_write().
 */
int npy_check_writable(const char *path, const npy_matrix *matrix, char *message,
                       size_t message_size);

/**
 * \brief   The elements of a matrix of rows x columns in row order, in column order.
 *
 * \param   bytes  Of an element.
 * \return  For free(); NULL when memory is short.
 */
void *npy_transpose(const void *data, size_t bytes, int64_t rows, int64_t columns);

/** \brief  The matrices: a batch's, or 1. */
int64_t npy_count(const npy_matrix *matrix);

/**
 * \brief   Parses the text of a header: the Python dict that follows the magic,
 *          the version and the length, with the padding and the newline, if any.
 *
 * On success batch, rows and columns are at least 0, and the size of the data in bytes
 * fits ptrdiff_t, with a dimension of 0 counted as 1 (as NumPy does).
 *
 * \param   text          The text; need not be NUL-terminated.
 * \param   length        Length of text in bytes.
 * \param   taken         A sum of the above.
 * \param   header        Out; data_offset is 0. Zeroed on failure.
 * \param   message       Out: the sentence, which here names no path.
 * \param   message_size  Size of message in bytes.
 * \return  0, or -1: not such a dict, a key that is missing,
 *          repeated or unknown, another dtype, neither two nor three dimensions, or a
 *          dimension that is negative or too large.
 */
int npy_parse_dict(const char *text, size_t length, unsigned taken, npy_header *header,
                   char *message, size_t message_size);

#endif
