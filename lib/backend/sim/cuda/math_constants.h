/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XGEMM_CUDA_MATH_CONSTANTS_H
#define XGEMM_CUDA_MATH_CONSTANTS_H

#include "device.h"

#define CUDART_INF_F    __builtin_inff()
#define CUDART_NAN_F    __builtin_nanf("")
#define CUDART_INF      __builtin_inf()
#define CUDART_NAN      __builtin_nan("")
#define CUDART_PI_F     3.141592654f
#define CUDART_PI       3.1415926535897931
#define CUDART_SQRT_TWO 1.4142135623730951

#endif
