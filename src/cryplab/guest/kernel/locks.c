/* Mutex and semaphore of tasks.h. What is given goes straight to the task that waits, so that nobody else can take it. */
#include "tasks.h"
#include "waiting.h"

void task_mutex_lock(struct task_mutex *mutex)
{
    uint32_t before = mask();
    unsigned self = tasks_current();
    if (mutex->taken && mutex->owner != self) {
        tasks_wait(mutex, TASKS_FOREVER, before);
        return;
    }
    mutex->taken = 1;
    mutex->owner = (uint8_t)self;
    mutex->depth++;
    unmask(before);
}

void task_mutex_unlock(struct task_mutex *mutex)
{
    uint32_t before = mask();
    if (--mutex->depth == 0) {
        unsigned heir = tasks_wake(mutex);
        mutex->taken = heir != TASKS_NOBODY;
        mutex->owner = (uint8_t)heir;
        mutex->depth = mutex->taken;
    }
    unmask(before);
}

int task_semaphore_take(struct task_semaphore *semaphore, uint32_t limit_ms)
{
    uint32_t before = mask();
    if (semaphore->count == 0 && limit_ms != 0) {
        return tasks_wait(semaphore, limit_ms, before);
    }
    int taken = semaphore->count != 0;
    semaphore->count -= (uint32_t)taken;
    unmask(before);
    return taken ? 0 : -1;
}

void task_semaphore_give(struct task_semaphore *semaphore)
{
    uint32_t before = mask();
    if (tasks_wake(semaphore) == TASKS_NOBODY && semaphore->count < semaphore->most) {
        semaphore->count++;
    }
    unmask(before);
}
