/* SPDX-License-Identifier: BSD-3-Clause */
#include "fiber.h"

#include "asan.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef XG_WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if XGEMM_WITH_VALGRIND
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(first, last) 0u
#define VALGRIND_STACK_DEREGISTER(id)        ((void)(id))
#endif

#if defined(__x86_64__)
#define WITH_SWITCH 1
#else
#define WITH_SWITCH 0
#endif

/* Room for a kernel's frame, and for that of a sanitizer, which is larger. */
enum { STACK_BYTES = 128 * 1024 };

struct xg_fiber {
    ucontext_t context;  /* with ucontext */
    void *stack_pointer; /* with our own switch */
    void (*body)(void);
    char *mapping, *stack;
    size_t mapping_bytes, stack_bytes;
    unsigned valgrind_stack; /* its number there */
};

/* The simulator holds a lock while it runs: one scheduler at a time. */
static xg_fiber scheduler;
static xg_fiber *running, *previous;

static enum { NOT_CHOSEN, OUR_SWITCH, UCONTEXT } way;

#if WITH_SWITCH
/*
 * Saves the registers that a function must keep, changes stacks, restores.
 * ucontext does the same with two system calls: ten times slower.
 */
void xg_fiber_switch(void **save, void *to) __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".p2align 4\n"
        ".globl xg_fiber_switch\n"
        ".hidden xg_fiber_switch\n"
        ".type xg_fiber_switch,@function\n"
        "xg_fiber_switch:\n"
        "    endbr64\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp,(%rdi)\n"
        "    mov %rsi,%rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size xg_fiber_switch,.-xg_fiber_switch\n");

/*
 * Whether the processor keeps a second stack of return addresses (CET's shadow stack), on which a
 * switch of ours would return wrongly. The instruction does nothing where there is none.
 */
static bool has_shadow_stack(void)
{
    uint64_t shadow_stack_pointer = 0;
    __asm__ volatile("rdsspq %0" : "+r"(shadow_stack_pointer));
    return shadow_stack_pointer != 0;
}
#endif

void xg_fiber_use_ucontext(bool use)
{
    way = use ? UCONTEXT : NOT_CHOSEN;
}

static void choose(void)
{
#if WITH_SWITCH
    if (way == NOT_CHOSEN)
        way = has_shadow_stack() ? UCONTEXT : OUR_SWITCH;
#else
    way = UCONTEXT;
#endif
}

static void arrived(void *fake_stack)
{
#ifdef XG_WITH_ASAN
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(fake_stack, &bottom, &bytes);
    if (previous == &scheduler) {
        scheduler.stack = (char *)bottom;
        scheduler.stack_bytes = bytes;
    }
#else
    (void)fake_stack;
#endif
}

static void change(xg_fiber *from, xg_fiber *to)
{
    void *fake_stack = NULL;
#ifdef XG_WITH_ASAN
    __sanitizer_start_switch_fiber(&fake_stack, to->stack, to->stack_bytes);
#endif
    previous = from;
    running = to;
#if WITH_SWITCH
    if (way == OUR_SWITCH)
        xg_fiber_switch(&from->stack_pointer, to->stack_pointer);
    else
#endif
        swapcontext(&from->context, &to->context);
    arrived(fake_stack);
}

static void fiber_main(void)
{
    arrived(NULL);
    for (;;)
        running->body();
}

static void prepare(xg_fiber *fiber)
{
    if (way == UCONTEXT) {
        getcontext(&fiber->context);
        fiber->context.uc_stack.ss_sp = fiber->stack;
        fiber->context.uc_stack.ss_size = fiber->stack_bytes;
        fiber->context.uc_link = NULL;
        makecontext(&fiber->context, fiber_main, 0);
        return;
    }
    uintptr_t *top = (uintptr_t *)(void *)(fiber->stack + fiber->stack_bytes);
    *--top = 0; /* fiber_main's return address; leaves its stack aligned as after a call */
    *--top = (uintptr_t)fiber_main;
    for (int saved = 0; saved < 6; saved++)
        *--top = 0;
    fiber->stack_pointer = top;
}

/*
 * Bytes left free at a stack's top, different from one to the next: the tops in
 * use would otherwise all fall into the same few sets of the first-level cache.
 */
static size_t colour(void)
{
    enum { CACHE_LINE = 64, LINES_APART = 5, PAGE = 4096 };
    static size_t stacks;
    return stacks++ * LINES_APART * CACHE_LINE % PAGE;
}

xg_fiber *xg_fiber_new(void (*body)(void))
{
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    xg_fiber *fiber = calloc(1, sizeof *fiber);
    if (!fiber)
        return NULL;
    fiber->mapping_bytes = guard + STACK_BYTES;
    fiber->mapping = mmap(NULL, fiber->mapping_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber->mapping == MAP_FAILED) {
        free(fiber);
        return NULL;
    }
    mprotect(fiber->mapping, guard, PROT_NONE); /* a stack that overflows stops there */
    fiber->stack = fiber->mapping + guard;
    fiber->stack_bytes = STACK_BYTES - colour();
    fiber->body = body;
    fiber->valgrind_stack =
        VALGRIND_STACK_REGISTER(fiber->stack, fiber->stack + fiber->stack_bytes);
    choose();
    prepare(fiber);
    return fiber;
}

void xg_fiber_resume(xg_fiber *fiber)
{
    change(&scheduler, fiber);
}

void xg_fiber_pause(void)
{
    change(running, &scheduler);
}

void xg_fiber_hand_over(xg_fiber *to)
{
    change(running, to);
}

bool xg_fiber_owns(uintptr_t address)
{
    return address - (uintptr_t)running->stack < running->stack_bytes;
}

void xg_fiber_free(xg_fiber *fiber)
{
    if (!fiber)
        return;
#ifdef XG_WITH_ASAN
    /* Its frames never ended; a stack mapped here later must not find their guards. */
    __asan_unpoison_memory_region(fiber->mapping, fiber->mapping_bytes);
#endif
    VALGRIND_STACK_DEREGISTER(fiber->valgrind_stack);
    munmap(fiber->mapping, fiber->mapping_bytes);
    free(fiber);
}
