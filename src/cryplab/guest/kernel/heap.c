/* The heap is shared by all tasks: newlib takes this mutex around its own work, also inside itself. */
#include "tasks.h"

struct _reent;

static struct task_mutex heap;

void __malloc_lock(struct _reent *r)
{
    (void)r;
    task_mutex_lock(&heap);
}

void __malloc_unlock(struct _reent *r)
{
    (void)r;
    task_mutex_unlock(&heap);
}
