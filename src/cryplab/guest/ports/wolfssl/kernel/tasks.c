/* See tasks.h. The vector table is moved to RAM, so that the tick also asks for a switch; PendSV makes it. */
#include "tasks.h"

#include <stddef.h>

#include "stm32f4.h"

#define VECTORS 107
#define VECTOR_PENDSV 14
#define VECTOR_SYSTICK 15
#define SCB_ICSR (*(REG *)0xE000ED04u)
#define SCB_ICSR_PENDSVSET (1u << 28)
#define SCB_VTOR (*(REG *)0xE000ED08u)
#define SCB_SHPR3 (*(REG *)0xE000ED20u)
#define SHPR3_PENDSV_LOWEST (0xFFu << 16)
#define XPSR_THUMB (1u << 24)
#define RETURN_TO_TASK 0xFFFFFFFDu /* thread mode, process stack, no FPU registers stacked */
#define FRAME_WORDS 8              /* stacked by hardware: r0 to r3, r12, lr, pc, xpsr */
#define SAVED_WORDS 9              /* below it: r4 to r11, lr of the exception */
#define HANDLER_WORDS 256

typedef void (*vector)(void);

volatile uint32_t tasks_switches;

static uint32_t *stacks[TASKS_MOST]; /* of tasks that do not run */
static unsigned count = 1, current;  /* task 0 is main() */
static volatile unsigned held;
static uint32_t handler_stack[HANDLER_WORDS] __attribute__((aligned(8)));
static vector table[VECTORS] __attribute__((aligned(512)));
static vector tick;

static void ended(void)
{
    for (;;) {
        tasks_yield();
    }
}

void tasks_add(void (*run)(void), uint32_t *stack, unsigned words)
{
    uint32_t *frame = stack + (words & ~1u) - FRAME_WORDS;
    frame[5] = (uint32_t)ended;
    frame[6] = (uint32_t)run & ~1u;
    frame[7] = XPSR_THUMB;
    stacks[count] = frame - SAVED_WORDS;
    stacks[count][SAVED_WORDS - 1] = RETURN_TO_TASK;
    count++;
}

/* The stack of the task that goes on; called by the switch with that of the task that stops. */
__attribute__((used)) static uint32_t *next_stack(uint32_t *stopped)
{
    if (held != 0) {
        return stopped;
    }
    stacks[current] = stopped;
    current = current + 1 < count ? current + 1 : 0;
    tasks_switches++;
    return stacks[current];
}

__attribute__((naked)) static void switch_tasks(void)
{
    __asm volatile(
        "mrs r0, psp\n"
#if defined(__ARM_FP)
        "tst lr, #0x10\n"
        "it eq\n"
        "vstmdbeq r0!, {s16-s31}\n"
#endif
        "stmdb r0!, {r4-r11, lr}\n"
        "bl next_stack\n"
        "ldmia r0!, {r4-r11, lr}\n"
#if defined(__ARM_FP)
        "tst lr, #0x10\n"
        "it eq\n"
        "vldmiaeq r0!, {s16-s31}\n"
#endif
        "msr psp, r0\n"
        "bx lr\n");
}

static void tick_and_switch(void)
{
    tick();
    tasks_yield();
}

void tasks_yield(void)
{
    SCB_ICSR = SCB_ICSR_PENDSVSET;
    __asm volatile("dsb\n isb" : : : "memory");
}

void tasks_start(void)
{
    const vector *flash = (const vector *)SCB_VTOR;
    for (unsigned i = 0; i < VECTORS; i++) {
        table[i] = flash[i];
    }
    tick = table[VECTOR_SYSTICK];
    table[VECTOR_SYSTICK] = tick_and_switch;
    table[VECTOR_PENDSV] = switch_tasks;
    SCB_SHPR3 |= SHPR3_PENDSV_LOWEST;
    __asm volatile( /* main() goes on on what was the only stack, handlers get one of their own */
        "cpsid i\n"
        "mrs r1, msp\n"
        "msr psp, r1\n"
        "movs r2, #2\n"
        "msr control, r2\n"
        "isb\n"
        "msr msp, %0\n"
        : : "r"(handler_stack + HANDLER_WORDS) : "r1", "r2", "memory");
    SCB_VTOR = (uint32_t)table;
    __asm volatile("dsb\n cpsie i\n isb" : : : "memory");
}

void tasks_hold(void)
{
    held++;
}

void tasks_release(void)
{
    held--;
}

/* ---- mutex ---- */

static int try_to_take(struct task_mutex *mutex)
{
    uint32_t taken, failed;
    __asm volatile("ldrex %0, [%1]" : "=r"(taken) : "r"(&mutex->taken) : "memory");
    if (taken != 0) {
        __asm volatile("clrex" : : : "memory");
        return 0;
    }
    __asm volatile("strex %0, %2, [%1]" : "=&r"(failed) : "r"(&mutex->taken), "r"(1) : "memory");
    return !failed;
}

int task_mutex_lock(struct task_mutex *mutex)
{
    while (!try_to_take(mutex)) {
        tasks_yield();
    }
    __asm volatile("dmb" : : : "memory");
    return 0;
}

int task_mutex_unlock(struct task_mutex *mutex)
{
    __asm volatile("dmb" : : : "memory");
    mutex->taken = 0;
    return 0;
}

int wc_InitMutex(wolfSSL_Mutex *mutex)
{
    mutex->taken = 0;
    return 0;
}

int wc_FreeMutex(wolfSSL_Mutex *mutex)
{
    (void)mutex;
    return 0;
}

int wc_LockMutex(wolfSSL_Mutex *mutex)
{
    return task_mutex_lock(mutex);
}

int wc_UnLockMutex(wolfSSL_Mutex *mutex)
{
    return task_mutex_unlock(mutex);
}

/* The heap is shared too. */
struct _reent;

void __malloc_lock(struct _reent *r)
{
    (void)r;
    tasks_hold();
}

void __malloc_unlock(struct _reent *r)
{
    (void)r;
    tasks_release();
}
