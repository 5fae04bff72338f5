/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA driver, opened at run time: our own declarations of what we call,
 * so that neither building nor loading the library needs CUDA. They match
 * cuda.h (a test compares them where cuda.h is installed). Names are the
 * suffixed ones: without suffix a name means the oldest version of a function.
 */
#ifndef XGEMM_CUDA_DRIVER_H
#define XGEMM_CUDA_DRIVER_H

#include "base/error.h"
#include "constants.h"

typedef unsigned xg_cu_result;
typedef int xg_cu_device;
typedef struct CUctx_st *xg_cu_context;
typedef struct CUmod_st *xg_cu_module;
typedef struct CUlib_st *xg_cu_library;
typedef struct CUfunc_st *xg_cu_function;
typedef struct CUstream_st *xg_cu_stream;
typedef struct CUevent_st *xg_cu_event;
typedef unsigned long long xg_cu_pointer;

/* A CUtensorMap, which the driver alone can read. */
typedef struct {
    uint64_t opaque[16];
} __attribute__((aligned(128))) xg_cu_tensor_map;

/* X(member, symbol, parameters) */
#define XG_CU_FUNCTIONS(X)                                                                         \
    X(init, cuInit, (unsigned flags))                                                              \
    X(version, cuDriverGetVersion, (int *version))                                                 \
    X(error_name, cuGetErrorName, (xg_cu_result, const char **))                                   \
    X(error_string, cuGetErrorString, (xg_cu_result, const char **))                               \
    X(device_count, cuDeviceGetCount, (int *))                                                     \
    X(device_get, cuDeviceGet, (xg_cu_device *, int ordinal))                                      \
    X(device_name, cuDeviceGetName, (char *, int length, xg_cu_device))                            \
    X(device_attribute, cuDeviceGetAttribute, (int *, unsigned attribute, xg_cu_device))           \
    X(device_memory, cuDeviceTotalMem_v2, (size_t *, xg_cu_device))                                \
    X(context_retain, cuDevicePrimaryCtxRetain, (xg_cu_context *, xg_cu_device))                   \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (xg_cu_device))                               \
    X(context_current, cuCtxGetCurrent, (xg_cu_context *))                                         \
    X(context_set, cuCtxSetCurrent, (xg_cu_context))                                               \
    X(context_push, cuCtxPushCurrent_v2, (xg_cu_context))                                          \
    X(context_pop, cuCtxPopCurrent_v2, (xg_cu_context *))                                          \
    X(context_wait, cuCtxSynchronize, (void))                                                      \
    X(capture_mode, cuThreadExchangeStreamCaptureMode, (unsigned *mode))                           \
    X(module_load, cuModuleLoadData, (xg_cu_module *, const void *image))                          \
    X(module_unload, cuModuleUnload, (xg_cu_module))                                               \
    X(module_function, cuModuleGetFunction, (xg_cu_function *, xg_cu_module, const char *name))    \
    X(function_attribute, cuFuncGetAttribute, (int *, unsigned attribute, xg_cu_function))         \
    X(function_set, cuFuncSetAttribute, (xg_cu_function, unsigned attribute, int value))           \
    X(memory_allocate, cuMemAlloc_v2, (xg_cu_pointer *, size_t bytes))                             \
    X(memory_free, cuMemFree_v2, (xg_cu_pointer))                                                  \
    X(memory_allocate_pinned, cuMemAllocHost_v2, (void **, size_t bytes))                          \
    X(memory_free_pinned, cuMemFreeHost, (void *))                                                 \
    X(memory_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t * total))                         \
    X(upload, cuMemcpyHtoDAsync_v2, (xg_cu_pointer, const void *, size_t bytes, xg_cu_stream))     \
    X(download, cuMemcpyDtoHAsync_v2, (void *, xg_cu_pointer, size_t bytes, xg_cu_stream))         \
    X(stream_wait, cuStreamSynchronize, (xg_cu_stream))                                            \
    X(event_create, cuEventCreate, (xg_cu_event *, unsigned flags))                                \
    X(event_destroy, cuEventDestroy_v2, (xg_cu_event))                                             \
    X(event_record, cuEventRecord, (xg_cu_event, xg_cu_stream))                                    \
    X(event_wait, cuEventSynchronize, (xg_cu_event))                                               \
    X(event_elapsed, cuEventElapsedTime, (float *ms, xg_cu_event from, xg_cu_event to))            \
    X(launch, cuLaunchKernel,                                                                      \
      (xg_cu_function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,        \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, xg_cu_stream, void **arguments,  \
       void **extra))

/* What a launch may say of itself. */
typedef struct {
    unsigned id;
    union {
        char room[64];
        unsigned cluster[3];
        int allowed;
    } value __attribute__((aligned(8)));
} xg_cu_attribute;

typedef struct {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    xg_cu_stream stream;
    xg_cu_attribute *attributes;
    unsigned count;
} xg_cu_launch_config;

/* Physical memory, how it is allocated, and who may read and write it where it is mapped. */
typedef unsigned long long xg_cu_physical;

typedef struct {
    int allocation_type, handle_types;
    int location_type, location;
    void *metadata;
    unsigned char flags[8];
} xg_cu_allocation;

typedef struct {
    int location_type, location;
    int access;
} xg_cu_access;

/* Rows of one memory and another, of which memory of the host or of the device is used. */
typedef struct {
    size_t source_x, source_y;
    int source_type;
    const void *source_host;
    xg_cu_pointer source;
    void *source_array;
    size_t source_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    xg_cu_pointer to;
    void *to_array;
    size_t to_pitch;
    size_t width, height; /* bytes, rows */
} xg_cu_copy_2d;

enum { XG_CU_MEMORY_OF_HOST = 1, XG_CU_MEMORY_OF_DEVICE = 2 };
enum { XG_CU_POINTER_MEMORY_TYPE = 2 };

/* What only newer drivers have, or what can be done without: NULL where it is missing. A UUID is 16
 * bytes. */
#define XG_CU_NEWER_FUNCTIONS(X)                                                                   \
    X(device_pci, cuDeviceGetPCIBusId, (char *, int length, xg_cu_device))                         \
    X(device_uuid, cuDeviceGetUuid_v2, (unsigned char *uuid, xg_cu_device))                        \
    X(copy_2d, cuMemcpy2DAsync_v2, (const xg_cu_copy_2d *, xg_cu_stream))                          \
    X(pointer_attribute, cuPointerGetAttribute, (void *, unsigned attribute, xg_cu_pointer))       \
    X(library_load, cuLibraryLoadData,                                                             \
      (xg_cu_library *, const void *image, void *options, void **values, unsigned count,           \
       void *library_options, void **library_values, unsigned library_count))                      \
    X(library_module, cuLibraryGetModule, (xg_cu_module *, xg_cu_library))                         \
    X(library_unload, cuLibraryUnload, (xg_cu_library))                                            \
    X(stream_is_captured, cuStreamIsCapturing, (xg_cu_stream, int *status))                        \
    X(launch_with, cuLaunchKernelEx,                                                               \
      (const xg_cu_launch_config *, xg_cu_function, void **arguments, void **extra))               \
    X(encode_tiled, cuTensorMapEncodeTiled,                                                        \
      (xg_cu_tensor_map *, unsigned type, unsigned rank, void *base, const uint64_t *sizes,        \
       const uint64_t *byte_steps, const unsigned *tile, const unsigned *element_steps,            \
       unsigned interleave, unsigned swizzle, unsigned l2_promotion, unsigned fill))               \
    X(address_reserve, cuMemAddressReserve,                                                        \
      (xg_cu_pointer *, size_t bytes, size_t alignment, xg_cu_pointer at,                          \
       unsigned long long flags))                                                                  \
    X(address_free, cuMemAddressFree, (xg_cu_pointer, size_t bytes))                               \
    X(physical_granularity, cuMemGetAllocationGranularity,                                         \
      (size_t *, const xg_cu_allocation *, unsigned option))                                       \
    X(physical_create, cuMemCreate,                                                                \
      (xg_cu_physical *, size_t bytes, const xg_cu_allocation *, unsigned long long flags))        \
    X(physical_release, cuMemRelease, (xg_cu_physical))                                            \
    X(map, cuMemMap,                                                                               \
      (xg_cu_pointer, size_t bytes, size_t offset, xg_cu_physical, unsigned long long flags))      \
    X(unmap, cuMemUnmap, (xg_cu_pointer, size_t bytes))                                            \
    X(map_access, cuMemSetAccess, (xg_cu_pointer, size_t bytes, const xg_cu_access *, size_t count))

typedef struct {
#define XG_CU_MEMBER(member, symbol, parameters) xg_cu_result(*member) parameters;
    XG_CU_FUNCTIONS(XG_CU_MEMBER)
    XG_CU_NEWER_FUNCTIONS(XG_CU_MEMBER)
#undef XG_CU_MEMBER
    int driver_version; /* 1000 * major + 10 * minor */
} xg_cu;

/* Tokens of streams: CU_STREAM_LEGACY, CU_STREAM_PER_THREAD. */
enum { XG_CU_STREAM_LEGACY = 1, XG_CU_STREAM_PER_THREAD = 2 };

/* CTAs of a cluster that CUDA promises to every function; larger ones a function must be allowed.
 */
enum { XG_CU_PORTABLE_CLUSTER = 8 };

/* The oldest driver that has every function: CUDA 11.0. */
enum { XG_CU_OLDEST = 11000 };

/* The oldest that captures programmatic dependent launches into a graph: CUDA 12.3. */
enum { XG_CU_PDL_CAPTURE = 12030 };

/*
 * Opens libcuda.so.1 and initialises it; once for the process (a failure is
 * tried again by the next call). Any thread may call.
 */
xgemm_status xg_cu_open(const xg_cu **driver, xg_error *error);

/* In a child of fork(). */
void xg_cu_driver_after_fork(void);

/* As a failure that the driver finds no GPU, and what may be done about it. */
xgemm_status xg_cu_no_device(xg_error *error);

/*
 * A driver's result other than 0 as a failure: "function failed: CUDA_ERROR_X (text)", and what may
 * be done about it.
 */
xgemm_status xg_cu_fail(const xg_cu *driver, xg_cu_result result, const char *function,
                        xg_error *error);

/*
 * Between these two a first call's allocations and loads may stand inside a
 * graph capture of any thread. The second takes what the first gave.
 */
unsigned xg_cu_relax_capture(const xg_cu *driver);
void xg_cu_restore_capture(const xg_cu *driver, unsigned mode);

/* The device of an ordinal. Only where the driver says so is there none; a failure is one. */
xgemm_status xg_cu_find_device(const xg_cu *driver, int ordinal, xg_cu_device *device,
                               xg_error *error);

#endif
