/* SPDX-License-Identifier: BSD-3-Clause */
#include "wgmma_operand.h"

#include "running.h"
#include "scheduler.h"
#include "shared_memory.h"
#include "sm90_shim.h"
#include "trace_events.h"

#include <stddef.h>
#include <string.h>

enum { LINE_BYTES = 128, GROUP_BYTES = 8 * LINE_BYTES, UNIT = 8 /* elements of 16 bytes */ };

/* Byte offsets between groups of eight lines, and between blocks of 64 rows of an MN-major one. */
typedef struct {
    unsigned address, group_bytes, next_rows_bytes;
} layout;

static layout decode(uint64_t descriptor)
{
    return (layout){.address = (unsigned)(descriptor & 0x3fff) << 4,
                    .group_bytes = (unsigned)(descriptor >> 32 & 0x3fff) << 4,
                    .next_rows_bytes = (unsigned)(descriptor >> 16 & 0x3fff) << 4};
}

void xg_sim_operand_check(const xg_sim_operand *operand, const xg_sim_location *here)
{
    const uint64_t descriptor = operand->descriptor;
    const layout of = decode(descriptor);
    const uint64_t used = 0x3fffull | 0x3fffull << 16 | 0x3fffull << 32 | 7ull << 49 | 3ull << 62;
    const unsigned after = of.address % GROUP_BYTES;
    if (descriptor & ~used || descriptor >> 49 & 7)
        xg_sim_fail_at(here, "has an operand whose descriptor 0x%016llx has bits that are not 0",
                       (unsigned long long)descriptor);
    if (descriptor >> 62 != 1)
        xg_sim_fail_at(here,
                       "has an operand with swizzle mode %u; the simulator knows mode 1, of "
                       "128 bytes",
                       (unsigned)(descriptor >> 62));
    if (operand->mn_major && after != 0)
        xg_sim_fail_at(here, "has an MN-major operand at 0x%x; it must begin at a multiple of %d",
                       of.address, GROUP_BYTES);
    if (after % 32 != 0 || after >= LINE_BYTES)
        xg_sim_fail_at(
            here,
            "has an operand at 0x%x; it must begin at a multiple of 1024, or 32, 64 or 96 "
            "bytes after it",
            of.address);
}

/* The 16-byte units of an operand: 8 neighbours along its major dimension, from there on. */
static int units_of(const xg_sim_operand *operand)
{
    return operand->rows * XG_SIM_OPERAND_DEPTH / UNIT;
}

static int row_of(const xg_sim_operand *operand, int unit)
{
    return operand->mn_major ? unit / XG_SIM_OPERAND_DEPTH * UNIT
                             : unit / (XG_SIM_OPERAND_DEPTH / UNIT);
}

static int k_of(const xg_sim_operand *operand, int unit)
{
    return operand->mn_major ? unit % XG_SIM_OPERAND_DEPTH
                             : unit % (XG_SIM_OPERAND_DEPTH / UNIT) * UNIT;
}

/* Where a unit is: the swizzle is of the address's bits. */
static unsigned address_of(const xg_sim_operand *operand, const layout *of, int unit)
{
    enum { BLOCK_ROWS = 64 };
    const unsigned row = (unsigned)row_of(operand, unit), k = (unsigned)k_of(operand, unit);
    const unsigned line = operand->mn_major ? k : row;
    const unsigned inside = operand->mn_major ? row % BLOCK_ROWS : k;
    const unsigned block = operand->mn_major ? row / BLOCK_ROWS : 0;
    const unsigned plain = of->address + block * of->next_rows_bytes + line / 8 * of->group_bytes +
                           line % 8 * LINE_BYTES + inside * 2;
    return plain ^ (plain >> 7 & 7) << 4;
}

bool xg_sim_operand_reads(const xg_sim_operand *operand, unsigned address, unsigned bytes)
{
    const layout of = decode(operand->descriptor);
    for (int unit = 0; unit < units_of(operand); unit++)
        if (address_of(operand, &of, unit) - address < bytes)
            return true;
    return false;
}

/* Copies in flight to what is read. */
static void check_copies(const xg_sim_operand *operand, const layout *of, int rank,
                         const xg_sim_location *here)
{
    for (int unit = 0; unit < units_of(operand); unit++) {
        const unsigned address = address_of(operand, of, unit);
        if (xg_sim_is_written(rank, address, 2 * UNIT))
            xg_sim_fail_at(
                here, "multiplies what a bulk copy has not brought yet: 16 bytes at 0x%x", address);
    }
}

/* Whether any copy is in flight to the memory that the operand lies in. */
static bool is_copied_to(const xg_sim_operand *operand, const layout *of, int rank)
{
    const unsigned lines = operand->mn_major ? XG_SIM_OPERAND_DEPTH : (unsigned)operand->rows;
    const unsigned blocks = operand->mn_major ? ((unsigned)operand->rows + 63) / 64 : 1;
    const unsigned span =
        (blocks - 1) * of->next_rows_bytes + (lines / 8 - 1) * of->group_bytes + GROUP_BYTES;
    return xg_sim_is_written(rank, of->address / LINE_BYTES * LINE_BYTES, span);
}

/* The numbers of FP16, so that each is converted once. */
static float halves[1 << 16];

static void fill_halves(void)
{
    const unsigned last = 0xffff;
    for (unsigned half = 0; halves[last] == 0.0f && half <= last; half++)
        halves[half] = xg_sim_half_value(half);
}

static float value_of(uint16_t bits, bool bf16)
{
    const uint32_t as_float = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &as_float, sizeof value);
    return bf16 ? value : halves[bits];
}

/* The 16 bytes of a unit, which a copy is to have brought. */
static void load_unit(const xg_sim_operand *operand, const layout *of, int unit, void *to, int rank,
                      const xg_sim_location *here)
{
    const unsigned address = address_of(operand, of, unit);
    const void *from = xg_sim_shared_at(rank, address, 2 * UNIT);
    if (!from)
        xg_sim_fail_at(here,
                       "multiplies what is outside the dynamic shared memory: 16 bytes at 0x%x",
                       address);
    if (xg_sim_is_traced())
        xg_trace_model_reads(from, 2 * UNIT, XG_TRACE_WGMMA, here);
    memcpy(to, from, 2 * UNIT);
}

void xg_sim_operand_load(const xg_sim_operand *operand, float *to, int row_step, int k_step,
                         int rank, bool bf16, const xg_sim_location *here)
{
    const layout of = decode(operand->descriptor);
    const int step = operand->mn_major ? row_step : k_step;
    fill_halves();
    if (is_copied_to(operand, &of, rank))
        check_copies(operand, &of, rank, here);
    for (int unit = 0; unit < units_of(operand); unit++) {
        float *const first = to + row_of(operand, unit) * row_step + k_of(operand, unit) * k_step;
        uint16_t values[UNIT];
        load_unit(operand, &of, unit, values, rank, here);
        for (int i = 0; i < UNIT; i++)
            first[i * step] = value_of(values[i], bf16);
    }
}

void xg_sim_operand_load_s8(const xg_sim_operand *operand, int8_t *to, int rank,
                            const xg_sim_location *here)
{
    const layout of = decode(operand->descriptor);
    if (is_copied_to(operand, &of, rank))
        check_copies(operand, &of, rank, here);
    for (int unit = 0; unit < units_of(operand); unit++)
        load_unit(operand, &of, unit, to + (ptrdiff_t)unit * 2 * UNIT, rank, here);
}
