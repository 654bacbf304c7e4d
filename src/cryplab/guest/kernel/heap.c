/* The heap is shared by all tasks. Its calls are short and many: a mutex that one holds when its time is up would be waited
 * for by all others at each of theirs, a switch each time. */
#include "tasks.h"

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
