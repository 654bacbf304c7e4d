/* A recursive mutex taken through a supervisor call, as an RTOS under a C library takes one around its heap.
 *
 * The published figures come from programs under an RTOS whose every malloc and free took and gave
 * such a mutex: 150 to 230 cycles each, up to a quarter of an elliptic curve row. There is one
 * thread here; the work of the call (checks, owner, count, list of owned mutexes, choice of the next
 * thread, events) is done all the same. FreeRTOS suspends its scheduler instead, without a call of the supervisor.
 */
#ifndef CRYPLAB_KERNEL_H
#define CRYPLAB_KERNEL_H

#include <stdint.h>

struct kernel_thread;

struct kernel_mutex {
    uint8_t kind, recursive;
    uint16_t count;
    struct kernel_thread *owner;
    struct kernel_thread *waiting;           /* threads that wait, highest priority first */
    struct kernel_mutex *previous, *next;    /* mutexes of one owner */
};

#define KERNEL_KIND_MUTEX 5
#define KERNEL_MUTEX {KERNEL_KIND_MUTEX, 1, 0, 0, 0, 0, 0}

enum kernel_status { KERNEL_OK = 0, KERNEL_ERROR_ISR = -6, KERNEL_ERROR_PARAMETER = -4, KERNEL_ERROR_RESOURCE = -3 };

int32_t kernel_mutex_lock(struct kernel_mutex *mutex);
int32_t kernel_mutex_unlock(struct kernel_mutex *mutex);

/* The other way of an RTOS: while it is suspended no other thread runs. Calls nest; resuming returns 1 when a thread that
 * became ready meanwhile runs at once. */
void kernel_suspend(void);
int32_t kernel_resume(void);

#endif
