/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the threads of a user's own kernel are in its loops. Threads of a warp that come to a place
 * in the same iteration of each loop around it make one request, as on a GPU, which brings them
 * together again after every condition.
 */
#ifndef XGEMM_SIM_SOURCE_PATH_H
#define XGEMM_SIM_SOURCE_PATH_H

#include "source.h"

enum { XG_LOOPS_MOST = 24, XG_CALLS_MOST = 8 };

/* A loop that the thread is in. */
typedef struct {
    int header, end; /* sites */
    uint32_t count;  /* of its iterations */
    uint64_t around; /* the key outside of it */
} xg_loop;

/* A function that the thread is in. */
typedef struct {
    int function, loops; /* how many loops it was in when it was called */
    uint64_t key;        /* then */
} xg_call;

typedef struct {
    uint64_t key; /* the iterations of all loops */
    int depth, calls;
    xg_loop loops[XG_LOOPS_MOST];
    xg_call called[XG_CALLS_MOST];
} xg_path;

static inline uint64_t xg_path_mix(uint64_t key, uint64_t with)
{
    return (key ^ (with + 1)) * 0x9e3779b97f4a7c15u + (key >> 29);
}

/* Another function than before: one that called, whose loops go on, or one that is called. */
static inline void xg_path_changes_function(xg_path *path, int function)
{
    for (int i = path->calls - 1; i >= 0; i--)
        if (path->called[i].function == function) {
            if (i + 1 < path->calls) {
                path->depth = path->called[i + 1].loops;
                path->key = path->called[i + 1].key;
            }
            path->calls = i + 1;
            return;
        }
    if (path->calls < XG_CALLS_MOST)
        path->called[path->calls++] = (xg_call){function, path->depth, path->key};
}

/* A basic block begins. */
static inline void xg_path_enters(xg_path *path, const xg_source_site *at, int site)
{
    if (path->calls == 0 || path->called[path->calls - 1].function != at->function)
        xg_path_changes_function(path, at->function);
    const int first = path->called[path->calls - 1].loops;
    while (path->depth > first &&
           (site > path->loops[path->depth - 1].end || site < path->loops[path->depth - 1].header))
        path->key = path->loops[--path->depth].around;
    if (at->loop_end < 0)
        return;
    if (path->depth == first || path->loops[path->depth - 1].header != site) {
        if (path->depth == XG_LOOPS_MOST)
            return;
        path->loops[path->depth++] = (xg_loop){site, at->loop_end, 0, path->key};
    }
    xg_loop *loop = &path->loops[path->depth - 1];
    path->key = xg_path_mix(xg_path_mix(loop->around, (uint64_t)site), loop->count++);
}

#endif
