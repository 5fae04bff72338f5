/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_fields.h"

#include <stdio.h>
#include <stdlib.h>

const device_field_row device_fields[FIELDS] = {
    [DEVICE] = {{"device_id", -9}, "device", ""},
    [NAME] = {{"name", -32}, "name", ""},
    [CAPABILITY] = {{"compute_capability", 18}, "compute capability", ""},
    [MULTIPROCESSORS] = {{"multiprocessors", 15}, "multiprocessors", ""},
    [MEMORY] = {{"memory_gib", 10}, "memory", "GiB"},
    [CORE_CLOCK] = {{"core_clock_mhz", 14}, "core clock, peak", "MHz"},
    [MEMORY_CLOCK] = {{"memory_clock_mhz", 16}, "memory clock, peak", "MHz"},
    [FP32] = {{"peak_fp32_gflops", 16}, "FP32 peak, CUDA cores", "GFLOP/s"},
    [BANDWIDTH] = {{"peak_bandwidth_gbs", 18}, "memory bandwidth, peak", "GB/s"},
    [DETAIL] = {{"detail", -1}, "detail", ""},
    [BALANCE] = {{"balance_flop_per_byte", 21}, "balance, FP32 / bandwidth", "OP/B"},
    [TF32] = {{"peak_tf32_gflops", 16}, "TF32 peak, tensor cores", "GFLOP/s"},
    [FP16] = {{"peak_fp16_gflops", 16}, "FP16 peak, sums in FP32", "GFLOP/s"},
    [BF16] = {{"peak_bf16_gflops", 16}, "BF16 peak, sums in FP32", "GFLOP/s"},
    [FP64] = {{"peak_fp64_gflops", 16}, "FP64 peak, CUDA cores", "GFLOP/s"},
    [FP64_TENSOR] = {{"peak_fp64_tensor_gflops", 23}, "FP64 peak, tensor cores", "GFLOP/s"},
    [BUS] = {{"memory_bus_bits", 15}, "memory bus", "bits"},
    [L2] = {{"l2_mib", 6}, "L2 cache", "MiB"},
    [LANES] = {{"fp32_lanes", 10}, "FP32 units in an SM", ""},
    [SM_THREADS] = {{"threads_per_sm", 14}, "threads in an SM", ""},
    [SM_WARPS] = {{"warps_per_sm", 12}, "warps in an SM", ""},
    [SM_BLOCKS] = {{"blocks_per_sm", 13}, "blocks in an SM", ""},
    [SM_REGISTERS] = {{"registers_per_sm", 16}, "registers in an SM", "of 32 bits"},
    [SM_SHARED] = {{"shared_per_sm", 13}, "shared memory in an SM", "bytes"},
    [BLOCK_THREADS] = {{"threads_per_block", 17}, "threads in a block", ""},
    [BLOCK_REGISTERS] = {{"registers_per_block", 19}, "registers in a block", "of 32 bits"},
    [BLOCK_SHARED] = {{"shared_per_block", 16}, "shared memory in a block", "bytes, opted in to"},
    [BLOCK_STATIC] = {{"shared_per_block_static", 23}, "  without opting in", "bytes"},
    [BLOCK_RESERVED] = {{"shared_reserved", 15}, "  taken by the system", "bytes"},
    [THREAD_REGISTERS] = {{"registers_per_thread", 20}, "registers in a thread", "of 32 bits"},
    [REGISTER_GRANULE] = {{"register_granule", 16}, "registers, in multiples of", "a warp"},
    [WARP_GRANULE] = {{"warp_granule", 12}, "warps, in multiples of", "a block"},
    [SHARED_GRANULE] = {{"shared_granule", 14}, "shared, in multiples of", "bytes a block"},
    [CLUSTER] = {{"cluster_blocks", 14}, "blocks in a cluster", ""},
    [LIMITS_FROM] = {{"limits_from", 11}, "granules: those of", "(compute capability)"},
    [SOURCE] = {{"source", -1}, "source", ""},
    [PCI_ADDRESS] = {{"pci_address", -12}, "PCI address", ""},
    [UUID] = {{"uuid", -40}, "UUID", ""},
    [ECC] = {{"ecc", -3}, "ECC of the memory", ""},
    [MIG] = {{"mig", -3}, "instance of a divided GPU", "(MIG)"},
    [NUMA_NODE] = {{"numa_node", 9}, "NUMA node of the host", ""},
};

cell known(double value, int digits)
{
    return value > 0.0 ? cell_real(value, digits) : cell_none();
}

/* Of a GPU, where 0 is a number like others; the CPU and the simulator have none. */
static cell of_gpu(const xgemm_device *d, int64_t value)
{
    return d->compute_capability ? cell_integer(value) : cell_none();
}

cell capability_cell(char text[CAPABILITY_TEXT], int capability)
{
    snprintf(text, CAPABILITY_TEXT, "%d.%d", capability / 10, capability % 10);
    return capability ? cell_text(text) : cell_none();
}

static void describe_what(description *to, const xgemm_device *d)
{
    cell *c = to->cells;
    snprintf(to->device, sizeof to->device, "%d", d->ordinal);
    c[DEVICE] = d->ordinal == XGEMM_DEVICE_CATALOG ? cell_none()
                : d->ordinal == XGEMM_DEVICE_CPU   ? cell_text("cpu")
                : d->ordinal == XGEMM_DEVICE_SIM   ? cell_text("sim")
                                                   : cell_text(to->device);
    c[NAME] = cell_text(d->name);
    c[DETAIL] = *d->detail ? cell_text(d->detail) : cell_none();
    c[SOURCE] = *d->source ? cell_text(d->source) : cell_none();
    c[CAPABILITY] = capability_cell(to->capability, d->compute_capability);
    c[LIMITS_FROM] = capability_cell(to->limits_from, d->limits_from);
}

/* 1 and -1; 0 is unknown. */
static cell yes_or_no(int value, const char *yes, const char *no)
{
    return value ? cell_text(value > 0 ? yes : no) : cell_none();
}

static void describe_identity(cell *c, const xgemm_device *d)
{
    c[PCI_ADDRESS] = *d->pci_address ? cell_text(d->pci_address) : cell_none();
    c[UUID] = *d->uuid ? cell_text(d->uuid) : cell_none();
    c[ECC] = yes_or_no(d->ecc, "on", "off");
    c[MIG] = yes_or_no(d->mig, "yes", "no");
    c[NUMA_NODE] = d->numa_node >= 0 ? cell_integer(d->numa_node) : cell_none();
}

static void describe_speed(cell *c, const xgemm_device *d)
{
    c[MULTIPROCESSORS] = d->multiprocessors ? cell_integer(d->multiprocessors) : cell_none();
    c[MEMORY] = known((double)d->memory_bytes / (1 << 30), 1);
    c[L2] = known((double)d->l2_bytes / (1 << 20), 1);
    c[BUS] = d->memory_bus_bits ? cell_integer(d->memory_bus_bits) : cell_none();
    c[CORE_CLOCK] = known(d->core_clock_mhz, 0);
    c[MEMORY_CLOCK] = known(d->memory_clock_mhz, 0);
    c[FP32] = known(d->peak_fp32_gflops, 0);
    c[FP64] = known(d->peak_fp64_gflops, 0);
    c[FP64_TENSOR] = known(d->peak_fp64_tensor_gflops, 0);
    c[TF32] = known(d->peak_tf32_gflops, 0);
    c[FP16] = known(d->peak_fp16_gflops, 0);
    c[BF16] = known(d->peak_bf16_gflops, 0);
    c[BANDWIDTH] = known(d->peak_bandwidth_gbs, 0);
    c[BALANCE] = known(d->balance_flop_per_byte, 1);
}

static void describe_limits(cell *c, const xgemm_device *d)
{
    c[LANES] = d->fp32_lanes ? cell_integer(d->fp32_lanes) : cell_none();
    c[SM_THREADS] = of_gpu(d, d->threads_per_sm);
    c[SM_WARPS] = of_gpu(d, d->warps_per_sm);
    c[SM_BLOCKS] = of_gpu(d, d->blocks_per_sm);
    c[SM_REGISTERS] = of_gpu(d, d->registers_per_sm);
    c[SM_SHARED] = of_gpu(d, d->shared_per_sm);
    c[BLOCK_THREADS] = d->threads_per_block ? cell_integer(d->threads_per_block) : cell_none();
    c[BLOCK_REGISTERS] = of_gpu(d, d->registers_per_block);
    c[BLOCK_SHARED] = of_gpu(d, d->shared_per_block);
    c[BLOCK_STATIC] = of_gpu(d, d->shared_per_block_static);
    c[BLOCK_RESERVED] = of_gpu(d, d->shared_reserved);
    c[THREAD_REGISTERS] = of_gpu(d, d->registers_per_thread);
    c[REGISTER_GRANULE] = of_gpu(d, d->register_granule);
    c[WARP_GRANULE] = of_gpu(d, d->warp_granule);
    c[SHARED_GRANULE] = of_gpu(d, d->shared_granule);
    c[CLUSTER] = of_gpu(d, d->cluster_blocks);
}

void describe_device(description *to, const xgemm_device *device)
{
    describe_what(to, device);
    describe_speed(to->cells, device);
    describe_limits(to->cells, device);
    describe_identity(to->cells, device);
}

void device_add(json_t *facts, const char *key, const xgemm_device *device)
{
    description all;
    json_t *object = json_object();
    describe_device(&all, device);
    for (int i = 0; i < FIELDS; i++)
        json_object_set_new(object, device_fields[i].column.key, report_value(&all.cells[i]));
    json_object_set_new(facts, key, object);
}

void device_add_ordinal(json_t *facts, int ordinal)
{
    xgemm_device device = {.struct_size = sizeof device};
    const xgemm_status status = xgemm_device_get(ordinal, &device);
    if (status == XGEMM_ERROR_OUT_OF_MEMORY) { /* as of jansson's */
        fprintf(stderr, "xgemm: %s\n", xgemm_last_error(NULL));
        exit(STATUS_FAILED);
    }
    if (status)
        json_object_set_new(facts, "device", json_null());
    else
        device_add(facts, "device", &device);
}
