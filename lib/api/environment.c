/* SPDX-License-Identifier: BSD-3-Clause */
#include "environment.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* NULL when unset, empty or "auto". */
static const char *setting(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text && strcmp(text, "auto") != 0 ? text : NULL;
}

xgemm_status xg_environment_device(int *device, xg_error *error)
{
    const char *text = setting("XGEMM_DEVICE");
    *device = XGEMM_DEVICE_AUTO;
    if (!text)
        return XGEMM_OK;
    if (strcmp(text, "cpu") == 0) {
        *device = XGEMM_DEVICE_CPU;
        return XGEMM_OK;
    }
    if (strcmp(text, "sim") == 0) {
        *device = XGEMM_DEVICE_SIM;
        return XGEMM_OK;
    }
    char *end;
    errno = 0;
    const long number = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;
    if (number < 0 || *end || errno || number > INT_MAX)
        return xg_fail(error, XGEMM_ERROR_ENVIRONMENT,
                       "the environment has XGEMM_DEVICE=\"%.64s\"; it takes auto, cpu, sim or a "
                       "GPU's number",
                       text);
    *device = (int)number;
    return XGEMM_OK;
}

const char *xg_environment_kernel(void)
{
    return setting("XGEMM_KERNEL");
}

xgemm_status xg_environment_reproducible(xgemm_reproducible *reproducible, xg_error *error)
{
    static const struct {
        const char *name;
        xgemm_reproducible value;
    } values[] = {{"none", XGEMM_REPRODUCIBLE_NONE},
                  {"run", XGEMM_REPRODUCIBLE_RUN},
                  {"element", XGEMM_REPRODUCIBLE_ELEMENT}};
    const char *const text = setting("XGEMM_REPRODUCIBLE");
    *reproducible = XGEMM_REPRODUCIBLE_RUN;
    if (!text)
        return XGEMM_OK;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(text, values[i].name) == 0) {
            *reproducible = values[i].value;
            return XGEMM_OK;
        }
    return xg_fail(error, XGEMM_ERROR_ENVIRONMENT,
                   "the environment has XGEMM_REPRODUCIBLE=\"%.64s\"; it takes none, run or element",
                   text);
}
