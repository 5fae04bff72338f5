/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/handle.h
 * \brief   Handles: the device, the stream and the settings of calls.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/handle.h>"
#endif
#ifndef XGEMM_HANDLE_H
#define XGEMM_HANDLE_H

/** \brief How accurate a product must be, and so what may compute it. */
typedef enum {
    /**
     * Tensor cores may compute the product, if its largest componentwise error, |C - C64| /
     * (|alpha||A||B| + |beta||C|), is at most the larger of twice STRICT's for the same data and
     * 2^-20, and its Frobenius error at most the larger of STRICT's and 2^-22; libxgemm(3) says for
     * which data that was tested, and on which it cannot hold. Today they do so from compute
     * capability 8.0 on, for k >= 64, where the cost model predicts that it is faster: each element
     * of A and B is split into two FP16 numbers. Elements of C for which that is not accurate
     * enough (wide exponent ranges in a row, Inf, NaN) are found on the device and recomputed.
     */
    XGEMM_MATH_DEFAULT = 0,
    /** Every product and sum in FP32 on the CUDA cores. */
    XGEMM_MATH_STRICT = 1,
    /**
     * The inputs may be rounded to TF32 (10 bits of mantissa); or to FP16 with a power of two for
     * each row of op(A) and column of op(B), where that is as precise.
     */
    XGEMM_MATH_TF32 = 2
} xgemm_math;

/**
 * \brief   Makes a handle on a device.
 *
 * \param   handle  Receives the handle, or NULL on failure. The caller owns
 *                  it and gives it to xgemm_destroy().
 * \param   device  A CUDA ordinal or an XGEMM_DEVICE_ value.
 *
 * A CUDA handle uses the device's primary context, the one of the CUDA
 * runtime, so that pointers and streams of both meet. $XGEMM_KERNEL, if set,
 * is the handle's first kernel (see xgemm_set_kernel()); $XGEMM_DEVICE (auto,
 * cpu, sim or an ordinal) decides what XGEMM_DEVICE_AUTO means; a variable that
 * is empty counts as unset. Without it, XGEMM_DEVICE_AUTO is the CPU when there
 * is no driver, one too old, no GPU, or none that the kernels run on; a driver
 * that fails otherwise is an error. On the simulator $XGEMM_SIM says how it
 * runs: a list with commas of forward, reverse, shuffle or shuffle=SEED (the
 * order in which threads run), early or late (asynchronous copies),
 * multiprocessors=N (132 by default) and check (every access is
 * checked, and a launch that reads or writes outside its arrays, races, or reads
 * shared memory that nothing wrote fails with XGEMM_ERROR_LAUNCH; about ten
 * times slower).
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_NO_DRIVER;
 *          XGEMM_ERROR_DRIVER_TOO_OLD; XGEMM_ERROR_NO_DEVICE;
 *          XGEMM_ERROR_NOT_SUPPORTED; XGEMM_ERROR_ENVIRONMENT;
 *          XGEMM_ERROR_OUT_OF_MEMORY; XGEMM_ERROR_OUT_OF_DEVICE_MEMORY;
 *          XGEMM_ERROR_DRIVER. After a failure xgemm_last_error(NULL) has the
 *          sentence.
 */
XGEMM_API xgemm_status xgemm_create(xgemm_handle **handle, int device);

/**
 * \brief   Makes a handle on several devices, for products of matrices in host memory.
 *
 * \param   handle    Receives the handle, or NULL on failure, as xgemm_create().
 * \param   ordinals  The devices, as for xgemm_create(); read before the call returns.
 * \param   count     How many, from 1 to 16.
 *
 * Products with XGEMM_HOST_MEMORY are divided among the devices. For all else the
 * handle is one of xgemm_create() on the first.
 *
 * \return  As xgemm_create(); XGEMM_ERROR_NULL_POINTER also for ordinals;
 *          XGEMM_ERROR_INVALID_VALUE for a count that is out of range. After a
 *          failure xgemm_last_error(NULL) has the sentence. Any thread may call.
 */
XGEMM_API xgemm_status xgemm_create_devices(xgemm_handle **handle, const int *ordinals, int count);

/**
 * \brief   Waits for the handle's work and frees it with its workspace.
 *
 * Graphs captured from the handle use its workspace: destroy them first.
 *
 * \param   handle  A handle, or NULL (nothing happens).
 */
XGEMM_API void xgemm_destroy(xgemm_handle *handle);

/**
 * \brief   Chooses the stream on which a CUDA handle enqueues its work.
 *
 * \param   handle  The handle.
 * \param   stream  A CUstream or cudaStream_t of the handle's device; NULL is
 *                  the default stream, and the initial setting. The library
 *                  keeps one workspace a stream; it does not own the stream.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER for a NULL handle;
 *          XGEMM_ERROR_NOT_SUPPORTED for a stream other than NULL on the CPU
 *          or the simulator.
 */
XGEMM_API xgemm_status xgemm_set_stream(xgemm_handle *handle, void *stream);

/**
 * \brief   Chooses the math mode; XGEMM_MATH_DEFAULT at first.
 *
 * A kernel that xgemm_set_kernel() named before and that the mode does not
 * allow makes products fail with XGEMM_ERROR_NOT_SUPPORTED.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_INVALID_VALUE.
 */
XGEMM_API xgemm_status xgemm_set_math(xgemm_handle *handle, xgemm_math math);

/** \brief What the bits of a product's elements depend on. */
typedef enum {
    XGEMM_REPRODUCIBLE_NONE = -1,  /**< As RUN, but while the driver translates kernels. */
    XGEMM_REPRODUCIBLE_RUN = 0,    /**< The same call on the same device gives the same bits, but
                                        where there is no memory for its workspace
                                        (xgemm_fallback_count()). */
    XGEMM_REPRODUCIBLE_ELEMENT = 1 /**< An element's bits depend on its row of op(A), its column of
                                        op(B), k, alpha, beta, C's and the bias's element, the
                                        activation and the types alone. */
} xgemm_reproducible;

/**
 * \brief   Chooses what the bits of products depend on.
 *
 * A new handle has XGEMM_REPRODUCIBLE_RUN, or what $XGEMM_REPRODUCIBLE says: none, run or element.
 *
 * The kernels of a library that clang has built are PTX, which the driver translates when a kernel
 * is first used and then keeps on disk: 0.01 to 8 s for a kernel. A product waits for its kernel,
 * unless there is a compact program for it: with the same bits, translated in 10 to 400 ms, and
 * slower. Whichever is loaded first runs. There is one for the F32 kernels sliced-* and
 * pipelined-scalar-*, up to 4e9 multiplications, and for fp16x3-*, where beta is 0 and
 * it is no batch; there the call waits for the stream, too.
 *
 * With XGEMM_REPRODUCIBLE_NONE a product runs on any kernel that is translated in some milliseconds,
 * until the better one is there: within the same bounds of error, but slower, and with other bits
 * than later.
 *
 * A product that is captured into a graph, one by a named kernel, and one of matrices in host memory
 * wait for their kernels in all modes. xgemm_last_kernel() names what ran, or what a compact program
 * stood for, and xgemm_fallback_count() counts both. xgemm_destroy() of a GPU's last handle waits for
 * what the driver is translating, so that it is kept; a process that ends without it does not.
 *
 * With XGEMM_REPRODUCIBLE_ELEMENT an element of C has the same bits whatever m and n are, wherever
 * it is, alone or in a batch, and whatever the layout, leading dimensions, alignment, stream,
 * workspace and number of multiprocessors are: so a request gets the same answer alone and among
 * others. It costs the split of k, by which a GPU is filled where C is small, and tensor cores'
 * speed for F32, whose DEFAULT and TF32 products are computed as in STRICT.
 *
 * Products of F32, F64, C32 and C64 are one chain of fused multiply-adds in ascending k from 0, of
 * complex numbers re = fma(ar, br, re), re = fma(-ai, bi, re), im = fma(ar, bi, im), im = fma(ai,
 * br, im) for each k. Then x = alpha * sum; with beta not 0, x = fma(beta, C, x); with a bias, x +=
 * bias. They have the same bits on every GPU, in the simulator and on the CPU, but for activations
 * other than ReLU and the sign of a sum that underflowed to 0. F16 and BF16 are summed by tensor
 * cores, whose order inside of 16 k NVIDIA does not document, by those of a warpgroup in compute
 * capability 9.0 and elsewhere by those of a warp; on the CPU by the same chain in FP32.
 *
 * A product may then fail with XGEMM_ERROR_WORKSPACE, where it must copy operands of 16 bits that
 * are not aligned to 16 bytes and there is no memory, and with XGEMM_ERROR_NOT_SUPPORTED where
 * xgemm_set_kernel() names a kernel that splits sums.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_INVALID_VALUE.
 */
XGEMM_API xgemm_status xgemm_set_reproducible(xgemm_handle *handle,
                                              xgemm_reproducible reproducible);

/**
 * \brief   Names the kernel that later calls run.
 *
 * \param   handle  The handle.
 * \param   name    A kernel's name (xgemm_kernel_get(), xgemm-kernels(7));
 *                  NULL or "auto": the library chooses for every call, among
 *                  the kernels that the driver can load.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_UNKNOWN_KERNEL (the sentence has the nearest
 *          ones); XGEMM_ERROR_NOT_SUPPORTED when the handle's device cannot
 *          run it, or the math mode does not allow it (set the mode first);
 *          XGEMM_ERROR_NULL_POINTER. After an error the setting is as before.
 */
XGEMM_API xgemm_status xgemm_set_kernel(xgemm_handle *handle, const char *name);

/**
 * \brief   Gives the handle a workspace instead of the library's own.
 *
 * \param   handle         The handle.
 * \param   device_memory  Memory of the handle's device, aligned to 256
 *                         bytes, which stays the caller's and must outlive
 *                         the work enqueued with it; NULL: the library's own.
 * \param   bytes          Its size.
 *
 * With a caller's workspace a call allocates nothing. When it is too small,
 * an automatic choice takes a kernel that needs less; a kernel that was named
 * fails with XGEMM_ERROR_WORKSPACE and a sentence that has the bytes needed.
 * Kernels that split operands into FP16 need 4 bytes for each element of A and B,
 * m and n rounded up to 256 (those of XGEMM_MATH_TF32 2 bytes), and a little for
 * scales and worklists; with less, down to a little over 1 MiB, they work in
 * panels. Of its own the library allocates at most 4 GiB for them.
 * xgemm_sgemm_plan() tells the bytes.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_INVALID_VALUE for
 *          memory that is not aligned, or NULL with bytes other than 0.
 */
XGEMM_API xgemm_status xgemm_set_workspace(xgemm_handle *handle, void *device_memory, size_t bytes);

/**
 * \brief   What a handle is on: a CUDA ordinal, XGEMM_DEVICE_CPU or
 *          XGEMM_DEVICE_SIM. A NULL handle gives XGEMM_DEVICE_AUTO.
 */
XGEMM_API int xgemm_get_device(const xgemm_handle *handle);

/**
 * \brief   Waits until all work enqueued on the handle's stream is done.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_LAUNCH when a kernel failed while it ran;
 *          XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_synchronize(xgemm_handle *handle);

/**
 * \brief   How many elements of C the handle's last product, or batch, recomputed.
 *
 * \param   handle    The handle.
 * \param   elements  Receives their number, from 0 to all of C.
 *
 * They are those for which operands split into FP16 are not accurate enough, see
 * xgemm_math, and, where there are many, their neighbours in a tile. With all
 * other kernels, and with nothing to multiply, there are none. The device counts
 * them in the workspace, so that the call waits for the work on the handle's
 * stream, which must not be in a graph capture; a caller's workspace must still be
 * there, with what the product has left in it. Of a product that works in panels
 * of k (see xgemm_set_workspace()) an element counts for each panel in which it
 * was recomputed, but in sum at most all of C. After a capture the number is that
 * of the last run of the graph, and undefined before the first.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_INVALID_VALUE if the
 *          handle's stream is not the one that the product ran on, or its
 *          workspace was the caller's and xgemm_set_workspace() was called since;
 *          XGEMM_ERROR_LAUNCH when a kernel failed while it ran;
 *          XGEMM_ERROR_DRIVER, also during a capture, which cannot go on then.
 *          After an error *elements is as it was.
 */
XGEMM_API xgemm_status xgemm_last_recomputed(xgemm_handle *handle, int64_t *elements);

/**
 * \brief   How many products of the handle ran otherwise than fastest.
 *
 * Where the device has no memory left for the workspace of the best plan, or a
 * caller's workspace (xgemm_set_workspace()) is too small for it, another plan
 * serves: a kernel that needs less, or the same one in panels. The result is as
 * accurate, and slower. So it is while a kernel is being translated and another
 * program runs in its place (xgemm_set_reproducible()). $XGEMM_LOG names such
 * products one by one.
 *
 * \return  Their number since xgemm_create(), of both batched and other calls; a
 *          batch of pointers whose products run one by one counts each. 0 for a NULL
 *          handle. One thread at a time may use a handle.
 */
XGEMM_API int64_t xgemm_fallback_count(const xgemm_handle *handle);

/**
 * \brief   Makes the handle's CUDA context current in the calling thread.
 *
 * libxgemm itself does not need it; other CUDA libraries used beside it do.
 * Nothing happens on the CPU and the simulator. The context ends with the last
 * handle on the device unless something else, such as the CUDA runtime, holds
 * it: make another current before.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER.
 */
XGEMM_API xgemm_status xgemm_make_current(xgemm_handle *handle);

/**
 * \brief   The whole sentence of the last call that failed, such as
 *          "xgemm_sgemm: lda is 3; with transa = N in row order it must be
 *          at least k = 5".
 *
 * \param   handle  The handle; NULL: the last failure, in the calling thread,
 *                  of a function that had no handle to keep it.
 *
 * \return  A string that stays until the handle's (or, for NULL, the
 *          thread's) next failure; never NULL, "" when nothing failed.
 */
XGEMM_API const char *xgemm_last_error(const xgemm_handle *handle);

#endif
