/* The kernel of guest/kernel at work: each scenario leaves its order of events in `order` and prints it; tests compare.
 *
 * Letters are tasks, digits are results. Built with guest/common and guest/kernel; the host asks for one by `cryplab_filter`.
 */
#include <string.h>

#include "clock.h"
#include "console.h"
#include "rows.h"
#include "stm32f4.h"
#include "tasks.h"

#define STACK_WORDS 160
#define TASKS 3
#define NVIC_ISER ((REG *)0xE000E100u)
#define NVIC_ISPR ((REG *)0xE000E200u)
#define ETH_IRQ 61

static uint32_t stacks[TASKS][STACK_WORDS] __attribute__((aligned(8)));
static char order[64];
static volatile unsigned length;

static void note(char what)
{
    tasks_hold();
    if (length < sizeof order - 1) {
        order[length++] = what;
    }
    tasks_release();
}

static void work_ms(uint32_t ms)
{
    uint64_t start = clock_cycles();
    while (clock_cycles() - start < (uint64_t)ms * (BOARD_CORE_HZ / 1000)) {
    }
}

static void run_all(void (*run)(void *))
{
    static const char names[] = "ABC";
    unsigned numbers[TASKS];
    for (unsigned i = 0; i < TASKS; i++) {
        numbers[i] = tasks_add(run, (void *)&names[i], stacks[i], STACK_WORDS);
    }
    tasks_start();
    for (unsigned i = 0; i < TASKS; i++) {
        tasks_join(numbers[i]);
    }
}

/* ---- each works, and notes whenever it comes to run again ---- */

static void turn(void *name)
{
    static volatile char running;
    for (int turns = 0; turns < 4; turns++) {
        while (running == *(char *)name) {
        }
        running = *(char *)name;
        note(running);
    }
}

static void turns(void) { run_all(turn); }

/* ---- one holds, others wait in the order of their coming; a count that needs the mutex is right ---- */

static struct task_mutex mutex;
static volatile unsigned counted;

static void count_up(void *name)
{
    for (int i = 0; i < 3; i++) {
        task_mutex_lock(&mutex);
        task_mutex_lock(&mutex); /* again, by its owner */
        unsigned before = counted;
        note(*(char *)name);
        work_ms(3);
        counted = before + 1;
        task_mutex_unlock(&mutex);
        task_mutex_unlock(&mutex);
    }
}

static void mutexes(void)
{
    run_all(count_up);
    note((char)('0' + counted));
}

/* ---- sleep, the longest first; the core sleeps, too ---- */

static void sleep_once(void *name)
{
    tasks_sleep((uint32_t)(10 - 3 * (*(char *)name - 'A')));
    note(*(char *)name);
}

static void sleeps(void)
{
    uint32_t start = clock_tick();
    run_all(sleep_once);
    note((char)('0' + (clock_tick() - start) / 10));
    note(tasks_idle_cycles() > 9 * (BOARD_CORE_HZ / 1000) ? 'i' : 'b');
}

/* ---- semaphores: counted to their most, with a limit, given by a handler ---- */

static struct task_semaphore semaphore = {0, 2};

void ETH_IRQHandler(void) { task_semaphore_give(&semaphore); }

static void taker(void *name)
{
    if (task_semaphore_take(&semaphore, TASKS_FOREVER) == 0) {
        note(*(char *)name);
    }
}

static void semaphores(void)
{
    for (int i = 0; i < 4; i++) {
        task_semaphore_give(&semaphore);
    }
    for (int i = 0; i < 3; i++) {
        note((char)('0' + (task_semaphore_take(&semaphore, 0) == 0)));
    }
    unsigned first = tasks_add(taker, "A", stacks[0], STACK_WORDS);
    tasks_start();
    unsigned second = tasks_add(taker, "B", stacks[1], STACK_WORDS);
    uint32_t start = clock_tick();
    tasks_sleep(2);
    NVIC_ISER[ETH_IRQ / 32] = 1u << ETH_IRQ % 32;
    NVIC_ISPR[ETH_IRQ / 32] = 1u << ETH_IRQ % 32;
    tasks_join(first);
    note('m');
    task_semaphore_give(&semaphore);
    tasks_join(second);
    note(task_semaphore_take(&semaphore, 5) != 0 ? 'l' : 'w');
    note((char)('0' + (clock_tick() - start)));
}

/* ---- registers belong to tasks ---- */

static unsigned right;

static void add_up(void *name)
{
    float sum = 0, step = (float)(*(char *)name - 'A' + 1);
    unsigned whole = 0;
    for (int i = 0; i < 200000; i++) {
        sum += step;
        whole += (unsigned)step;
    }
    right += sum == 200000 * step && whole == 200000 * (unsigned)step;
}

static void registers(void)
{
    run_all(add_up);
    note((char)('0' + right));
    note(tasks_switches > 9 ? 's' : 'f');
}

/* ---- a stack that is too small ---- */

static unsigned deep(unsigned depth)
{
    volatile unsigned here[16] = {depth};
    return depth == 0 ? here[0] : deep(depth - 1) + here[0];
}

static void dive(void *name)
{
    (void)name;
    deep(1);
    note(tasks_stack_left(1) > 32 && tasks_stack_left(1) < STACK_WORDS - 16 ? 'k' : 'w');
    for (;;) {
        deep(8);
    }
}

static void overrun(void)
{
    tasks_add(dive, NULL, stacks[1], STACK_WORDS); /* what it overruns is ours */
    tasks_start();
    tasks_sleep(5);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {
        {"turns", turns},           {"mutexes", mutexes},     {"sleeps", sleeps},
        {"semaphores", semaphores}, {"registers", registers}, {"overrun", overrun},
    };
    for (unsigned i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (cryplab_wanted(scenarios[i].name)) {
            scenarios[i].run();
        }
    }
    console_printf("%s\n", order);
    return 0;
}
