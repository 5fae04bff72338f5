/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interleaved DRAM: consecutive bursts go to consecutive channels, and when all
 * channels have had one, to the next bank. Which of them the blocks of a tiled
 * product touch when each loads its first tile of A.
 */
#include "explain_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    bool *touched; /* channels * banks */
    int channels, banks;
} picture;

static void touch(picture *seen, const dram_shape *dram, int64_t byte)
{
    const int64_t burst = byte / dram->bytes;
    const int channel = (int)(burst % dram->channels);
    const int bank = (int)(burst / dram->channels % dram->banks);
    seen->touched[channel * dram->banks + bank] = true;
}

/* Every block row loads its rows of A's first columns. */
static void touch_first_tiles(const explain_request *r, picture *seen)
{
    const workload *p = &r->work;
    const bool by_rows = (p->order == XGEMM_ROW_MAJOR) == (p->transa == XGEMM_NO_TRANS);
    const int64_t tile = r->dram.tile ? r->dram.tile : r->info.tile_k;
    const int64_t depth = tile < p->size.k ? tile : p->size.k;
    for (int64_t row = 0; row < p->size.m; row++)
        for (int64_t l = 0; l < depth; l++)
            touch(seen, &r->dram,
                  (by_rows ? row * p->lda + l : l * p->lda + row) * (int64_t)type_bytes(p->type));
}

static void print(const explain_request *r, const picture *seen)
{
    int channels = 0;
    printf("\nDRAM of %d channel%s x %d bank%s, %d bytes in turn: phase 0 of A's tiles touches\n",
           seen->channels, plural(seen->channels), seen->banks, plural(seen->banks), r->dram.bytes);
    for (int channel = 0; channel < seen->channels; channel++) {
        bool any = false;
        printf("  channel %d:", channel);
        for (int bank = 0; bank < seen->banks; bank++) {
            printf(" %s", seen->touched[channel * seen->banks + bank] ? "#" : ".");
            any = any || seen->touched[channel * seen->banks + bank];
        }
        printf("\n");
        channels += any;
    }
    printf("  %d of %d channel%s (%.0f %%) at work\n", channels, seen->channels,
           plural(seen->channels), 100.0 * channels / seen->channels);
    printf("  a channel is busy all the time with latency / transfer + 1 banks: %d bank%s hide%s a "
           "latency of %d transfer%s\n",
           seen->banks, plural(seen->banks), seen->banks == 1 ? "s" : "", seen->banks - 1,
           plural(seen->banks - 1));
}

void explain_dram(const explain_request *r)
{
    picture seen = {calloc((size_t)r->dram.channels * (size_t)r->dram.banks, sizeof *seen.touched),
                    r->dram.channels, r->dram.banks};
    if (!seen.touched)
        return;
    touch_first_tiles(r, &seen);
    print(r, &seen);
    free(seen.touched);
}
