/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Occupancy and recorded resources against a GPU's driver, for every kernel.
 *
 * $XGEMM_TEST_DEVICE is the GPU's number; the kernels are read from lib/families
 * in the build folder, or from the folder given. Exits with 77 where one of
 * them is not there.
 */
#include "backend/cuda/driver.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SKIPPED = 77,
    ATTRIBUTE_MAX_DYNAMIC_SHARED = 8,
    ATTRIBUTE_CLUSTER_DIMENSION = 4,
    DYNAMIC_SIZES = 24
};

/* As cuda.h has them, of functions that the library does without. */
typedef struct {
    unsigned id, padding;
    union {
        unsigned dimension[3];
        char bytes[64];
    } value;
} launch_attribute;

typedef struct {
    unsigned grid[3], block[3], shared_bytes;
    xg_cu_stream stream;
    launch_attribute *attributes;
    unsigned attribute_count;
} launch_config;

/* X(member, symbol, parameters) */
#define FUNCTIONS(X)                                                                               \
    X(init, cuInit, (unsigned))                                                                    \
    X(device_get, cuDeviceGet, (xg_cu_device *, int))                                              \
    X(retain, cuDevicePrimaryCtxRetain, (xg_cu_context *, xg_cu_device))                           \
    X(set, cuCtxSetCurrent, (xg_cu_context))                                                       \
    X(load, cuModuleLoadData, (xg_cu_module *, const void *))                                      \
    X(unload, cuModuleUnload, (xg_cu_module))                                                      \
    X(function, cuModuleGetFunction, (xg_cu_function *, xg_cu_module, const char *))               \
    X(get, cuFuncGetAttribute, (int *, unsigned, xg_cu_function))                                  \
    X(change, cuFuncSetAttribute, (xg_cu_function, unsigned, int))                                 \
    X(blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, xg_cu_function, int, size_t))

static struct {
#define MEMBER(member, symbol, parameters) xg_cu_result(*member) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
    xg_cu_result (*clusters)(int *, xg_cu_function, const launch_config *); /* since CUDA 11.8 */
} cu;

static int failures, compared, clusters_compared;

static bool open_driver(int ordinal)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    xg_cu_device device;
    xg_cu_context context;
    if (!library)
        return false;
#define LOOK_UP(member, symbol, parameters)                                                        \
    if (!(*(void **)&cu.member = dlsym(library, #symbol)))                                         \
        return false;
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    *(void **)&cu.clusters = dlsym(library, "cuOccupancyMaxActiveClusters");
    return cu.init(0) == 0 && cu.device_get(&device, ordinal) == 0 &&
           cu.retain(&context, device) == 0 && cu.set(context) == 0;
}

static char *read_file(const char *path)
{
    FILE *from = fopen(path, "rb");
    char *bytes = NULL;
    if (!from)
        return NULL;
    if (fseek(from, 0, SEEK_END) == 0) {
        const long size = ftell(from);
        rewind(from);
        bytes = size > 0 ? malloc((size_t)size) : NULL;
        if (bytes && fread(bytes, 1, (size_t)size, from) != (size_t)size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(from);
    return bytes;
}

static int attribute(xg_cu_function function, unsigned which)
{
    int value = 0;
    return cu.get(&value, which, function) ? -1 : value;
}

static void same(const char *kernel, const char *what, int ours, int drivers)
{
    if (ours == drivers)
        return;
    fprintf(stderr, "%s: %s is %d, of the driver %d\n", kernel, what, ours, drivers);
    failures++;
}

static void compare_record(const char *name, const xgemm_device *device, xg_cu_function function)
{
    xgemm_kernel_resources r = {.struct_size = sizeof r};
    if (xgemm_kernel_resources_find(name, device, &r)) {
        fprintf(stderr, "%s: %s\n", name, xgemm_last_error(NULL));
        failures++;
        return;
    }
    if (r.binary_version != attribute(function, XG_CU_FUNC_ATTRIBUTE_BINARY_VERSION)) {
        printf("%s: compiled by the driver; its record is not compared\n", name);
        return;
    }
    same(name, "registers", r.registers, attribute(function, XG_CU_FUNC_ATTRIBUTE_NUM_REGS));
    same(name, "shared memory", r.shared_bytes,
         attribute(function, XG_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    same(name, "local memory", r.local_bytes,
         attribute(function, XG_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    same(name, "constant memory", r.constant_bytes,
         attribute(function, XG_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
}

static void compare_clusters(const char *name, xg_cu_function function,
                             const xgemm_occupancy_info *info)
{
    launch_attribute size = {.id = ATTRIBUTE_CLUSTER_DIMENSION};
    size.value.dimension[0] = (unsigned)info->cluster;
    size.value.dimension[1] = size.value.dimension[2] = 1;
    const launch_config launch = {
        .grid = {8u * 9 * 5 * 7, 1, 1},
        .block = {(unsigned)(info->threads / info->blocks), 1, 1},
        .attributes = &size,
        .attribute_count = 1,
    };
    int clusters = 0;
    if (!cu.clusters || cu.clusters(&clusters, function, &launch))
        return;
    clusters_compared++;
    if (clusters > info->clusters) {
        fprintf(stderr, "%s: %d clusters of %d blocks, bound %d\n", name, clusters, info->cluster,
                info->clusters);
        failures++;
    }
}

static void compare_blocks(const char *name, const xgemm_device *device, xg_cu_function function,
                           int threads, int dynamic)
{
    xgemm_occupancy_info info = {.struct_size = sizeof info};
    const int registers = attribute(function, XG_CU_FUNC_ATTRIBUTE_NUM_REGS);
    const int fixed = attribute(function, XG_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    int blocks = -1;
    if (cu.change(function, ATTRIBUTE_MAX_DYNAMIC_SHARED, dynamic) ||
        cu.blocks(&blocks, function, threads, (size_t)dynamic) ||
        xgemm_occupancy(device, threads, registers, fixed + dynamic, 0, &info)) {
        fprintf(stderr, "%s: %d threads, %d bytes: no occupancy\n", name, threads, dynamic);
        failures++;
        return;
    }
    compared++;
    if (blocks != info.blocks) {
        fprintf(stderr, "%s: %d threads, %d registers, %d bytes: %d blocks, of the driver %d\n",
                name, threads, registers, fixed + dynamic, info.blocks, blocks);
        failures++;
    }
    for (int cluster = 2; dynamic == 0 && info.blocks > 0 && cluster <= 8; cluster *= 2)
        if (xgemm_occupancy(device, threads, registers, fixed, cluster, &info) == XGEMM_OK)
            compare_clusters(name, function, &info);
}

static void compare_kernel(const char *name, const xgemm_device *device, xg_cu_function function)
{
    const int fixed = attribute(function, XG_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    const int most = attribute(function, XG_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    compare_record(name, device, function);
    for (int threads = 32; threads <= most; threads += 32)
        for (int i = 0; i < DYNAMIC_SIZES; i++) {
            const int64_t room = device->shared_per_block - fixed;
            const int idle = i % 2 ? i : 0;
            compare_blocks(name, device, function, threads - idle,
                           (int)(room * i * i / ((DYNAMIC_SIZES - 1) * (DYNAMIC_SIZES - 1))));
        }
}

/* False when the kernel is in none of the families' folders. */
static bool load_and_compare(const char *folder, const char *name, const xgemm_device *device)
{
    char id[64], path[512], symbol[80];
    xg_cu_module module;
    xg_cu_function function;
    snprintf(id, sizeof id, "%s", name);
    for (char *at = id; (at = strchr(at, '-'));)
        *at = '_';
    snprintf(path, sizeof path, "%s/*/%s.fatbin", folder, id);
    snprintf(symbol, sizeof symbol, "xg_%s", id);
    glob_t found;
    char *image = glob(path, 0, NULL, &found) ? NULL : read_file(found.gl_pathv[0]);
    globfree(&found);
    if (!image)
        return false;
    if (cu.load(&module, image) == 0) {
        if (cu.function(&function, module, symbol) == 0)
            compare_kernel(name, device, function);
        cu.unload(module);
    }
    free(image);
    return true;
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("XGEMM_TEST_DEVICE");
    xgemm_device device = {.struct_size = sizeof device};
    if (!wanted || *wanted < '0' || *wanted > '9' || !open_driver(atoi(wanted)) ||
        xgemm_device_get(atoi(wanted), &device)) {
        puts("skipped: XGEMM_TEST_DEVICE names no GPU that is there");
        return SKIPPED;
    }
    for (int i = 0; i < xgemm_kernel_count(); i++) {
        xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
        if (xgemm_kernel_get(i, &kernel) || !(kernel.devices & XGEMM_RUNS_ON_CUDA))
            continue;
        /* One that is a choice among several programs has no image of its own. */
        if (!load_and_compare(argc > 1 ? argv[1] : "lib/families", kernel.name, &device))
            printf("no compiled kernel %s\n", kernel.name);
    }
    if (compared == 0 && failures == 0) {
        puts("skipped: there are no compiled kernels");
        return SKIPPED;
    }
    printf("%s: %d configurations and %d of clusters compared, %d differ\n", device.name, compared,
           clusters_compared, failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
