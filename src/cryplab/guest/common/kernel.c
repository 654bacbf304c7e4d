/* See kernel.h. */
#include "kernel.h"

#include <stddef.h>


#define KERNEL_KIND_THREAD 1

enum thread_state { THREAD_READY = 1, THREAD_RUNNING = 2 };

struct kernel_thread {
    uint8_t kind, state, flags;
    int8_t priority, base_priority;
    struct kernel_thread *next;
    struct kernel_mutex *owned;
};

static struct kernel_thread main_thread = {KERNEL_KIND_THREAD, THREAD_RUNNING, 0, 24, 24, NULL, NULL};
static struct kernel_thread idle_thread = {KERNEL_KIND_THREAD, THREAD_READY, 0, 1, 1, NULL, NULL};

static struct {
    struct kernel_thread *current, *next;
    struct kernel_thread *ready; /* highest priority first */
} scheduler = {&main_thread, &main_thread, &idle_thread};

/* RTX 5 of 2017 tells of every service that is asked for and of every one that is done; a recorder would take the place
 * of these functions. */
#define EVENT __attribute__((weak, noinline)) void
EVENT kernel_event_lock(struct kernel_mutex *mutex, uint32_t timeout)
{
    (void)mutex, (void)timeout;
}

EVENT kernel_event_locked(struct kernel_mutex *mutex, uint32_t count)
{
    (void)mutex, (void)count;
}

EVENT kernel_event_unlock(struct kernel_mutex *mutex)
{
    (void)mutex;
}

EVENT kernel_event_unlocked(struct kernel_mutex *mutex, uint32_t count)
{
    (void)mutex, (void)count;
}

static int valid(const struct kernel_mutex *mutex)
{
    return mutex != NULL && mutex->kind == KERNEL_KIND_MUTEX;
}

/* A call from the library's lock object to the kernel; a library in C++ has it between the two. */
static __attribute__((noinline)) int32_t acquire(struct kernel_mutex *mutex, uint32_t timeout);
static __attribute__((noinline)) int32_t release(struct kernel_mutex *mutex);

/* Let the first ready thread run when its priority is above the current one's. */
static __attribute__((noinline)) void dispatch(void)
{
    struct kernel_thread *ready = scheduler.ready;
    if (scheduler.current->state == THREAD_RUNNING && ready != NULL && ready->priority > scheduler.current->priority) {
        scheduler.ready = ready->next;
        scheduler.current->state = THREAD_READY;
        ready->state = THREAD_RUNNING;
        scheduler.next = ready;
    }
}

static int32_t mutex_lock(struct kernel_mutex *mutex, uint32_t timeout)
{
    struct kernel_thread *thread = scheduler.current;
    if (thread == NULL || !valid(mutex)) {
        return KERNEL_ERROR_PARAMETER;
    }
    if (mutex->count == 0) {
        mutex->owner = thread;
        mutex->previous = NULL;
        mutex->next = thread->owned;
        if (thread->owned != NULL) {
            thread->owned->previous = mutex;
        }
        thread->owned = mutex;
        mutex->count = 1;
        kernel_event_locked(mutex, mutex->count);
        return KERNEL_OK;
    }
    if (mutex->recursive && mutex->owner == thread) {
        if (mutex->count == UINT16_MAX) {
            return KERNEL_ERROR_RESOURCE;
        }
        mutex->count++;
        kernel_event_locked(mutex, mutex->count);
        return KERNEL_OK;
    }
    (void)timeout; /* one thread: nobody else can hold it */
    return KERNEL_ERROR_RESOURCE;
}

static int32_t mutex_unlock(struct kernel_mutex *mutex, uint32_t timeout)
{
    (void)timeout;
    struct kernel_thread *thread = scheduler.current;
    if (thread == NULL || !valid(mutex)) {
        return KERNEL_ERROR_PARAMETER;
    }
    if (mutex->owner != thread || mutex->count == 0) {
        return KERNEL_ERROR_RESOURCE;
    }
    mutex->count--;
    kernel_event_unlocked(mutex, mutex->count);
    if (mutex->count != 0) {
        return KERNEL_OK;
    }
    if (mutex->next != NULL) {
        mutex->next->previous = mutex->previous;
    }
    if (mutex->previous != NULL) {
        mutex->previous->next = mutex->next;
    } else {
        thread->owned = mutex->next;
    }
    int8_t priority = thread->base_priority;
    for (struct kernel_mutex *held = thread->owned; held != NULL; held = held->next) {
        if (held->waiting != NULL && held->waiting->priority > priority) {
            priority = held->waiting->priority;
        }
    }
    thread->priority = priority;
    if (mutex->waiting != NULL) {
        struct kernel_thread *heir = mutex->waiting;
        mutex->waiting = heir->next;
        mutex->owner = heir;
        mutex->count = 1;
        heir->next = scheduler.ready;
        scheduler.ready = heir;
        kernel_event_locked(mutex, mutex->count);
    }
    dispatch();
    return KERNEL_OK;
}

typedef int32_t (*service)(struct kernel_mutex *mutex, uint32_t timeout);

/* Called by SVC_Handler with the stacked registers: r12 is the service, r0 and r1 its arguments. */
__attribute__((used)) static void supervisor_call(uint32_t *frame)
{
    const uint8_t *after = (const uint8_t *)frame[6];
    if (after[-2] != 0) {
        return; /* another number: not ours */
    }
    struct kernel_mutex *mutex = (struct kernel_mutex *)frame[0];
    int32_t status = ((service)frame[4])(mutex, frame[1]);
    frame[0] = (uint32_t)status;
    if (scheduler.current != scheduler.next) {
        scheduler.current = scheduler.next; /* a switch of stacks would follow here */
    }
}

__attribute__((naked)) void SVC_Handler(void)
{
    __asm volatile(
        "tst lr, #4\n"
        "ite eq\n"
        "mrseq r0, msp\n"
        "mrsne r0, psp\n"
        "push {r4, lr}\n"
        "bl supervisor_call\n"
        "pop {r4, pc}\n");
}

/* In an exception, or with interrupts masked, a mutex cannot be taken. */
static __attribute__((noinline)) int in_exception(void)
{
    uint32_t ipsr, primask, basepri;
    __asm volatile("mrs %0, ipsr" : "=r"(ipsr));
    __asm volatile("mrs %0, primask" : "=r"(primask));
    __asm volatile("mrs %0, basepri" : "=r"(basepri));
    return ipsr != 0 || primask != 0 || basepri != 0;
}

static int32_t call(service function, struct kernel_mutex *mutex, uint32_t timeout)
{
    register uint32_t r0 __asm("r0") = (uint32_t)mutex;
    register uint32_t r1 __asm("r1") = timeout;
    register uint32_t r12 __asm("r12") = (uint32_t)function;
    __asm volatile("svc 0" : "+r"(r0) : "r"(r1), "r"(r12) : "r2", "r3", "lr", "memory", "cc");
    return (int32_t)r0;
}

static int32_t acquire(struct kernel_mutex *mutex, uint32_t timeout)
{
    kernel_event_lock(mutex, timeout);
    return in_exception() ? KERNEL_ERROR_ISR : call(mutex_lock, mutex, timeout);
}

static int32_t release(struct kernel_mutex *mutex)
{
    kernel_event_unlock(mutex);
    return in_exception() ? KERNEL_ERROR_ISR : call(mutex_unlock, mutex, 0);
}

int32_t kernel_mutex_lock(struct kernel_mutex *mutex)
{
    return acquire(mutex, UINT32_MAX);
}

int32_t kernel_mutex_unlock(struct kernel_mutex *mutex)
{
    return release(mutex);
}

/* ---- suspending the scheduler ---- */

#define MASKED_PRIORITY 0x50u

static volatile uint32_t suspended, nesting;
static struct kernel_thread *volatile pending_ready;
static volatile int yield_pending;

static __attribute__((noinline)) void enter_critical(void)
{
    __asm volatile("msr basepri, %0\n isb\n dsb" : : "r"(MASKED_PRIORITY) : "memory");
    nesting++;
}

static __attribute__((noinline)) void exit_critical(void)
{
    if (--nesting == 0) {
        __asm volatile("msr basepri, %0" : : "r"(0u) : "memory");
    }
}

void kernel_suspend(void)
{
    suspended++;
}

int32_t kernel_resume(void)
{
    int32_t yielded = 0;
    enter_critical();
    if (--suspended == 0) {
        while (pending_ready != NULL) {
            struct kernel_thread *thread = pending_ready;
            pending_ready = thread->next;
            thread->next = scheduler.ready;
            scheduler.ready = thread;
            yield_pending |= thread->priority >= scheduler.current->priority;
        }
        if (yield_pending) { /* a switch of threads would follow here */
            yield_pending = 0;
            yielded = 1;
        }
    }
    exit_critical();
    return yielded;
}
