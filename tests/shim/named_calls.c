/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program without cuBLAS and BLAS, for blas.sh: asks whether they are there, as some do, finds
 * the drop-ins' names, and calls some of them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef void gemm(const char *, const char *, const int *, const int *, const int *, const void *,
                  const void *, const int *, const void *, const int *, const void *, void *,
                  const int *, size_t, size_t);
typedef int destroy(void *);

enum { NOT_INITIALIZED = 1 };

/* Puts the address of a function into a pointer to such a one; false: there is none. */
static int find(const char *name, void *to)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    memcpy(to, &address, sizeof address);
    return address != NULL;
}

int main(void)
{
    static const char *const names[] = {"sgemm_", "dgemm_"};
    static const double scalar = 1;
    static const int one = 1;
    double a = 2, c = 0;
    destroy *end;
    if (!find("cublasDestroy_v2", &end) || end(&c) != NOT_INITIALIZED)
        return 1;
    for (int i = 0; i < 2; i++) {
        gemm *function;
        if (!find(names[i], &function))
            return 1;
        function("N", "N", &one, &one, &one, &scalar, &a, &one, &a, &one, &scalar, &c, &one, 1, 1);
    }
    return 0;
}
