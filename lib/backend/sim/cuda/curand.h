/* SPDX-License-Identifier: BSD-3-Clause */
/* cuRAND for host code beside a kernel: what is called most; it compiles, and never runs. */
#ifndef XGEMM_CUDA_CURAND_H
#define XGEMM_CUDA_CURAND_H

#include "device.h"

typedef struct xg_curand *curandGenerator_t;
typedef int curandStatus_t;
typedef int curandRngType_t;
enum {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161
};

#define XG_CURAND(name)                                                                            \
    template <class... A> static inline curandStatus_t name(A &&...)                               \
    {                                                                                              \
        return CURAND_STATUS_SUCCESS;                                                              \
    }
XG_CURAND(curandCreateGenerator)
XG_CURAND(curandDestroyGenerator)
XG_CURAND(curandSetPseudoRandomGeneratorSeed)
XG_CURAND(curandSetStream)
XG_CURAND(curandGenerate)
XG_CURAND(curandGenerateUniform)
XG_CURAND(curandGenerateUniformDouble)
XG_CURAND(curandGenerateNormal)
XG_CURAND(curandGenerateNormalDouble)

#endif
