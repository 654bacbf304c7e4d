/* What newlib needs below it: heap, lock around the heap, a console for stray output. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "console.h"
#include "kernel.h"
#include "rows.h"

extern char link_heap_start[], link_heap_end[];

void *_sbrk(ptrdiff_t amount)
{
    static char *top = link_heap_start;
    if (amount > link_heap_end - top) {
        errno = ENOMEM;
        return (void *)-1;
    }
    char *old = top;
    top += amount;
    return old;
}

struct _reent;

/* wolfSSL's published rows of F4 come from programs under FreeRTOS, whose heap suspends the scheduler; mbed TLS's from one
 * under RTX 5, where the C library's heap is behind a mutex, which fits the rows of F2 better, too (docs/wolfssl.md). */
#if defined(CRYPLAB_HAL)
#define TAKE_HEAP() kernel_suspend()
#define GIVE_HEAP() kernel_resume()
#else
static struct kernel_mutex heap_mutex = KERNEL_MUTEX;
#define TAKE_HEAP() kernel_mutex_lock(&heap_mutex)
#define GIVE_HEAP() kernel_mutex_unlock(&heap_mutex)
#endif

__attribute__((weak)) void __malloc_lock(struct _reent *r)
{
    (void)r;
    TAKE_HEAP();
}

__attribute__((weak)) void __malloc_unlock(struct _reent *r)
{
    (void)r;
    GIVE_HEAP();
}

int _write(int file, const char *text, int length)
{
    (void)file;
    console_write(text, (size_t)length);
    return length;
}

int _read(int file, char *text, int length)
{
    (void)file, (void)text, (void)length;
    return 0;
}

int _close(int file)
{
    (void)file;
    return -1;
}

int _fstat(int file, struct stat *status)
{
    (void)file;
    status->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file)
{
    (void)file;
    return 1;
}

int _lseek(int file, int offset, int from)
{
    (void)file, (void)offset, (void)from;
    return 0;
}

int _kill(int process, int signal)
{
    (void)process, (void)signal;
    errno = EINVAL;
    return -1;
}

int _getpid(void)
{
    return 1;
}

void _init(void)
{
}

void _fini(void)
{
}

void _exit(int code)
{
    cryplab_done((uint32_t)code);
}
