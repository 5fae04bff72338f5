/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of kernels, from the textbook's first to the fastest. A new kernel
 * is one file in its family's folder, its name in lib.am's KERNELS, and one
 * PROGRAM and one row here.
 */
#include "kernels.h"

#include "families/tensor/fp16_layout.h"
#include "families/host/host.h"

#include <stdio.h>
#include <string.h>

#if XGEMM_WITH_CUDA
#define IMAGE(id) xg_fatbin_##id
#else
#define IMAGE(id) NULL
#endif

#if XGEMM_WITH_SM90A
#define IMAGE_SM90(id) xg_fatbin_##id
#else
#define IMAGE_SM90(id) NULL
#endif

#if XGEMM_WITH_TRACE
#define TRACED(id) xg_traced_##id
#else
#define TRACED(id) NULL
#endif
#if XGEMM_WITH_CBLAS
#define HOST_BLAS xg_host_blas
#else
#define HOST_BLAS NULL
#endif

#define PROGRAMS(X)                                                                                \
    X(naive)                                                                                       \
    X(coalesced)                                                                                   \
    X(tiled16)                                                                                     \
    X(tiled32)                                                                                     \
    X(padded)                                                                                      \
    X(tiled16_colmajor)                                                                            \
    X(corner_turned)                                                                               \
    X(coarsened)                                                                                   \
    X(register_tiled_1d)                                                                           \
    X(register_tiled_2d)                                                                           \
    X(vectorized)                                                                                  \
    X(pipelined_128x128)                                                                           \
    X(pipelined_64x128)                                                                            \
    X(pipelined_32x64)                                                                             \
    X(pipelined_words_32x64)                                                                       \
    X(pipelined_words_64x128)                                                                      \
    X(sliced_64x128)                                                                               \
    X(sliced_64x64)                                                                                \
    X(sliced_96x96)                                                                                \
    X(sliced_32x64)                                                                                \
    X(sliced_64x32)                                                                                \
    X(sliced_32x32)                                                                                \
    X(sliced_16x128)                                                                               \
    X(sliced_128x16)                                                                               \
    X(sliced_16x64)                                                                                \
    X(sliced_64x16)                                                                                \
    X(thin_64x128)                                                                                 \
    X(thin_64x64)                                                                                  \
    X(thin_64x64_8x4)                                                                              \
    X(thin_32x32)                                                                                  \
    X(thin_fours_64x64)                                                                            \
    X(thin_fours_64x64_a)                                                                          \
    X(thin_fours_64x64_b)                                                                          \
    X(thin_fours_64x64_ab)                                                                         \
    X(bf16x6_64x64)                                                                                \
    X(bf16x6_128x128)                                                                              \
    X(bf16x6_128x16)                                                                               \
    X(bf16x6_16x128)                                                                               \
    X(pack)                                                                                        \
    X(skinny1_lines)                                                                               \
    X(skinny1_across)                                                                              \
    X(skinny2)                                                                                     \
    X(skinny4)                                                                                     \
    X(skinny8)                                                                                     \
    X(skinny16)                                                                                    \
    X(reduce)                                                                                      \
    X(pad)                                                                                         \
    X(unpad)                                                                                       \
    X(scale)                                                                                       \
    X(probe_copy)                                                                                  \
    X(probe_lines)                                                                                 \
    X(probe_pairs_float)                                                                           \
    X(probe_pairs_double)                                                                          \
    X(probe_parts_float)                                                                           \
    X(probe_parts_double)                                                                          \
    X(probe_banks)                                                                                 \
    X(probe_powers_shared)                                                                         \
    X(probe_powers_global)                                                                         \
    X(probe_empty)

/* For compute capability 9.0 alone. */
#define PROGRAMS_SM90(X)                                                                           \
    X(fp16_split)                                                                                  \
    X(fp16_split_even)                                                                             \
    X(fp16_split_strips)                                                                           \
    X(fp16_vectors)                                                                                \
    X(tma_128x128)                                                                                 \
    X(tma_sliced_64x128)                                                                           \
    X(tma_sliced_64x128_a)                                                                         \
    X(tma_sliced_64x64)                                                                            \
    X(tma_sliced_64x64_a)                                                                          \
    X(fp16x1_128x128)                                                                              \
    X(fp16x1_128x256)                                                                              \
    X(fp16x3_128x64)                                                                               \
    X(fp16x3_128x128)                                                                              \
    X(fp16x3_128x256)

enum {
#define INDEX(id) INDEX_##id,
    PROGRAMS(INDEX) PROGRAMS_SM90(INDEX)
#undef INDEX
        INDEX_host
};
_Static_assert((int)INDEX_host < (int)XG_PROGRAMS_MAX, "there are more programs than numbers");

#define DEVICE_PROGRAM(id)                                                                         \
    extern const unsigned char xg_fatbin_##id[];                                                   \
    extern void xg_simulated_##id(const void *), xg_traced_##id(const void *);                     \
    const xg_program xg_program_##id = {.symbol = "xg_" #id,                                       \
                                        .image = IMAGE(id),                                        \
                                        .simulated = xg_simulated_##id,                            \
                                        .traced = TRACED(id),                                      \
                                        .index = INDEX_##id};
PROGRAMS(DEVICE_PROGRAM)

#define DEVICE_PROGRAM_SM90(id)                                                                    \
    extern const unsigned char xg_fatbin_##id[];                                                   \
    extern void xg_simulated_##id(const void *), xg_traced_##id(const void *);                     \
    const xg_program xg_program_##id = {.symbol = "xg_" #id,                                       \
                                        .image = IMAGE_SM90(id),                                   \
                                        .simulated = xg_simulated_##id,                            \
                                        .traced = TRACED(id),                                      \
                                        .index = INDEX_##id,                                       \
                                        .architecture = 90};
PROGRAMS_SM90(DEVICE_PROGRAM_SM90)

static const xg_program reference = {
    .symbol = "reference", .host = xg_host_reference, .index = INDEX_host};
static const xg_program blas = {.symbol = "blas", .host = HOST_BLAS, .index = INDEX_host};
const xg_program xg_program_scale_host = {
    .symbol = "scale", .host = xg_host_scale, .index = INDEX_host};

#define FLOATS(n) ((n) * (int)sizeof(float))
/* So many stages, each so deep in k, of A's and B's tiles, whose lines are four floats longer. */
#define STAGES(stages, depth, m, n) FLOATS((stages) * (depth) * ((m) + 4 + (n) + 4))
#define PIPELINE(m, n)              STAGES(4, 16, m, n)
/* Units of A and B, two barriers for each, two and one more, and the notes: fp16_product.inc. */
#define FP16_RINGS(parts, a, b, wide, columns)                                                     \
    ((parts) * ((a)*16384 + (b) * (wide)*128) + ((a) + (b) + 2) * 16 +                             \
     FLOATS(128 + 2 * (columns)) + XG_NOTES_BYTES)
/* Of each slice so many stages without gaps and their barriers; and what is worked on: tma.inc. */
#define TMA(slices, stages, depth, m, n)                                                           \
    ((slices) * (FLOATS((stages) * (depth) * ((m) + (n))) + 128) + 32)
/* With the tile's place. */
#define SLICED(stages, depth, m, n) (STAGES(stages, depth, m, n) + 24)
/* 32 of k, in lines along k that are 4 longer, or along x 8; and twice the parts. */
#define BF16_ROOM(size) ((size)*36 > 32 * ((size) + 8) ? (size)*36 : 32 * ((size) + 8))
#define BF16(stages, m, n)                                                                         \
    (FLOATS((stages) * (BF16_ROOM(m) + BF16_ROOM(n))) + FLOATS(2 * 48 * ((m) + (n))))
/* Three stages, one of longer lines, and what so many threads keep: thin_fours.inc. */
#define THIN_FOURS(depth, m, n, threads)                                                           \
    (FLOATS((depth) * (3 * ((m) + (n)) + 8)) + 2 * 16 * (threads))
#define TILE_FLOP_PER_BYTE(m, n) ((double)(m) * (n) / (2.0 * ((m) + (n))))

/* name, summary, program, tile m n k, block x y, shared bytes, OP/B, steps */
static const xg_kernel kernels[] = {
    {"naive", "one thread an element, neighbours down a column: nothing coalesces",
     &xg_program_naive, 32, 8, 1, 32, 8, 0, 0.25, XG_PACKS_NONE, xg_steps_single, 0, 0, false,
     false},
    {"coalesced", "one thread an element, neighbours along a row", &xg_program_coalesced, 32, 32, 1,
     32, 32, 0, 0.25, XG_PACKS_NONE, xg_steps_rows_on_x, 0, 0, false, false},
    {"tiled16", "tiles of 16 x 16 in shared memory", &xg_program_tiled16, 16, 16, 16, 16, 16,
     FLOATS(2 * 16 * 16), TILE_FLOP_PER_BYTE(16, 16), XG_PACKS_NONE, xg_steps_single, 0, 0, false,
     false},
    {"tiled32", "tiles of 32 x 32 in shared memory", &xg_program_tiled32, 32, 32, 32, 32, 32,
     FLOATS(2 * 32 * 32), TILE_FLOP_PER_BYTE(32, 32), XG_PACKS_NONE, xg_steps_single, 0, 0, false,
     false},
    {"padded", "matrices copied and padded with zeros, then no boundary checks", &xg_program_padded,
     32, 32, 32, 32, 32, FLOATS(2 * 32 * 32), TILE_FLOP_PER_BYTE(32, 32), XG_PACKS_NONE,
     xg_steps_padded, 0, 0, false, false},
    {"tiled16-colmajor", "tiles of 16, a column-major B read across its columns: uncoalesced",
     &xg_program_tiled16_colmajor, 16, 16, 16, 16, 16, FLOATS(2 * 16 * 16),
     TILE_FLOP_PER_BYTE(16, 16), XG_PACKS_NONE, xg_steps_single, 0, 0, false, false},
    {"corner-turned",
     "tiles of 16, a column-major B read down its columns and turned in shared "
     "memory",
     &xg_program_corner_turned, 16, 16, 16, 16, 16, FLOATS(16 * 16 + 16 * 18),
     TILE_FLOP_PER_BYTE(16, 16), XG_PACKS_NONE, xg_steps_single, 0, 0, false, false},
    {"coarsened", "tiles of 32, four elements a thread share a tile of B", &xg_program_coarsened,
     128, 32, 32, 32, 32, FLOATS(5 * 32 * 32), TILE_FLOP_PER_BYTE(128, 32), XG_PACKS_NONE,
     xg_steps_single, 0, 0, false, false},
    {"register-tiled-1d", "64 x 64 x 8, a column of 8 results a thread",
     &xg_program_register_tiled_1d, 64, 64, 8, 512, 1, FLOATS(2 * 2 * 8 * 68),
     TILE_FLOP_PER_BYTE(64, 64), XG_PACKS_NONE, xg_steps_single, 0, 0, false, false},
    {"register-tiled-2d", "128 x 128 x 16, 8 x 8 results a thread", &xg_program_register_tiled_2d,
     128, 128, 16, 256, 1, FLOATS(2 * 2 * 16 * 130), TILE_FLOP_PER_BYTE(128, 128), XG_PACKS_NONE,
     xg_steps_single, 0, 0, false, false},
    {"vectorized", "128 x 128 x 16, 8 x 8 results a thread, accesses of 16 bytes",
     &xg_program_vectorized, 128, 128, 16, 256, 1, FLOATS(2 * 2 * 16 * 132),
     TILE_FLOP_PER_BYTE(128, 128), XG_PACKS_NONE, xg_steps_single, 0, 0, false, false},
    {"pipelined-128x128",
     "128 x 128 x 16 in four stages copied in the background, 8 x 8 results a thread",
     &xg_program_pipelined_128x128, 128, 128, 16, 256, 1, PIPELINE(128, 128),
     TILE_FLOP_PER_BYTE(128, 128), XG_PACKS_UNLESS_ACROSS, xg_steps_pipelined, 0, 0, false, false},
    {"pipelined-64x128", "the same with tiles of 64 x 128", &xg_program_pipelined_64x128, 64, 128,
     16, 128, 1, PIPELINE(64, 128), TILE_FLOP_PER_BYTE(64, 128), XG_PACKS_UNLESS_ACROSS,
     xg_steps_pipelined, 0, 0, false, false},
    {"pipelined-32x64", "the same with tiles of 32 x 64, 4 x 4 results a thread",
     &xg_program_pipelined_32x64, 32, 64, 16, 128, 1, PIPELINE(32, 64), TILE_FLOP_PER_BYTE(32, 64),
     XG_PACKS_UNLESS_ACROSS, xg_steps_pipelined, 0, 0, false, false},
    {"pipelined-words-32x64", "the same for operands that lie anyhow, copied word by word",
     &xg_program_pipelined_words_32x64, 32, 64, 16, 128, 1, SLICED(4, 16, 32, 64),
     TILE_FLOP_PER_BYTE(32, 64), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, false, false},
    {"pipelined-words-64x128", "the same with tiles of 64 x 128, 8 x 8 results a thread",
     &xg_program_pipelined_words_64x128, 64, 128, 16, 128, 1, SLICED(4, 16, 64, 128),
     TILE_FLOP_PER_BYTE(64, 128), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, false, false},
    {"tma-128x128",
     "128 x 128 x 24 that the copy engine brings (TMA); the last tiles shared by all blocks",
     &xg_program_tma_128x128, 128, 128, 24, 256, 1, TMA(1, 4, 24, 128, 128),
     TILE_FLOP_PER_BYTE(128, 128), XG_PACKS_UNLESS_ACROSS, xg_steps_pipelined, 0, 0, false, true},
    {"tma-sliced-64x128",
     "the same with tiles of 64 x 128, shared by 4 groups of warps, each with a part of k",
     &xg_program_tma_sliced_64x128, 64, 128, 24, 512, 1, TMA(4, 3, 24, 64, 128),
     TILE_FLOP_PER_BYTE(64, 128), XG_PACKS_UNLESS_A_ALONG, xg_steps_pipelined, 0, 0, false, true},
    {"tma-sliced-64x64", "the same with tiles of 64 x 64 x 16, 8 groups of warps",
     &xg_program_tma_sliced_64x64, 64, 64, 16, 512, 1, TMA(8, 3, 16, 64, 64),
     TILE_FLOP_PER_BYTE(64, 64), XG_PACKS_UNLESS_A_ALONG, xg_steps_pipelined, 0, 0, false, true},
    {"sliced-64x128",
     "64 x 128, 8 x 8 results a thread; 4 groups of warps share the tile, each with a part of k",
     &xg_program_sliced_64x128, 64, 128, 64, 512, 1, SLICED(3, 64, 64, 128),
     TILE_FLOP_PER_BYTE(64, 128), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"sliced-64x64", "the same with tiles of 64 x 64, 4 groups of warps, 8 x 8 results a thread",
     &xg_program_sliced_64x64, 64, 64, 64, 256, 1, SLICED(3, 64, 64, 64),
     TILE_FLOP_PER_BYTE(64, 64), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"sliced-96x96", "the same with tiles of 96 x 96, 4 groups of warps, 12 x 8 results a thread",
     &xg_program_sliced_96x96, 96, 96, 64, 384, 1, SLICED(3, 64, 96, 96),
     TILE_FLOP_PER_BYTE(96, 96), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"sliced-32x64", "the same with tiles of 32 x 64, 4 groups of warps, 8 x 8 results a thread",
     &xg_program_sliced_32x64, 32, 64, 32, 128, 1, SLICED(4, 32, 32, 64),
     TILE_FLOP_PER_BYTE(32, 64), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"sliced-64x32", "the same with tiles of 64 x 32, 4 groups of warps, 8 x 8 results a thread",
     &xg_program_sliced_64x32, 64, 32, 32, 128, 1, SLICED(4, 32, 64, 32),
     TILE_FLOP_PER_BYTE(64, 32), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"sliced-32x32", "the same with tiles of 32 x 32, 4 groups of warps, 8 x 4 results a thread",
     &xg_program_sliced_32x32, 32, 32, 32, 128, 1, SLICED(4, 32, 32, 32),
     TILE_FLOP_PER_BYTE(32, 32), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"sliced-16x128", "the same with tiles of 16 x 128, 4 groups of warps, 8 x 8 results a thread",
     &xg_program_sliced_16x128, 16, 128, 32, 128, 1, SLICED(4, 32, 16, 128),
     TILE_FLOP_PER_BYTE(16, 128), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"sliced-128x16", "the same with tiles of 128 x 16, 4 groups of warps, 8 x 8 results a thread",
     &xg_program_sliced_128x16, 128, 16, 32, 128, 1, SLICED(4, 32, 128, 16),
     TILE_FLOP_PER_BYTE(128, 16), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"sliced-16x64", "the same with tiles of 16 x 64, 8 groups of warps, 4 x 8 results a thread",
     &xg_program_sliced_16x64, 16, 64, 64, 256, 1, SLICED(4, 64, 16, 64),
     TILE_FLOP_PER_BYTE(16, 64), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"sliced-64x16", "the same with tiles of 64 x 16, 8 groups of warps, 8 x 4 results a thread",
     &xg_program_sliced_64x16, 64, 16, 64, 256, 1, SLICED(4, 64, 64, 16),
     TILE_FLOP_PER_BYTE(64, 16), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, true, false},
    {"thin-64x128", "64 x 128, 16 x 4 results a thread; 64 of k asked for at once, for a short k",
     &xg_program_thin_64x128, 64, 128, 32, 128, 1, STAGES(2, 32, 64, 128),
     TILE_FLOP_PER_BYTE(64, 128), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, false, false},
    {"thin-64x64", "the same with tiles of 64 x 64; 48 of k asked for at once",
     &xg_program_thin_64x64, 64, 64, 16, 64, 1, STAGES(3, 16, 64, 64), TILE_FLOP_PER_BYTE(64, 64),
     XG_PACKS_NONE, xg_steps_pipelined, 0, 0, false, false},
    {"thin-64x64-8x4",
     "the same by twice the threads, 8 x 4 results each; 64 of k asked for at once",
     &xg_program_thin_64x64_8x4, 64, 64, 32, 128, 1, STAGES(2, 32, 64, 64),
     TILE_FLOP_PER_BYTE(64, 64), XG_PACKS_NONE, xg_steps_pipelined, 0, 0, false, false},
    {"thin-32x32", "the same with tiles of 32 x 32, 8 x 4 results a thread; 32 of k asked for",
     &xg_program_thin_32x32, 32, 32, 16, 32, 1, STAGES(2, 16, 32, 32), TILE_FLOP_PER_BYTE(32, 32),
     XG_PACKS_NONE, xg_steps_pipelined, 0, 0, false, false},
    {"thin-fours-64x64",
     "64 x 64, 8 x 8 results a thread, for operands that come in fours; 48 of k asked for at once",
     &xg_program_thin_fours_64x64, 64, 64, 16, 64, 1, THIN_FOURS(16, 64, 64, 64),
     TILE_FLOP_PER_BYTE(64, 64), XG_PACKS_UNLESS_FOURS, xg_steps_pipelined, 0, 0, false, false},
    {"skinny", "a short side of C against many lines, as in matrix times vector: at memory's speed",
     &xg_program_skinny16, 16, 32, 4, 512, 1, FLOATS(2 * 16 * (256 + 4)),
     TILE_FLOP_PER_BYTE(16, 32), XG_PACKS_NONE, xg_steps_skinny, 0, 0, false, false},
    {"bf16x6-64x64",
     "FP32's accuracy from six products of BF16 parts on tensor cores, split on the way",
     &xg_program_bf16x6_64x64, 64, 64, 32, 128, 1, BF16(3, 64, 64), TILE_FLOP_PER_BYTE(64, 64),
     XG_PACKS_NONE, xg_steps_pipelined, 2, 0, false, false},
    {"bf16x6-128x128", "the same with tiles of 128 x 128", &xg_program_bf16x6_128x128, 128, 128, 32,
     256, 1, BF16(3, 128, 128), TILE_FLOP_PER_BYTE(128, 128), XG_PACKS_NONE, xg_steps_pipelined, 2,
     0, false, false},
    {"bf16x6-128x16", "the same with tiles of 128 x 16", &xg_program_bf16x6_128x16, 128, 16, 32,
     256, 1, BF16(2, 128, 16), TILE_FLOP_PER_BYTE(128, 16), XG_PACKS_NONE, xg_steps_pipelined, 2, 0,
     false, false},
    {"bf16x6-16x128", "the same with tiles of 16 x 128", &xg_program_bf16x6_16x128, 16, 128, 32,
     256, 1, BF16(2, 16, 128), TILE_FLOP_PER_BYTE(16, 128), XG_PACKS_NONE, xg_steps_pipelined, 2, 0,
     false, false},
    {"fp16x3-128x64", "FP32's accuracy from three products of FP16 parts on tensor cores",
     &xg_program_fp16x3_128x64, 128, 64, 64, 512, 1, FP16_RINGS(2, 4, 4, 64, 64), 21.3,
     XG_PACKS_NONE, xg_steps_fp16, 2, 0, false, false},
    {"fp16x3-128x128", "the same with tiles of 128 x 128", &xg_program_fp16x3_128x128, 128, 128, 64,
     512, 1, FP16_RINGS(2, 3, 3, 128, 128), 32.0, XG_PACKS_NONE, xg_steps_fp16, 2, 0, false, false},
    {"fp16x3-128x256", "the same with tiles of 128 x 256, pairs of blocks sharing B",
     &xg_program_fp16x3_128x256, 128, 256, 64, 512, 1, FP16_RINGS(2, 3, 4, 128, 256) + XG_LATE_NOTES_BYTES,
     64.0, XG_PACKS_NONE, xg_steps_fp16, 2, 2, false, false},
    {"fp16x1-128x128", "TF32's accuracy from FP16 on tensor cores", &xg_program_fp16x1_128x128, 128,
     128, 64, 512, 1, FP16_RINGS(1, 6, 6, 128, 128), 64.0, XG_PACKS_NONE, xg_steps_fp16, 1, 0,
     false, false},
    {"fp16x1-128x256", "the same with tiles of 128 x 256, pairs of blocks sharing B",
     &xg_program_fp16x1_128x256, 128, 256, 64, 384, 1, FP16_RINGS(1, 4, 4, 256, 256), 128.0,
     XG_PACKS_NONE, xg_steps_fp16, 1, 2, false, false},
    {"reference", "plain C on the CPU, sums in double precision", &reference, 0, 0, 0, 0, 0, 0, 0.0,
     XG_PACKS_NONE, xg_steps_host, 0, 0, false, false},
    {"blas", "the CPU's BLAS, through CBLAS", &blas, 0, 0, 0, 0, 0, 0, 0.0, XG_PACKS_NONE,
     xg_steps_host, 0, 0, false, false},
};

/* The programs of kernels that read operands along k, too: by whether A lies so, and whether B. */
static const xg_program *const programs_along[][2][2] = {
    {{&xg_program_thin_fours_64x64, &xg_program_thin_fours_64x64_b},
     {&xg_program_thin_fours_64x64_a, &xg_program_thin_fours_64x64_ab}},
    {{&xg_program_tma_sliced_64x128, NULL}, {&xg_program_tma_sliced_64x128_a, NULL}},
    {{&xg_program_tma_sliced_64x64, NULL}, {&xg_program_tma_sliced_64x64_a, NULL}},
};

const xg_program *xg_kernel_program(const xg_kernel *kernel, const xg_args *problem)
{
    for (size_t i = 0; i < sizeof programs_along / sizeof *programs_along; i++)
        if (programs_along[i][0][0] == kernel->program)
            return programs_along[i][problem->a_stride_m != 1][problem->b_stride_n != 1];
    return kernel->program;
}

bool xg_kernel_serves(const xg_kernel *kernel, xgemm_math math)
{
    return kernel->parts == 0 || math == XGEMM_MATH_TF32 ||
           (math == XGEMM_MATH_DEFAULT && kernel->parts == 2);
}

xgemm_status xg_kernel_check_math(const xg_kernel *kernel, xgemm_math math, xg_error *error)
{
    if (xg_kernel_serves(kernel, math))
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                   "kernel %s multiplies on tensor cores, which math mode %s does not allow",
                   kernel->name,
                   math == XGEMM_MATH_STRICT ? "XGEMM_MATH_STRICT" : "XGEMM_MATH_DEFAULT");
}

int xg_kernel_count(void)
{
    return (int)(sizeof kernels / sizeof *kernels);
}

const xg_kernel *xg_kernel_at(int index)
{
    return &kernels[index];
}

const xg_kernel *xg_kernel_named(const char *name)
{
    for (int i = 0; i < xg_kernel_count(); i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

xgemm_status xg_kernel_unknown(const char *name, const xg_backend *backend, xg_error *error)
{
    char known[768];
    size_t used = (size_t)snprintf(known, sizeof known, "auto");
    for (int i = 0; i < xg_kernel_count() && used < sizeof known; i++)
        if (backend->can_run(kernels[i].program))
            used += (size_t)snprintf(known + used, sizeof known - used, ", %s", kernels[i].name);
    return xg_fail(error, XGEMM_ERROR_UNKNOWN_KERNEL,
                   "there is no kernel \"%.64s\"; on this device there are %s", name, known);
}

int xgemm_kernel_count(void)
{
    return xg_kernel_count();
}

static unsigned runs_on(const xg_program *program)
{
    return (xg_backend_cuda.can_run(program) ? XGEMM_RUNS_ON_CUDA : 0u) |
           (xg_backend_sim.can_run(program) ? XGEMM_RUNS_ON_SIM : 0u) |
           (xg_backend_cpu.can_run(program) ? XGEMM_RUNS_ON_CPU : 0u);
}

static xgemm_status get(int index, xgemm_kernel_info *info, xg_error *error)
{
    if (!info)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "info is NULL");
    const xgemm_status status = xg_size_check(info->struct_size, "xgemm_kernel_info", error);
    if (status)
        return status;
    if (index < 0 || index >= xg_kernel_count())
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "index is %d; there are %d kernels", index,
                       xg_kernel_count());

    const xg_kernel *kernel = &kernels[index];
    const xgemm_kernel_info all = {
        .struct_size = info->struct_size,
        .name = kernel->name,
        .summary = kernel->summary,
        .devices = runs_on(kernel->program),
        .tile_m = kernel->tile_m,
        .tile_n = kernel->tile_n,
        .tile_k = kernel->tile_k,
        .threads = kernel->block_x * kernel->block_y,
        .shared_bytes = kernel->shared_bytes,
        .flop_per_byte = kernel->flop_per_byte,
        .math = kernel->parts == 0   ? XGEMM_MATH_STRICT
                : kernel->parts == 1 ? XGEMM_MATH_TF32
                                     : XGEMM_MATH_DEFAULT,
        .compute_capability = kernel->program->architecture,
    };
    memcpy(info, &all, info->struct_size < sizeof all ? info->struct_size : sizeof all);
    return XGEMM_OK;
}

xgemm_status xgemm_kernel_get(int index, xgemm_kernel_info *info)
{
    const xgemm_status status = get(index, info, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), "xgemm_kernel_get");
    return status;
}
