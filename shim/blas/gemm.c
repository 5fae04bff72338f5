/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gemm of CBLAS and of Fortran's BLAS, for four types, under the names that there are: with
 * integers of 32 bits, with those of 64 (64_ and _64 at the end), and with OpenBLAS's prefix in the
 * wheels of NumPy and SciPy.
 */
#include "below.h"
#include "serve.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* The real function, looked up once; two threads find the same. */
#define BELOW(type, name)                                                                          \
    static _Atomic(void *) found;                                                                  \
    void *address = atomic_load(&found);                                                           \
    if (!address) {                                                                                \
        address = below(name);                                                                     \
        atomic_store(&found, address);                                                             \
    }                                                                                              \
    type *const real = address

#define PRODUCT(of, order_, transa_, transb_, m_, n_, k_, alpha_, a_, lda_, b_, ldb_, beta_, c_,   \
                ldc_)                                                                              \
    {                                                                                              \
        .struct_size = sizeof(xgemm_product), .order = (xgemm_order)(order_),                      \
        .transa = (xgemm_transpose)(transa_), .transb = (xgemm_transpose)(transb_), .m = m_,       \
        .n = n_, .k = k_, .type_a = of, .type_b = of, .type_c = of, .alpha = alpha_, .a = a_,      \
        .lda = lda_, .b = b_, .ldb = ldb_, .beta = beta_, .c = c_, .ldc = ldc_, .batch_count = 1   \
    }

/* "scalar" is how alpha and beta are passed, and "address" makes a pointer of one. */
#define CBLAS(name, type, integer, scalar, pointer_to)                                             \
    typedef void name##_function(int, int, int, integer, integer, integer, scalar, const void *,   \
                                 integer, const void *, integer, scalar, void *, integer);         \
    EXPORT name##_function name;                                                                   \
    void name(int order, int transa, int transb, integer m, integer n, integer k, scalar alpha,    \
              const void *a, integer lda, const void *b, integer ldb, scalar beta, void *c,        \
              integer ldc)                                                                         \
    {                                                                                              \
        const xgemm_product product =                                                              \
            PRODUCT(type, order, transa, transb, m, n, k, pointer_to alpha, a, lda, b, ldb,        \
                    pointer_to beta, c, ldc);                                                      \
        if (serve_host(#name, &product, __builtin_return_address(0)))                              \
            return;                                                                                \
        BELOW(name##_function, #name);                                                             \
        real(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                 \
    }

/* N, T or C in either case; 0 for what is none. */
static xgemm_transpose transpose_of(const char *letter)
{
    const char *at = *letter ? strchr("NnTtCc", *letter) : NULL;
    static const xgemm_transpose values[] = {XGEMM_NO_TRANS, XGEMM_TRANS, XGEMM_CONJ_TRANS};
    return at ? values[(at - strchr("NnTtCc", 'N')) / 2] : (xgemm_transpose)0;
}

/* Compilers of Fortran add the lengths of the letters. */
#define FORTRAN(name, type, integer)                                                               \
    typedef void name##_function(const char *, const char *, const integer *, const integer *,     \
                                 const integer *, const void *, const void *, const integer *,     \
                                 const void *, const integer *, const void *, void *,              \
                                 const integer *, size_t, size_t);                                 \
    EXPORT name##_function name;                                                                   \
    void name(const char *transa, const char *transb, const integer *m, const integer *n,          \
              const integer *k, const void *alpha, const void *a, const integer *lda,              \
              const void *b, const integer *ldb, const void *beta, void *c, const integer *ldc,    \
              size_t length_a, size_t length_b)                                                    \
    {                                                                                              \
        const xgemm_product product =                                                              \
            PRODUCT(type, XGEMM_COL_MAJOR, transpose_of(transa), transpose_of(transb), *m, *n, *k, \
                    alpha, a, *lda, b, *ldb, beta, c, *ldc);                                       \
        if (serve_host(#name, &product, __builtin_return_address(0)))                              \
            return;                                                                                \
        BELOW(name##_function, #name);                                                             \
        real(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a, length_b);    \
    }

/* libblas.so.3 has the names of its kind alone. */
#define TYPE_32(letter, type, scalar, pointer_to)                                                  \
    CBLAS(cblas_##letter##gemm, type, int, scalar, pointer_to)                                     \
    FORTRAN(letter##gemm_, type, int)
#ifdef WHOLE_BLAS
#define TYPE TYPE_32
#else
#define TYPE(letter, type, scalar, pointer_to)                                                     \
    TYPE_32(letter, type, scalar, pointer_to)                                                      \
    CBLAS(cblas_##letter##gemm64_, type, int64_t, scalar, pointer_to)                              \
    CBLAS(cblas_##letter##gemm_64, type, int64_t, scalar, pointer_to)                              \
    CBLAS(scipy_cblas_##letter##gemm, type, int, scalar, pointer_to)                               \
    CBLAS(scipy_cblas_##letter##gemm64_, type, int64_t, scalar, pointer_to)                        \
    FORTRAN(letter##gemm_64_, type, int64_t)                                                       \
    FORTRAN(scipy_##letter##gemm_, type, int)                                                      \
    FORTRAN(scipy_##letter##gemm_64_, type, int64_t)
#endif

TYPE(s, XGEMM_F32, float, &)
TYPE(d, XGEMM_F64, double, &)
TYPE(c, XGEMM_C32, const void *, )
TYPE(z, XGEMM_C64, const void *, )
