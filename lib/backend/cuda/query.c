/* SPDX-License-Identifier: BSD-3-Clause */
/* What the driver says of a GPU, without a context on it. */
#include "context.h"

#include <stdio.h>
#include <string.h>

xg_cu_result xg_cu_attribute_of(const xg_cu *driver, xg_cu_device device, unsigned which,
                                int *value)
{
    const xg_cu_result failed = driver->device_attribute(value, which, device);
    if (failed)
        *value = 0;
    return failed == XG_CUDA_ERROR_INVALID_VALUE ? 0 : failed;
}

/* What is a plain number; the struct's wider fields take theirs from here. */
typedef struct {
    int major, minor, clusters, l2_bytes, bus_bits, core_khz, memory_khz;
    int shared_per_sm, shared_per_block, shared_per_block_static, shared_reserved;
} attributes;

static xgemm_status read_attributes(const xg_cu *driver, xg_cu_device device, xgemm_device *d,
                                    attributes *a, xg_error *error)
{
    const struct {
        unsigned attribute;
        int *value;
    } wanted[] = {
#define WANTED(name, to) {XG_CU_DEVICE_ATTRIBUTE_##name, &(to)}
        WANTED(COMPUTE_CAPABILITY_MAJOR, a->major),
        WANTED(COMPUTE_CAPABILITY_MINOR, a->minor),
        WANTED(MULTIPROCESSOR_COUNT, d->multiprocessors),
        WANTED(MAX_THREADS_PER_MULTIPROCESSOR, d->threads_per_sm),
        WANTED(MAX_BLOCKS_PER_MULTIPROCESSOR, d->blocks_per_sm),
        WANTED(MAX_THREADS_PER_BLOCK, d->threads_per_block),
        WANTED(MAX_REGISTERS_PER_MULTIPROCESSOR, d->registers_per_sm),
        WANTED(MAX_REGISTERS_PER_BLOCK, d->registers_per_block),
        WANTED(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, a->shared_per_sm),
        WANTED(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, a->shared_per_block),
        WANTED(MAX_SHARED_MEMORY_PER_BLOCK, a->shared_per_block_static),
        WANTED(RESERVED_SHARED_MEMORY_PER_BLOCK, a->shared_reserved),
        WANTED(CLUSTER_LAUNCH, a->clusters),
        WANTED(L2_CACHE_SIZE, a->l2_bytes),
        WANTED(GLOBAL_MEMORY_BUS_WIDTH, a->bus_bits),
        WANTED(CLOCK_RATE, a->core_khz),
        WANTED(MEMORY_CLOCK_RATE, a->memory_khz),
#undef WANTED
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const xg_cu_result failed =
            xg_cu_attribute_of(driver, device, wanted[i].attribute, wanted[i].value);
        if (failed)
            return xg_cu_fail(driver, failed, "cuDeviceGetAttribute", error);
    }
    return XGEMM_OK;
}

static xgemm_status fill_attributes(const xg_cu *driver, xg_cu_device device, xgemm_device *d,
                                    xg_error *error)
{
    attributes a;
    const xgemm_status status = read_attributes(driver, device, d, &a, error);
    if (status)
        return status;
    d->compute_capability = 10 * a.major + a.minor;
    d->shared_per_sm = a.shared_per_sm;
    d->shared_per_block = a.shared_per_block;
    d->shared_per_block_static = a.shared_per_block_static;
    d->shared_reserved = a.shared_reserved;
    d->cluster_blocks = a.clusters ? XG_CU_PORTABLE_CLUSTER : 0;
    d->l2_bytes = a.l2_bytes;
    d->memory_bus_bits = a.bus_bits;
    d->core_clock_mhz = a.core_khz * 1e-3;
    d->memory_clock_mhz = a.memory_khz * 1e-3;
    d->peak_bandwidth_gbs = 2.0 * d->memory_clock_mhz * (double)d->memory_bus_bits / 8.0 * 1e-3;
    return XGEMM_OK;
}

/* The UUID as nvidia-smi writes it. */
static void write_uuid(const unsigned char *bytes, bool mig, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", mig ? "MIG-" : "GPU-");
    for (int i = 0; i < 16; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

/* Where the host's kernel says it, for drivers that do not: -1 if it does not either. */
static int numa_node_of(const char *pci_address)
{
    char path[96], address[16];
    int node = -1;
    for (size_t i = 0; i < sizeof address; i++) /* the kernel writes hexadecimal digits small */
        address[i] = (char)(pci_address[i] >= 'A' && pci_address[i] <= 'F' ? pci_address[i] + 32
                                                                           : pci_address[i]);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", address);
    FILE *const file = *pci_address ? fopen(path, "r") : NULL;
    if (file && fscanf(file, "%d", &node) != 1)
        node = -1;
    if (file)
        fclose(file);
    return node;
}

/* Which GPU it is. A driver that does not tell its address or UUID leaves them unknown. */
static xgemm_status fill_identity(const xg_cu *driver, xg_cu_device device, xgemm_device *d,
                                  xg_error *error)
{
    unsigned char uuid[16];
    int ecc = 0, node = -1;
    d->mig = strstr(d->name, " MIG ") ? 1 : -1;
    if (driver->device_pci &&
        driver->device_pci(d->pci_address, (int)sizeof d->pci_address, device))
        d->pci_address[0] = '\0';
    if (driver->device_uuid && !driver->device_uuid(uuid, device))
        write_uuid(uuid, d->mig == 1, d->uuid, sizeof d->uuid);
    xg_cu_result failed =
        driver->device_attribute(&ecc, XG_CU_DEVICE_ATTRIBUTE_ECC_ENABLED, device);
    if (!failed) {
        d->ecc = ecc ? 1 : -1;
        failed = driver->device_attribute(&node, XG_CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, device);
    }
    d->numa_node = failed ? numa_node_of(d->pci_address) : node;
    return failed && failed != XG_CUDA_ERROR_INVALID_VALUE
               ? xg_cu_fail(driver, failed, "cuDeviceGetAttribute", error)
               : XGEMM_OK;
}

static xgemm_status fill(const xg_cu *driver, xg_cu_device device, xgemm_device *d, xg_error *error)
{
    size_t memory = 0;
    xg_cu_result failed = driver->device_name(d->name, (int)sizeof d->name, device);
    if (failed)
        return xg_cu_fail(driver, failed, "cuDeviceGetName", error);
    failed = driver->device_memory(&memory, device);
    if (failed)
        return xg_cu_fail(driver, failed, "cuDeviceTotalMem", error);
    d->memory_bytes = (int64_t)memory;
    snprintf(d->detail, sizeof d->detail, "CUDA driver %d.%d", driver->driver_version / 1000,
             driver->driver_version % 1000 / 10);
    const xgemm_status status = fill_attributes(driver, device, d, error);
    return status ? status : fill_identity(driver, device, d, error);
}

xgemm_status xg_cu_describe(int ordinal, xgemm_device *description, xg_error *error)
{
    const xg_cu *driver;
    xg_cu_device device;
    if (xg_cu_recall(ordinal, description))
        return XGEMM_OK;
    xgemm_status status = xg_cu_open(&driver, error);
    if (!status)
        status = xg_cu_find_device(driver, ordinal, &device, error);
    if (!status)
        status = fill(driver, device, description, error);
    if (!status)
        xg_cu_remember(ordinal, description);
    return status;
}

int xg_cu_count(xg_error *error)
{
    const xg_cu *driver;
    int count = 0;
    if (xg_cu_open(&driver, error))
        return 0;
    const xg_cu_result failed = driver->device_count(&count);
    if (failed) {
        xg_cu_fail(driver, failed, "cuDeviceGetCount", error);
        return 0;
    }
    if (count < 1)
        xg_cu_no_device(error);
    return count;
}
