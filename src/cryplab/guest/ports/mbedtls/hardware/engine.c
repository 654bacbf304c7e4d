/* See engine.h. */
#include "engine.h"

__attribute__((weak)) void engine_lock(enum engine engine)
{
    (void)engine;
}

__attribute__((weak)) void engine_unlock(enum engine engine)
{
    (void)engine;
}

__attribute__((noinline)) int engine_wait_slowly(const volatile uint32_t *status, uint32_t mask, uint32_t value)
{
    uint32_t start = DWT_CYCCNT;
    do {
        if ((*status & mask) == value) {
            return 0;
        }
    } while (DWT_CYCCNT - start < ENGINE_LIMIT_CYCLES);
    return (*status & mask) == value ? 0 : -1;
}
