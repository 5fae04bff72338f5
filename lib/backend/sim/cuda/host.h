/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA runtime for host code beside a kernel: it compiles, and never runs. */
#ifndef XGEMM_CUDA_HOST_H
#define XGEMM_CUDA_HOST_H

typedef enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNotReady = 600,
    cudaErrorUnknown = 999
} cudaError_t;
typedef cudaError_t cudaError;
typedef enum {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
} cudaMemcpyKind;
typedef enum {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
} cudaFuncAttribute;
typedef enum {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
} cudaFuncCache;
typedef enum {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte
} cudaSharedMemConfig;
typedef enum {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10
} cudaDeviceAttr;
typedef struct xg_stream *cudaStream_t;
typedef struct xg_event *cudaEvent_t;
enum {
    cudaStreamDefault = 0,
    cudaStreamNonBlocking = 1,
    cudaEventDefault = 0,
    cudaEventDisableTiming = 2,
    cudaMemAttachGlobal = 1,
    cudaHostAllocDefault = 0,
    cudaHostAllocMapped = 2,
    cudaCpuDeviceId = -1
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, memPitch,
        sharedMemPerMultiprocessor, totalConstMem;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, memoryClockRate;
    int memoryBusWidth, l2CacheSize, regsPerMultiprocessor, integrated, canMapHostMemory;
    int concurrentKernels, asyncEngineCount, unifiedAddressing, managedMemory;
};

#define XG_HOST(name)                                                                              \
    template <class... A> static inline cudaError_t name(A &&...)                                  \
    {                                                                                              \
        return cudaSuccess;                                                                        \
    }
/* With the type of what is allocated named, as some do. */
#define XG_HOST_OF(name)                                                                           \
    template <class T, class... A> static inline cudaError_t name(T **, A &&...)                   \
    {                                                                                              \
        return cudaSuccess;                                                                        \
    }
XG_HOST_OF(cudaMalloc)
XG_HOST_OF(cudaMallocManaged)
XG_HOST_OF(cudaMallocHost)
XG_HOST_OF(cudaHostAlloc)
XG_HOST_OF(cudaMallocPitch)
XG_HOST_OF(cudaMallocAsync)
XG_HOST(cudaFree)
XG_HOST(cudaFreeHost)
XG_HOST(cudaFreeAsync)
XG_HOST(cudaMemcpy)
XG_HOST(cudaMemcpyAsync)
XG_HOST(cudaMemcpy2D)
XG_HOST(cudaMemcpyToSymbol)
XG_HOST(cudaMemcpyToSymbolAsync)
XG_HOST(cudaMemcpyFromSymbol)
XG_HOST(cudaGetSymbolAddress)
XG_HOST(cudaMemset)
XG_HOST(cudaMemsetAsync)
XG_HOST(cudaMemGetInfo)
XG_HOST(cudaMemPrefetchAsync)
XG_HOST(cudaMemAdvise)
XG_HOST(cudaHostRegister)
XG_HOST(cudaHostUnregister)
XG_HOST(cudaHostGetDevicePointer)
XG_HOST(cudaGetLastError)
XG_HOST(cudaPeekAtLastError)
XG_HOST(cudaDeviceSynchronize)
XG_HOST(cudaThreadSynchronize)
XG_HOST(cudaDeviceReset)
XG_HOST(cudaSetDevice)
XG_HOST(cudaGetDevice)
XG_HOST(cudaGetDeviceCount)
XG_HOST(cudaGetDeviceProperties)
XG_HOST(cudaDeviceGetAttribute)
XG_HOST(cudaDeviceSetLimit)
XG_HOST(cudaDeviceSetCacheConfig)
XG_HOST(cudaDeviceSetSharedMemConfig)
XG_HOST(cudaDriverGetVersion)
XG_HOST(cudaRuntimeGetVersion)
XG_HOST(cudaStreamCreate)
XG_HOST(cudaStreamCreateWithFlags)
XG_HOST(cudaStreamDestroy)
XG_HOST(cudaStreamSynchronize)
XG_HOST(cudaStreamWaitEvent)
XG_HOST(cudaEventCreate)
XG_HOST(cudaEventCreateWithFlags)
XG_HOST(cudaEventRecord)
XG_HOST(cudaEventQuery)
XG_HOST(cudaEventSynchronize)
XG_HOST(cudaEventElapsedTime)
XG_HOST(cudaEventDestroy)
XG_HOST(cudaFuncSetAttribute)
XG_HOST(cudaFuncSetCacheConfig)
XG_HOST(cudaFuncSetSharedMemConfig)
XG_HOST(cudaFuncGetAttributes)
XG_HOST(cudaLaunchKernel)
XG_HOST(cudaLaunchCooperativeKernel)
XG_HOST(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
XG_HOST(cudaOccupancyMaxPotentialBlockSize)
XG_HOST(cudaProfilerStart)
XG_HOST(cudaProfilerStop)
static inline const char *cudaGetErrorString(cudaError_t)
{
    return "";
}
static inline const char *cudaGetErrorName(cudaError_t)
{
    return "";
}

#endif
