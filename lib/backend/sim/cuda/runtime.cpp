// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compiled beside the user's file, without instrumentation: passes its calls to the simulator. The
 * hooks have the names that the assembly of the user's file calls in place of the sanitizer's.
 */
#include "runtime.h"

#include <cstring>

/* Constructors of static objects run when the file is loaded, before it is started. */
static void no_access(const void *, int)
{
}
static void no_access_at(const void *, int, int, int)
{
}
static void no_range(const void *, size_t, size_t, int, int)
{
}
static void no_block(int)
{
}
static const xg_hooks before_start = {XG_HOOKS_VERSION,
                                      {no_access, no_access, no_access, no_access, no_access},
                                      {no_access, no_access, no_access, no_access, no_access},
                                      no_access_at,
                                      no_range,
                                      no_block};

static const xg_hooks *hooks = &before_start;

enum { MOST_ALIGNED = 16 };

/*
 * Compilers call a hook of its own for an access of 2, 4, 8 or 16 bytes that is as aligned as its
 * size, of 16 bytes also with 8: any other access of such a size is less aligned.
 */
static size_t least_aligned(size_t bytes)
{
    return bytes == 16 ? 4 : bytes == 2 || bytes == 4 || bytes == 8 ? bytes / 2 : MOST_ALIGNED;
}

/* The launch's dynamic shared memory, and all shared memory of the user's file, are thread-local.
 */
extern "C" {
extern __thread char xg_dynamic[] __attribute__((visibility("hidden")));
/* Among the data, which code reaches however large the user's variables are that begin as zeros. */
xg_indices xg_now __attribute__((visibility("hidden"), section(".data")));

__attribute__((visibility("default"))) char *xg_start(const xg_hooks *given)
{
    hooks = given;
    hooks->indices(&xg_now);
    return xg_dynamic;
}

#define XG_ACCESS_HOOKS(bytes, number)                                                             \
    XG_RUNTIME void xg_read##bytes(const void *address, int site)                                  \
    {                                                                                              \
        hooks->read[number](address, site);                                                        \
    }                                                                                              \
    XG_RUNTIME void xg_write##bytes(const void *address, int site)                                 \
    {                                                                                              \
        hooks->write[number](address, site);                                                       \
    }
XG_ACCESS_HOOKS(1, 0)
XG_ACCESS_HOOKS(2, 1)
XG_ACCESS_HOOKS(4, 2)
XG_ACCESS_HOOKS(8, 3)
XG_ACCESS_HOOKS(16, 4)

/* Of less alignment than its size, as the compiler knows. */
#define XG_UNALIGNED_HOOKS(bytes)                                                                  \
    XG_RUNTIME void xg_unaligned_read##bytes(const void *address, int site)                        \
    {                                                                                              \
        hooks->range(address, bytes, least_aligned(bytes), XG_HOOK_READ, site);                    \
    }                                                                                              \
    XG_RUNTIME void xg_unaligned_write##bytes(const void *address, int site)                       \
    {                                                                                              \
        hooks->range(address, bytes, least_aligned(bytes), XG_HOOK_WRITE, site);                   \
    }
XG_UNALIGNED_HOOKS(2)
XG_UNALIGNED_HOOKS(4)
XG_UNALIGNED_HOOKS(8)
XG_UNALIGNED_HOOKS(16)

XG_RUNTIME void xg_read_range(const void *address, size_t bytes, int site)
{
    hooks->range(address, bytes, least_aligned(bytes), XG_HOOK_READ, site);
}

XG_RUNTIME void xg_write_range(const void *address, size_t bytes, int site)
{
    hooks->range(address, bytes, least_aligned(bytes), XG_HOOK_WRITE, site);
}

XG_RUNTIME void *xg_memcpy(void *to, const void *from, size_t bytes, int site)
{
    hooks->range(from, bytes, MOST_ALIGNED, XG_HOOK_READ, site);
    hooks->range(to, bytes, MOST_ALIGNED, XG_HOOK_WRITE, site);
    return memcpy(to, from, bytes);
}

XG_RUNTIME void *xg_memmove(void *to, const void *from, size_t bytes, int site)
{
    hooks->range(from, bytes, MOST_ALIGNED, XG_HOOK_READ, site);
    hooks->range(to, bytes, MOST_ALIGNED, XG_HOOK_WRITE, site);
    return memmove(to, from, bytes);
}

XG_RUNTIME void *xg_memset(void *to, int value, size_t bytes, int site)
{
    hooks->range(to, bytes, MOST_ALIGNED, XG_HOOK_WRITE, site);
    return memset(to, value, bytes);
}

/* The sanitizer's calls that say nothing here. */
XG_RUNTIME void xg_init()
{
}
XG_RUNTIME void xg_vptr_update(void *, void *)
{
}
XG_RUNTIME void xg_vptr_read(void *)
{
}
XG_RUNTIME void xg_func_entry(void *)
{
}
XG_RUNTIME void xg_func_exit()
{
}

XG_RUNTIME void xg_block(int site)
{
    hooks->block(site);
}

#define XG_INDEX(name, member)                                                                     \
    unsigned name(int dimension) noexcept                                                          \
    {                                                                                              \
        return xg_now.member[dimension];                                                           \
    }
XG_INDEX(xg_thread_index, thread_index)
XG_INDEX(xg_block_index, block_index)
XG_INDEX(xg_block_dim, block_dim)
XG_INDEX(xg_grid_dim, grid_dim)

void xg_access(const void *address, int bytes, int kind, int site) noexcept
{
    hooks->access(address, bytes, kind, site);
}

void xg_copy(void *to, const void *from, size_t bytes) noexcept
{
    memcpy(to, from, bytes);
}

void xg_syncthreads(const xg_source_location *here) noexcept
{
    hooks->syncthreads(here);
}

void xg_syncwarp(uint32_t mask, const xg_source_location *here) noexcept
{
    hooks->syncwarp(mask, here);
}

void xg_shuffle(uint32_t mask, void *value, unsigned bytes, int from,
                const xg_source_location *here) noexcept
{
    hooks->shuffle(mask, value, bytes, from, here);
}

uint32_t xg_ballot(uint32_t mask, int vote, const xg_source_location *here) noexcept
{
    return hooks->ballot(mask, vote, here);
}

uint32_t xg_reduce(uint32_t mask, uint32_t value, int add, const xg_source_location *here) noexcept
{
    return hooks->reduce(mask, value, add, here);
}

void xg_fence() noexcept
{
    hooks->fence();
}

void xg_copy_async(void *to, const void *from, unsigned whole, unsigned bytes) noexcept
{
    hooks->copy_async(to, from, whole, bytes);
}

void xg_copy_commit() noexcept
{
    hooks->copy_commit();
}

void xg_copy_wait(int groups_left) noexcept
{
    hooks->copy_wait(groups_left);
}

void xg_tensor(int type, int flops) noexcept
{
    hooks->tensor(type, flops);
}

void xg_fail(const xg_source_location *here, const char *what) noexcept
{
    hooks->fail(here, what);
}

/* assert() of the C library. */
__attribute__((visibility("hidden"), noreturn)) void
__assert_fail(const char *assertion, const char *file, unsigned line, const char *) noexcept
{
    const xg_source_location here = {file, (int)line};
    (void)assertion;
    hooks->fail(&here, "fails its assertion");
    __builtin_trap();
}
}
