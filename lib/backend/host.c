/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ALIGNMENT = 256 };

struct xg_mark {
    struct timespec time;
};

xgemm_status xg_host_allocate(xg_device *device, size_t bytes, void **memory, xg_error *error)
{
    (void)device;
    *memory = bytes <= PTRDIFF_MAX - ALIGNMENT
                  ? aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)
                  : NULL;
    return *memory ? XGEMM_OK
                   : xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY,
                             "the host has no %zu bytes of memory left", bytes);
}

xgemm_status xg_host_release(xg_device *device, void *memory, xg_error *error)
{
    (void)device, (void)error;
    free(memory);
    return XGEMM_OK;
}

/*
 * A file below /proc; *file is NULL where there is none, or none for this user, and what it says is
 * not known. Without memory or a descriptor for it that would be said wrongly.
 */
static xgemm_status open_facts(const char *path, FILE **file, xg_error *error)
{
    *file = fopen(path, "re");
    if (*file || errno == ENOENT || errno == EACCES)
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "cannot read %s: %s", path, strerror(errno));
}

/* The kB value of a line of /proc/meminfo, in bytes; 0 when it is not there. */
static xgemm_status meminfo(const char *key, uint64_t *bytes, xg_error *error)
{
    FILE *file;
    char line[256];
    const size_t length = strlen(key);
    const xgemm_status status = open_facts("/proc/meminfo", &file, error);

    *bytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            *bytes = strtoull(line + length + 1, NULL, 10) * 1024;
    if (file)
        fclose(file);
    return status;
}

static uint64_t main_memory(void)
{
    const long page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);
    return page > 0 && pages > 0 ? (uint64_t)page * (uint64_t)pages : 0;
}

xgemm_status xg_host_memory_info(xg_device *device, uint64_t *free_bytes, uint64_t *total,
                                 xg_error *error)
{
    (void)device;
    const xgemm_status status = meminfo("MemAvailable", free_bytes, error);
    *total = main_memory();
    if (*free_bytes == 0)
        *free_bytes = *total;
    return status;
}

xgemm_status xg_host_copy(xg_device *device, void *stream, void *to, const void *from, size_t bytes,
                          xg_error *error)
{
    (void)device, (void)stream, (void)error;
    memcpy(to, from, bytes);
    return XGEMM_OK;
}

xgemm_status xg_host_wait(xg_device *device, void *stream, xg_error *error)
{
    (void)device, (void)stream, (void)error;
    return XGEMM_OK;
}

bool xg_host_drain(xg_device *device)
{
    (void)device;
    return true;
}

xgemm_status xg_host_make_current(xg_device *device, xg_error *error)
{
    (void)device, (void)error;
    return XGEMM_OK;
}

xgemm_status xg_host_mark_create(xg_device *device, xg_mark **mark, xg_error *error)
{
    (void)device;
    *mark = calloc(1, sizeof **mark);
    return *mark ? XGEMM_OK
                 : xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
}

void xg_host_mark_destroy(xg_device *device, xg_mark *mark)
{
    (void)device;
    free(mark);
}

xgemm_status xg_host_mark_record(xg_device *device, void *stream, xg_mark *mark, xg_error *error)
{
    (void)device, (void)stream, (void)error;
    clock_gettime(CLOCK_MONOTONIC, &mark->time);
    return XGEMM_OK;
}

xgemm_status xg_host_mark_elapsed(xg_device *device, xg_mark *from, xg_mark *to, double *us,
                                  xg_error *error)
{
    (void)device, (void)error;
    *us = (double)(to->time.tv_sec - from->time.tv_sec) * 1e6 +
          (double)(to->time.tv_nsec - from->time.tv_nsec) * 1e-3;
    return XGEMM_OK;
}

xgemm_status xg_host_resources(xg_device *device, const xg_program *program,
                               xgemm_kernel_resources *resources, xg_error *error)
{
    (void)device, (void)resources;
    return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                   "only a GPU's driver knows what %s takes; this device is no GPU",
                   program->symbol);
}

/* The text after the colon of the first "model name" line of /proc/cpuinfo, else "CPU". */
static xgemm_status processor_name(char *name, size_t size, xg_error *error)
{
    FILE *file;
    char line[512];
    const xgemm_status status = open_facts("/proc/cpuinfo", &file, error);

    snprintf(name, size, "CPU");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
            break;
        }
    }
    if (file)
        fclose(file);
    return status;
}

xgemm_status xg_host_describe(xgemm_device *device, xg_error *error)
{
    device->multiprocessors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    device->memory_bytes = (int64_t)main_memory();
    return processor_name(device->name, sizeof device->name, error);
}
