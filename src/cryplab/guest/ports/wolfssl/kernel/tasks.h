/* A small preemptive kernel: tasks of one priority in turn, one millisecond each, and a mutex.
 *
 * main() becomes the first task when tasks_start() is called. Registers, also those of the FPU, belong to a task.
 */
#ifndef TASKS_H
#define TASKS_H

#include <stdint.h>

#define TASKS_MOST 4

/* Add a task with so many words of stack; call before tasks_start(). */
void tasks_add(void (*run)(void), uint32_t *stack, unsigned words);

/* From now on the tick switches tasks. */
void tasks_start(void);

/* Let the next task run. */
void tasks_yield(void);

/* Number of switches so far. */
extern volatile uint32_t tasks_switches;

/* No switch until released; calls nest. */
void tasks_hold(void);
void tasks_release(void);

struct task_mutex {
    volatile uint32_t taken;
};

int task_mutex_lock(struct task_mutex *mutex);
int task_mutex_unlock(struct task_mutex *mutex);

/* What wolfCrypt calls a mutex; see WOLFSSL_USER_MUTEX. */
typedef struct task_mutex wolfSSL_Mutex;

#endif
