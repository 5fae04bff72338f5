/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of sm90_*.cu: their sizes, and which mistake each makes. */
#ifndef XGEMM_TESTS_SM90_KERNELS_H
#define XGEMM_TESTS_SM90_KERNELS_H

enum { TILE = 128, DEPTH = 64, UNIT_BYTES = TILE * DEPTH * 2, STAGE_BYTES = 2 * UNIT_BYTES };
enum { STAGES = 3, SHARED_BYTES = STAGES * (STAGE_BYTES + 16) };

/* A pipeline of tiles of A and B, which are added. */
enum { SUM_WIDTH = 32, SUM_ROWS = 4, SUM_STAGES = 2, SUM_THREADS = 64 };
enum { SUM_BYTES = SUM_WIDTH * SUM_ROWS * 4 };

/* Tiles of 16-bit elements that are stored. */
enum { BOX_WIDTH = 64, BOX_ROWS = 16, BOX_BYTES = BOX_WIDTH * BOX_ROWS * 2 };

#define XG_SM90_KERNELS(X)                                                                         \
    X(right, RIGHT)                                                                                \
    X(no_full_wait, NO_FULL_WAIT)                                                                  \
    X(no_empty_wait, NO_EMPTY_WAIT)                                                                \
    X(no_expect, NO_EXPECT)                                                                        \
    X(wrong_bytes, WRONG_BYTES)                                                                    \
    X(odd_bytes, ODD_BYTES)                                                                        \
    X(wrong_mask, WRONG_MASK)                                                                      \
    X(wrong_full_parity, WRONG_FULL_PARITY)                                                        \
    X(wrong_empty_parity, WRONG_EMPTY_PARITY)                                                      \
    X(few_arrivals, FEW_ARRIVALS)                                                                  \
    X(early_release, EARLY_RELEASE)                                                                \
    X(no_release, NO_RELEASE)                                                                      \
    X(misaligned, MISALIGNED)                                                                      \
    X(different_operands, DIFFERENT_OPERANDS)                                                      \
    X(absent_thread, ABSENT_THREAD)                                                                \
    X(leaving_thread, LEAVING_THREAD)                                                              \
    X(left_over, LEFT_OVER)                                                                        \
    X(no_product_wait, NO_PRODUCT_WAIT)                                                            \
    X(no_product_fence, NO_PRODUCT_FENCE)                                                          \
    X(no_init_fence, NO_INIT_FENCE)                                                                \
    X(no_first_join, NO_FIRST_JOIN)                                                                \
    X(no_last_join, NO_LAST_JOIN)

#define XG_SM90_MISTAKE(name, mistake) mistake,
enum {
    XG_SM90_KERNELS(XG_SM90_MISTAKE) WRONG_SWIZZLE,
    ACCUMULATORS_TOO_EARLY,
    NO_ASYNC_FENCE,
    NO_STORE_BARRIER,
    BETWEEN,
    BF16, /* no mistake */
    DIFFERENT_TYPES
};

/* The smaller ones: name, body, mistake. */
#define XG_SM90_OTHERS(X)                                                                          \
    X(wide, xg_multiply_wide, RIGHT)                                                               \
    X(wrong_swizzle, xg_multiply_wide, WRONG_SWIZZLE)                                              \
    X(accumulators_too_early, xg_multiply_wide, ACCUMULATORS_TOO_EARLY)                            \
    X(in_turns, xg_multiply_in_turns, RIGHT)                                                       \
    X(turns_too_early, xg_multiply_in_turns, NO_PRODUCT_WAIT)                                      \
    X(stored, xg_multiply_stored, RIGHT)                                                           \
    X(stored_bf16, xg_multiply_stored, BF16)                                                       \
    X(different_types, xg_multiply_stored, DIFFERENT_TYPES)                                        \
    X(no_async_fence, xg_multiply_stored, NO_ASYNC_FENCE)                                          \
    X(no_store_barrier, xg_multiply_stored, NO_STORE_BARRIER)                                      \
    X(handed, xg_hand_over, RIGHT)                                                                 \
    X(handed_early, xg_hand_over, EARLY_RELEASE)                                                   \
    X(overwritten, xg_hand_over, NO_EMPTY_WAIT)                                                    \
    X(taken_early, xg_hand_over, NO_FULL_WAIT)                                                     \
    X(mirrored, xg_mirror_rows, RIGHT)                                                             \
    X(mirrored_early, xg_mirror_rows, NO_FULL_WAIT)                                                \
    X(mirrored_over, xg_mirror_rows, NO_EMPTY_WAIT)                                                \
    X(neighbour, xg_read_neighbour, RIGHT)                                                         \
    X(read_too_early, xg_read_neighbour, NO_FIRST_JOIN)                                            \
    X(leave_too_early, xg_read_neighbour, NO_LAST_JOIN)                                            \
    X(in_turn, xg_wait_in_turn, RIGHT)                                                             \
    X(out_of_turn, xg_wait_in_turn, NO_FIRST_JOIN)                                                 \
    X(tiles, xg_add_tiles, RIGHT)                                                                  \
    X(tiles_misaligned, xg_add_tiles, MISALIGNED)                                                  \
    X(tiles_between, xg_add_tiles, BETWEEN)                                                        \
    X(tiles_without_wait, xg_add_tiles, NO_FULL_WAIT)                                              \
    X(tiles_overwritten, xg_add_tiles, NO_EMPTY_WAIT)                                              \
    X(tiles_few_bytes, xg_add_tiles, WRONG_BYTES)                                                  \
    X(stores, xg_store_tiles, RIGHT)                                                               \
    X(stores_misaligned, xg_store_tiles, MISALIGNED)                                               \
    X(stores_overwritten, xg_store_tiles, NO_EMPTY_WAIT)                                           \
    X(stores_unfenced, xg_store_tiles, NO_ASYNC_FENCE)                                             \
    X(stores_unsynchronised, xg_store_tiles, NO_STORE_BARRIER)                                     \
    X(stores_left, xg_store_tiles, NO_LAST_JOIN)                                                   \
    X(wrong_call, xg_call_wrongly, RIGHT)                                                          \
    X(no_static, xg_use_static, 0)                                                                 \
    X(static_memory, xg_use_static, 1)

/* The wrong calls of sm90_wrong_calls.cu. */
enum {
    CALL_WAIT_UNINITIALIZED,
    CALL_INIT_TWICE,
    CALL_INIT_NO_ARRIVALS,
    CALL_ARRIVE_MISALIGNED,
    CALL_ARRIVE_AT_ABSENT_RANK,
    CALL_EXPECT_TOO_MANY_BYTES,
    CALL_WAIT_PARITY_2,
    CALL_ARRIVE_OUTSIDE_SHARED,
    CALL_CLUSTER_WAIT_FIRST,
    CALL_CLUSTER_ARRIVE_TWICE,
    CALL_COPY_PAST_SHARED,
    CALL_COPY_MISALIGNED,
    CALL_COPY_FEWER_BYTES,
    CALL_COPY_UNEXPECTED,
    CALL_CLUSTER_LOAD_MISALIGNED,
    CALL_SETMAXNREG_TOO_FEW,
    CALL_SETMAXNREG_DIVERGENT,
    CALL_SHARED_ADDRESS_OF_LOCAL,
    CALL_WGMMA_NO_WAIT,
    CALL_WGMMA_OUTSIDE_SHARED,
    CALL_OVERWRITE_BARRIER,
    CALL_CLUSTER_STORE_NO_CLUSTER,
    CALL_NAMED_BARRIER_0,
    CALL_NAMED_BARRIER_PART_WARP,
    CALL_NAMED_BARRIER_TWO_COUNTS,
    CALL_NAMED_BARRIER_TOO_FEW,
    CALL_TMA_NO_MAP,
};

#endif
