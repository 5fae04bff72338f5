/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

static void look_up(const command *which, const settings *common, const char *name,
                    xgemm_device *gpu)
{
    if (common->device != XGEMM_DEVICE_AUTO)
        usage_error(which, "--gpu names a GPU of the catalogue and --device one of this machine; "
                           "give one of them");
    if (xgemm_device_find(name, gpu))
        usage_error(which, "%s", xgemm_last_error(NULL));
}

/* Whether that GPU is here. A driver that fails does not say so, and ends the program. */
static bool ask_driver(const command *which, int ordinal, xgemm_device *gpu)
{
    const xgemm_status status = xgemm_device_get(ordinal, gpu);
    if (status && status_without_device(status) != STATUS_NO_DEVICE)
        exit(failed_call(which, NULL));
    return status == XGEMM_OK;
}

xgemm_device gpu_choose(const command *which, const settings *common, const char *name)
{
    xgemm_device gpu = {.struct_size = sizeof gpu};
    if (name)
        look_up(which, common, name, &gpu);
    else if (common->device >= 0) {
        if (!ask_driver(which, common->device, &gpu)) {
            failed_call(which, NULL);
            exit(STATUS_NO_DEVICE);
        }
    } else if (common->device != XGEMM_DEVICE_AUTO)
        usage_error(which, "this is of GPUs alone, not of the CPU or the simulator; name one with "
                           "--gpu, such as --gpu sm_90");
    else if (!ask_driver(which, 0, &gpu))
        usage_error(which, "there is no GPU here; name one with --gpu, such as --gpu sm_90");
    return gpu;
}

xgemm_device gpu_first(const command *which)
{
    xgemm_device gpu = {.struct_size = sizeof gpu};
    if (!ask_driver(which, 0, &gpu))
        gpu.struct_size = 0;
    return gpu;
}

const char *limiters_text(unsigned limiters, limiters_style style)
{
    static const struct {
        unsigned bit;
        const char *words[2]; /* by style */
    } names[] = {
        {XGEMM_LIMITED_BY_WARPS, {"warps", "warps"}},
        {XGEMM_LIMITED_BY_BLOCKS, {"slots", "blocks"}},
        {XGEMM_LIMITED_BY_REGISTERS, {"registers", "registers"}},
        {XGEMM_LIMITED_BY_SHARED, {"shared", "shared memory"}},
    };
    static char text[64];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (limiters & names[i].bit)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     used == 0                       ? ""
                                     : style == LIMITERS_IN_A_COLUMN ? " "
                                                                     : ", ",
                                     names[i].words[style]);
    return text;
}
