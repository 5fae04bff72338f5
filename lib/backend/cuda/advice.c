/* SPDX-License-Identifier: BSD-3-Clause */
#include "advice.h"

#include "constants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *xg_cu_advice(unsigned result)
{
    switch (result) {
    case XG_CUDA_ERROR_NOT_INITIALIZED:
        return "; after a fork(), a process cannot use CUDA if its parent has";
    case XG_CUDA_ERROR_STUB_LIBRARY:
        return "; libcuda.so.1 is NVIDIA's stub library, which is for linking alone: take its "
               "folder out of LD_LIBRARY_PATH";
    case XG_CUDA_ERROR_OPERATING_SYSTEM:
        return "; the system refused the driver something: is /dev/nvidia-uvm there, and may this "
               "process, or its container, use it?";
    case XG_CUDA_ERROR_SYSTEM_NOT_READY:
        return "; is the service nvidia-fabricmanager running?";
    case XG_CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "; the kernel module and libcuda.so.1 are of different versions: restart the "
               "system, or reinstall the driver's packages";
    case XG_CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return "; the package cuda-compat does not support this GPU: take its folder out of "
               "LD_LIBRARY_PATH";
    default:
        return "";
    }
}

/* The first device file that is there and may not be used; NULL: none. */
static const char *forbidden(const char *control, char path[32])
{
    enum { GPUS = 16 };
    if (access(control, R_OK | W_OK) && errno == EACCES)
        return control;
    for (int i = 0; i < GPUS; i++) {
        snprintf(path, 32, "/dev/nvidia%d", i);
        if (access(path, R_OK | W_OK) && errno == EACCES)
            return path;
    }
    return NULL;
}

const char *xg_cu_access_advice(const char *control, char text[XG_CU_ADVICE])
{
    const char *const visible = getenv("CUDA_VISIBLE_DEVICES");
    char path[32];
    const char *const closed = forbidden(control, path);
    int length = 0;
    *text = '\0';
    if (closed)
        length = snprintf(text, XG_CU_ADVICE,
                          "; there is no permission to use %.64s: is the user in the file's group "
                          "(often video or render)?",
                          closed);
    else if (access(control, F_OK) && errno == ENOENT && access(XG_CU_WINDOWS, F_OK))
        length = snprintf(text, XG_CU_ADVICE,
                          "; there is no %.64s: is the kernel module nvidia loaded (package "
                          "nvidia-driver), and was a container given the GPUs?",
                          control);
    if (visible)
        snprintf(text + length, (size_t)(XG_CU_ADVICE - length),
                 "; CUDA_VISIBLE_DEVICES is \"%.64s\"", visible);
    return text;
}
