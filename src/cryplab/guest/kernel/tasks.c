/* See tasks.h. The vector table is moved to RAM, so that the tick also asks for a switch; PendSV makes it. */
#include "tasks.h"

#include <stddef.h>

#include "clock.h"
#include "console.h"
#include "rows.h"
#include "stm32f4.h"
#include "waiting.h"

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
#define IDLE TASKS_MOST
#define IDLE_WORDS 96
#define UNUSED 0x5AFE5AFEu /* what a stack is filled with */
#define CODE_OVERRUN 98

typedef void (*vector)(void);

struct task {
    uint32_t *sp; /* while it does not run */
    uint32_t *stack;
    unsigned words;
    const volatile void *waits_for; /* NULL: it can run */
    uint32_t until;                 /* clock_tick() */
    uint8_t timed, expired, ended;
};

volatile uint32_t tasks_switches;

static struct task tasks[TASKS_MOST + 1]; /* the last one sleeps when all others wait */
static unsigned count = 1;                /* task 0 is main() */
static volatile unsigned current;
static unsigned last; /* that ran and was not IDLE */
static volatile unsigned held, missed; /* a switch came while it was held off */
static uint64_t idle_cycles;
static const char time_only; /* what nobody wakes */
static uint32_t idle_stack[IDLE_WORDS] __attribute__((aligned(8)));
static uint32_t handler_stack[HANDLER_WORDS] __attribute__((aligned(8)));
static vector table[VECTORS] __attribute__((aligned(512)));
static vector tick;

/* ---- the switch ---- */

static void check_stack(const uint32_t *stopped)
{
    const struct task *task = &tasks[current];
    if (task->stack != NULL && (stopped < task->stack || task->stack[0] != UNUSED)) {
        console_printf("\ntask %u: stack overrun\n", current);
        cryplab_done(CODE_OVERRUN);
    }
}

static unsigned next_ready(void)
{
    for (unsigned i = 1; i <= count; i++) {
        unsigned number = (last + i) % count;
        if (tasks[number].waits_for == NULL) {
            return number;
        }
    }
    return IDLE;
}

/* The stack of the task that goes on; called by the switch with that of the task that stops. */
__attribute__((used)) static uint32_t *next_stack(uint32_t *stopped)
{
    if (held != 0) {
        missed = 1;
        return stopped;
    }
    check_stack(stopped);
    tasks[current].sp = stopped;
    uint32_t before = mask();
    unsigned next = next_ready();
    tasks_switches += next != current;
    current = next;
    last = next != IDLE ? next : last;
    unmask(before);
    return tasks[next].sp;
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

static void ask_for_switch(void)
{
    SCB_ICSR = SCB_ICSR_PENDSVSET;
}

void tasks_yield(void)
{
    ask_for_switch();
    __asm volatile("dsb\n isb" : : : "memory");
}

/* ---- waiting, see waiting.h ---- */

static void go_on(struct task *task, int expired)
{
    task->expired = (uint8_t)expired;
    task->waits_for = NULL;
    if (current == IDLE) {
        ask_for_switch();
    }
}

unsigned tasks_wake(const volatile void *object)
{
    for (unsigned i = 1; i <= count; i++) {
        unsigned number = (last + i) % count;
        if (tasks[number].waits_for == object) {
            go_on(&tasks[number], 0);
            return number;
        }
    }
    return TASKS_NOBODY;
}

int tasks_wait(const volatile void *object, uint32_t limit_ms, uint32_t before)
{
    struct task *task = &tasks[current];
    task->until = clock_tick() + limit_ms;
    task->timed = limit_ms != TASKS_FOREVER;
    task->waits_for = object;
    unmask(before);
    while (task->waits_for != NULL) {
        tasks_yield();
    }
    return task->expired ? -1 : 0;
}

static void tick_and_switch(void)
{
    tick();
    for (unsigned i = 0; i < count; i++) {
        struct task *task = &tasks[i];
        if (task->waits_for != NULL && task->timed && (int32_t)(clock_tick() - task->until) >= 0) {
            go_on(task, 1);
        }
    }
    ask_for_switch();
}

static void idle(void *argument)
{
    (void)argument;
    for (;;) {
        __asm volatile("cpsid i" : : : "memory");
        uint64_t start = clock_cycles();
        __asm volatile("dsb\n wfi" : : : "memory"); /* a switch that is asked for ends it, masked or not */
        idle_cycles += clock_cycles() - start;
        __asm volatile("cpsie i\n isb" : : : "memory");
    }
}

uint64_t tasks_idle_cycles(void)
{
    uint32_t before = mask();
    uint64_t cycles = idle_cycles;
    unmask(before);
    return cycles;
}

/* ---- tasks ---- */

static void ended(void)
{
    struct task *task = &tasks[current];
    uint32_t before = mask();
    task->ended = 1;
    while (tasks_wake(task) != TASKS_NOBODY) {
    }
    tasks_wait(&time_only, TASKS_FOREVER, before);
}

static void prepare(struct task *task, void (*run)(void *), void *argument, uint32_t *stack, unsigned words)
{
    for (unsigned i = 0; i < words; i++) {
        stack[i] = UNUSED;
    }
    uint32_t *frame = stack + (words & ~1u) - FRAME_WORDS;
    frame[0] = (uint32_t)argument;
    frame[5] = (uint32_t)ended;
    frame[6] = (uint32_t)run & ~1u;
    frame[7] = XPSR_THUMB;
    *task = (struct task){.sp = frame - SAVED_WORDS, .stack = stack, .words = words};
    task->sp[SAVED_WORDS - 1] = RETURN_TO_TASK;
}

unsigned tasks_add(void (*run)(void *), void *argument, uint32_t *stack, unsigned words)
{
    uint32_t before = mask();
    unsigned number = count;
    if (number == TASKS_MOST) {
        console_printf("more than %u tasks\n", TASKS_MOST);
        cryplab_done(CODE_OVERRUN);
    }
    prepare(&tasks[number], run, argument, stack, words);
    count++;
    unmask(before);
    return number;
}

void tasks_start(void)
{
    if (tick != NULL) {
        return;
    }
    const vector *flash = (const vector *)SCB_VTOR;
    for (unsigned i = 0; i < VECTORS; i++) {
        table[i] = flash[i];
    }
    tick = table[VECTOR_SYSTICK];
    table[VECTOR_SYSTICK] = tick_and_switch;
    table[VECTOR_PENDSV] = switch_tasks;
    prepare(&tasks[IDLE], idle, NULL, idle_stack, IDLE_WORDS);
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

unsigned tasks_current(void)
{
    return current;
}

void tasks_sleep(uint32_t ms)
{
    tasks_wait(&time_only, ms, mask());
}

void tasks_join(unsigned task)
{
    uint32_t before = mask();
    if (tasks[task].ended) {
        unmask(before);
    } else {
        tasks_wait(&tasks[task], TASKS_FOREVER, before);
    }
}

unsigned tasks_stack_left(unsigned task)
{
    unsigned left = 0;
    while (left < tasks[task].words && tasks[task].stack[left] == UNUSED) {
        left++;
    }
    return left;
}

void tasks_hold(void)
{
    held++;
}

void tasks_release(void)
{
    if (--held == 0 && missed) {
        missed = 0;
        tasks_yield();
    }
}
