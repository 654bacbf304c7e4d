/* A small preemptive kernel: tasks without priorities, in turn, each until the next millisecond or until it waits.
 *
 * main() becomes task 0 when tasks_start() is called. Registers, those of the FPU too, belong to a task. Who waits (for a
 * mutex, a semaphore, the end of another task, or time) is passed over; when all wait, the core sleeps in WFI until
 * an interrupt. Who waited first in turn after the running task is served first, so nobody starves. Times are
 * milliseconds of clock_tick(); a limit of TASKS_FOREVER is none.
 *
 * Nothing here may wait in a handler, with interrupts masked, or between tasks_hold() and tasks_release().
 */
#ifndef TASKS_H
#define TASKS_H

#include <stdint.h>

#define TASKS_MOST 8
#define TASKS_FOREVER 0xFFFFFFFFu

/* Add a task with so many words of stack, 8-byte aligned; it may return. Its number, from 1. Before or after tasks_start(). */
unsigned tasks_add(void (*run)(void *argument), void *argument, uint32_t *stack, unsigned words);

/* From now on the tick switches tasks; once it does, nothing. */
void tasks_start(void);

/* The task that runs; 0 before tasks_start(). */
unsigned tasks_current(void);

/* Let the next task run. */
void tasks_yield(void);

/* Wait until the tick has come so many times. */
void tasks_sleep(uint32_t ms);

/* Wait until a task has returned. */
void tasks_join(unsigned task);

/* Number of switches so far. */
extern volatile uint32_t tasks_switches;

/* Core cycles slept so far because every task waited. */
uint64_t tasks_idle_cycles(void);

/* Words at the end of a task's stack that it has never used. A stack that was overrun ends the program with code 98. */
unsigned tasks_stack_left(unsigned task);

/* No switch until released, for a few instructions; calls nest. What was due meanwhile comes then. */
void tasks_hold(void);
void tasks_release(void);

/* Zero is free. The owner may take it again, and gives it back as often; it passes to who waits. */
struct task_mutex {
    volatile uint8_t taken;
    uint8_t owner;
    uint16_t depth;
};

void task_mutex_lock(struct task_mutex *mutex);
void task_mutex_unlock(struct task_mutex *mutex);

/* `count` is what can be taken at once; giving beyond `most` is lost. Zero at first, {0, 1}: "something has happened". */
struct task_semaphore {
    volatile uint32_t count;
    uint32_t most;
};

/* 0 when it was taken, -1 after the limit; a limit of 0 does not wait. */
int task_semaphore_take(struct task_semaphore *semaphore, uint32_t limit_ms);
/* In a handler, too. */
void task_semaphore_give(struct task_semaphore *semaphore);

#endif
