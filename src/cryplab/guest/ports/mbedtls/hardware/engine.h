/* What CRYP and HASH drivers share: one job at a time on a block, and waits that end. */
#ifndef ENGINE_H
#define ENGINE_H

#include "stm32f4.h"

enum engine { ENGINE_CRYP, ENGINE_HASH, ENGINE_RNG };

/* Held around every use of a block. Alone they do nothing; a program with threads defines its own.
 * Nothing of a context stays in a block between two calls, so any order of calls is safe. */
void engine_lock(enum engine engine);
void engine_unlock(enum engine engine);

#define ENGINE_LIMIT_CYCLES 100000u /* the longest step of either engine takes a few hundred cycles */

/* Wait until (*status & mask) == value; -1 when the block does not get there in time. */
int engine_wait_slowly(const volatile uint32_t *status, uint32_t mask, uint32_t value);

static inline int engine_wait(const volatile uint32_t *status, uint32_t mask, uint32_t value)
{
    return (*status & mask) == value ? 0 : engine_wait_slowly(status, mask, value);
}

#endif
