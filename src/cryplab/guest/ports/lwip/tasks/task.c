/* See sharing.h: several tasks. lwIP is behind one mutex; a task of its own works when a frame has come or a timer is due,
 * and wakes the task that waits for what has changed.
 *
 * lwIP is that of the main loop (NO_SYS): its callbacks run inside the mutex, in the task of the network or in one that
 * sends or receives, for those do the work that is there as well. lwIP's own thread would bring mailboxes, a message for
 * each call and a second pool of buffers, and the callers would wait no less.
 */
#include "ethernetif.h"
#include "lwip/timeouts.h"
#include "sharing.h"
#include "tasks.h"

#define STACK_WORDS 512
#define WAIT_MS 10  /* so long callers may find that their limit has passed */
#define LINK_MS 250 /* so long a link that is lost may go unseen */

static struct task_mutex mutex;
static struct task_semaphore frames = {0, 1};
static struct task_semaphore changed[TASKS_MOST]; /* one for each task */
static uint32_t stack[STACK_WORDS] __attribute__((aligned(8)));

void ethernetif_arrived(void)
{
    task_semaphore_give(&frames);
}

static void run(void *argument)
{
    (void)argument;
    for (;;) {
        network_enter();
        network_work();
        uint32_t due = sys_timeouts_sleeptime();
        network_leave();
        if (due != 0) {
            task_semaphore_take(&frames, due < LINK_MS ? due : LINK_MS);
        }
    }
}

void network_begin(void)
{
    for (unsigned i = 0; i < TASKS_MOST; i++) {
        changed[i].most = 1;
    }
    tasks_add(run, 0, stack, STACK_WORDS);
    tasks_start();
}

void network_enter(void)
{
    task_mutex_lock(&mutex);
}

void network_leave(void)
{
    task_mutex_unlock(&mutex);
}

void network_mine(struct network_stream *stream)
{
    stream->task = tasks_current();
}

void network_changed(struct network_stream *stream)
{
    if (stream != NULL) {
        task_semaphore_give(&changed[stream->task]);
        return;
    }
    for (unsigned i = 0; i < TASKS_MOST; i++) {
        task_semaphore_give(&changed[i]);
    }
}

void network_wait_at_most(uint32_t ms)
{
    task_semaphore_take(&changed[tasks_current()], ms);
}

void network_wait(void)
{
    network_wait_at_most(WAIT_MS);
}

uint64_t network_idle_cycles(void)
{
    return tasks_idle_cycles();
}
