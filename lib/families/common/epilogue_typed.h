/* SPDX-License-Identifier: BSD-3-Clause */
/* The epilogue of any type, for kernels whose sums are float, and for those whose are double. */
#ifndef XGEMM_KERNELS_EPILOGUE_TYPED_H
#define XGEMM_KERNELS_EPILOGUE_TYPED_H

#include "activations.h"
#include "convert.h"

#define EPILOGUE_REAL                   float
#define EPILOGUE_NAME(name)             name##_f32
#define EPILOGUE_SIGMOID(x)             xg_sigmoid_f32(x)
#define EPILOGUE_GELU(x)                xg_gelu_f32(x)
#define EPILOGUE_FMA(x, y, z)           fmaf(x, y, z)
#define EPILOGUE_MUL(x, y)              __fmul_rn(x, y)
#define EPILOGUE_LOAD(from, at, type)   xg_load_as_f32(from, at, type)
#define EPILOGUE_STORE(to, at, type, x) xg_store_f32_as(to, at, type, x)
#include "epilogue_typed.inc"

#define EPILOGUE_REAL                   double
#define EPILOGUE_NAME(name)             name##_f64
#define EPILOGUE_FMA(x, y, z)           fma(x, y, z)
#define EPILOGUE_MUL(x, y)              __dmul_rn(x, y)
#define EPILOGUE_LOAD(from, at, type)   (((const double *)(from))[at])
#define EPILOGUE_STORE(to, at, type, x) ((void)(((double *)(to))[at] = (x)))
#include "epilogue_typed.inc"

#endif
