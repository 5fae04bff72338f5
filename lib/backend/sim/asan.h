/* SPDX-License-Identifier: BSD-3-Clause */
/* XG_WITH_ASAN: that AddressSanitizer is in the build, of gcc or of clang. */
#ifndef XGEMM_SIM_ASAN_H
#define XGEMM_SIM_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define XG_WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XG_WITH_ASAN 1
#endif
#endif

#endif
