/* Inside the kernel: how a task waits for an object, which is known by its address. */
#ifndef WAITING_H
#define WAITING_H

#include <stdint.h>

#define TASKS_NOBODY 0xFFu

/* Mask interrupts; the state before for unmask(). */
static inline uint32_t mask(void)
{
    uint32_t before;
    __asm volatile("mrs %0, primask\n cpsid i" : "=r"(before) : : "memory");
    return before;
}

static inline void unmask(uint32_t before)
{
    __asm volatile("msr primask, %0\n isb" : : "r"(before) : "memory");
}

/* Called masked: unmasks, and waits until somebody wakes who waits for the object; -1 when the limit has passed first. */
int tasks_wait(const volatile void *object, uint32_t limit_ms, uint32_t before);

/* Called masked: the first task in turn that waits for the object goes on; its number, or TASKS_NOBODY. */
unsigned tasks_wake(const volatile void *object);

#endif
