/* SPDX-License-Identifier: BSD-3-Clause */
#include <xgemm.h>

#define TEXT(number)    TEXT_OF(number)
#define TEXT_OF(number) #number

const char *xgemm_version(void)
{
    return TEXT(XGEMM_VERSION_MAJOR) "." TEXT(XGEMM_VERSION_MINOR) "." TEXT(XGEMM_VERSION_PATCH);
}
