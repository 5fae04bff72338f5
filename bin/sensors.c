/* SPDX-License-Identifier: BSD-3-Clause */
#include "sensors.h"

#include "symbol.h"

#include <xgemm.h>

#include <dlfcn.h>
#include <stdlib.h>

/* Of NVML's interface, which NVIDIA documents: what is called here. */
typedef struct nvml_device *nvml_device;
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0 };

struct sensors {
    void *library;
    int (*shut_down)(void);
    int (*clock)(nvml_device, int, unsigned *);
    int (*power)(nvml_device, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    nvml_device device;
};

static bool open_library(sensors *to, const char *pci_address)
{
    int (*init)(void), (*find)(const char *, nvml_device *);
    to->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!to->library)
        return false;
    find_symbol(to->library, "nvmlInit_v2", &init);
    find_symbol(to->library, "nvmlDeviceGetHandleByPciBusId_v2", &find);
    find_symbol(to->library, "nvmlShutdown", &to->shut_down);
    find_symbol(to->library, "nvmlDeviceGetClockInfo", &to->clock);
    find_symbol(to->library, "nvmlDeviceGetPowerUsage", &to->power);
    find_symbol(to->library, "nvmlDeviceGetTemperature", &to->temperature);
    if (!init || !find || !to->shut_down || !to->clock || !to->power || !to->temperature ||
        init() != NVML_SUCCESS)
        return false;
    if (find(pci_address, &to->device) == NVML_SUCCESS)
        return true;
    to->shut_down();
    return false;
}

sensors *sensors_open(int ordinal)
{
    xgemm_device device = {.struct_size = sizeof device};
    if (ordinal < 0 || xgemm_device_get(ordinal, &device) || !*device.pci_address)
        return NULL;
    sensors *made = calloc(1, sizeof *made);
    if (!made || open_library(made, device.pci_address))
        return made;
    if (made->library)
        dlclose(made->library);
    free(made);
    return NULL;
}

readings sensors_read(const sensors *from)
{
    readings now = {-1.0, -1.0, -1.0};
    unsigned value;
    if (!from)
        return now;
    if (from->clock(from->device, NVML_CLOCK_SM, &value) == NVML_SUCCESS)
        now.clock_mhz = value;
    if (from->power(from->device, &value) == NVML_SUCCESS)
        now.power_w = value * 1e-3;
    if (from->temperature(from->device, NVML_TEMPERATURE_GPU, &value) == NVML_SUCCESS)
        now.temperature_c = value;
    return now;
}

void sensors_close(sensors *of)
{
    if (!of)
        return;
    of->shut_down();
    dlclose(of->library);
    free(of);
}
