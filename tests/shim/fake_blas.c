/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake BLAS for blas.sh: every name of gemm notes itself. */
int fake_count;
const char *fake_last = "";

#define ENTRY(name)                                                                                \
    void name(void);                                                                               \
    void name(void)                                                                                \
    {                                                                                              \
        fake_count++;                                                                              \
        fake_last = #name;                                                                         \
    }
#define ENTRIES(letter)                                                                            \
    ENTRY(cblas_##letter##gemm)                                                                    \
    ENTRY(cblas_##letter##gemm64_)                                                                 \
    ENTRY(cblas_##letter##gemm_64)                                                                 \
    ENTRY(scipy_cblas_##letter##gemm)                                                              \
    ENTRY(scipy_cblas_##letter##gemm64_)                                                           \
    ENTRY(letter##gemm_)                                                                           \
    ENTRY(letter##gemm_64_)                                                                        \
    ENTRY(scipy_##letter##gemm_)                                                                   \
    ENTRY(scipy_##letter##gemm_64_)
ENTRIES(s)
ENTRIES(d)
ENTRIES(c)
ENTRIES(z)
