/* SPDX-License-Identifier: BSD-3-Clause */
#include <xgemm.h>

const char *xgemm_strerror(xgemm_status status)
{
    switch (status) {
#define SENTENCE(name, value, sentence)                                                            \
    case XGEMM_##name:                                                                             \
        return sentence;
        XGEMM_STATUS_MAP(SENTENCE)
#undef SENTENCE
    case XGEMM_STATUS_FORCE_INT:
        break;
    }
    return "unknown status";
}

const char *xgemm_status_name(xgemm_status status)
{
    switch (status) {
#define NAME(name, value, sentence)                                                                \
    case XGEMM_##name:                                                                             \
        return "XGEMM_" #name;
        XGEMM_STATUS_MAP(NAME)
#undef NAME
    case XGEMM_STATUS_FORCE_INT:
        break;
    }
    return "unknown";
}
