/* SPDX-License-Identifier: BSD-3-Clause */
/* Occupancy against the calculator of an installed CUDA toolkit. */
#include "occupancies.h"

#include "support.h"

#include <cuda_occupancy.h>
#include <stdio.h>

static cudaOccDeviceProp properties_of(const xg_limits *limits)
{
    const cudaOccDeviceProp properties = {
        .computeMajor = limits->compute_capability / 10,
        .computeMinor = limits->compute_capability % 10,
        .maxThreadsPerBlock = 1024,
        .maxThreadsPerMultiprocessor = limits->threads_per_sm,
        .regsPerBlock = limits->registers_per_sm,
        .regsPerMultiprocessor = limits->registers_per_sm,
        .warpSize = 32,
        .sharedMemPerBlock = 48 * 1024,
        .sharedMemPerMultiprocessor = (size_t)limits->shared_per_sm,
        .numSms = 1,
        .sharedMemPerBlockOptin = (size_t)limits->shared_per_block,
        .reservedSharedMemPerBlock = (size_t)limits->shared_reserved,
    };
    return properties;
}

static unsigned limiters_of(unsigned toolkits)
{
    return (toolkits & OCC_LIMIT_WARPS ? XGEMM_LIMITED_BY_WARPS : 0u) |
           (toolkits & OCC_LIMIT_BLOCKS ? XGEMM_LIMITED_BY_BLOCKS : 0u) |
           (toolkits & OCC_LIMIT_REGISTERS ? XGEMM_LIMITED_BY_REGISTERS : 0u) |
           (toolkits & OCC_LIMIT_SHARED_MEMORY ? XGEMM_LIMITED_BY_SHARED : 0u);
}

/* False when the header does not know the compute capability. */
static bool agrees(const xg_limits *limits, const xgemm_device *device, int threads, int registers,
                   int shared)
{
    const cudaOccDeviceProp properties = properties_of(limits);
    const cudaOccFuncAttributes function = {.maxThreadsPerBlock = 1024,
                                            .numRegs = registers,
                                            .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                                            .maxDynamicSharedSizeBytes = (size_t)shared,
                                            .numBlockBarriers = 1};
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccResult theirs = {0};
    const cudaOccError status = cudaOccMaxActiveBlocksPerMultiprocessor(
        &theirs, &properties, &function, &state, threads, (size_t)shared);
    if (status == CUDA_OCC_ERROR_UNKNOWN_DEVICE)
        return false;
    ck_assert_int_eq(status, CUDA_OCC_SUCCESS);
    const xgemm_occupancy_info ours = occupancy(device, threads, registers, shared, 0);
    ck_assert_msg(ours.blocks == theirs.activeBlocksPerMultiprocessor &&
                      ours.blocks_by_warps == theirs.blockLimitWarps &&
                      ours.blocks_by_slots == theirs.blockLimitBlocks &&
                      ours.blocks_by_registers == theirs.blockLimitRegs &&
                      ours.blocks_by_shared == theirs.blockLimitSharedMem &&
                      ours.registers_allocated == theirs.allocatedRegistersPerBlock &&
                      (size_t)ours.shared_allocated == theirs.allocatedSharedMemPerBlock &&
                      ours.limiters == limiters_of(theirs.limitingFactors),
                  "sm_%d, %d threads, %d registers, %d bytes: %d blocks (warps %d, slots %d, "
                  "registers %d, shared %d), the toolkit: %d (%d, %d, %d, %d)",
                  limits->compute_capability, threads, registers, shared, ours.blocks,
                  ours.blocks_by_warps, ours.blocks_by_slots, ours.blocks_by_registers,
                  ours.blocks_by_shared, theirs.activeBlocksPerMultiprocessor,
                  theirs.blockLimitWarps, theirs.blockLimitBlocks, theirs.blockLimitRegs,
                  theirs.blockLimitSharedMem);
    return true;
}

/* Every number of registers with every number of warps, full and not, at shared memory by
 * chance; and all granules of shared memory. */
START_TEST(agrees_with_the_toolkit)
{
    const xg_limits *limits = xg_limits_at(_i);
    const xgemm_device device = device_of(limits->compute_capability);
    generator random = {(uint64_t)limits->compute_capability};
    int compared = 0;
    for (int warps = 1; warps <= 32; warps++)
        for (int registers = 0; registers <= 255; registers++)
            for (int i = 0; i < 14; i++) {
                const int idle = i % 2 ? random_below(&random, 32) : 0;
                const int shared = i < 2 ? 0 : random_below(&random, limits->shared_per_block + 1);
                compared += agrees(limits, &device, warps * 32 - idle, registers, shared);
            }
    for (int shared = 0; shared <= limits->shared_per_block; shared += 64)
        for (int more = -1; more <= 1; more++)
            if (shared + more >= 0 && shared + more <= limits->shared_per_block)
                compared +=
                    agrees(limits, &device, 1 + random_below(&random, 128), 0, shared + more);
    printf("sm_%d: %d configurations\n", limits->compute_capability, compared);
    fflush(stdout);
    /* A toolkit need not know a GPU that is younger, or that it has dropped. */
    ck_assert(compared == 0 || compared >= 100000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("occupancy, the toolkit's");
    tcase_add_loop_test(add_case(suite, "calculator"), agrees_with_the_toolkit, 0, known_limits());
    return run_anywhere(suite);
}
