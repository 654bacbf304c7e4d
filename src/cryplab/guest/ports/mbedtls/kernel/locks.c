/* Tasks and mbed TLS: the library's mutexes, and one for each engine that its drivers take around every use. */
#include "../hardware/engine.h"

#include "mbedtls/threading.h"

static struct task_mutex engines[3];

void engine_lock(enum engine engine)
{
    task_mutex_lock(&engines[engine]);
}

void engine_unlock(enum engine engine)
{
    task_mutex_unlock(&engines[engine]);
}

static void init(mbedtls_threading_mutex_t *mutex)
{
    *mutex = (mbedtls_threading_mutex_t){0};
}

static void ignore(mbedtls_threading_mutex_t *mutex)
{
    (void)mutex;
}

static int lock(mbedtls_threading_mutex_t *mutex)
{
    task_mutex_lock(mutex);
    return 0;
}

static int unlock(mbedtls_threading_mutex_t *mutex)
{
    task_mutex_unlock(mutex);
    return 0;
}

/* Before main(): the library makes mutexes with its first context. */
__attribute__((constructor)) static void set_up(void)
{
    mbedtls_threading_set_alt(init, ignore, lock, unlock);
}
