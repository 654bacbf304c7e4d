/* Flash read path of STM32F2 and F4: instruction cache, prefetch, data cache.
 *
 * The flash is read 128 bits (one line of 16 bytes) at a time, a read takes wait states + 1 core
 * cycles. Between it and the core sit 64 instruction lines, 8 data lines and a prefetch of one line
 * (RM0090, embedded flash memory interface, adaptive real-time memory accelerator). Both functions
 * give the cycles that the core stands still; one access cycle is part of the instruction's own cost.
 *
 *   flash_fetch   the core enters an instruction line: nothing if it is there already, what is left of
 *                 its prefetch, or the wait states after whatever read is running. The read of the
 *                 following line starts when a line is entered and its follower is not kept yet.
 *   flash_data    a load from flash: nothing if its line is kept, else the wait states. It goes before a
 *                 prefetch, which is late by as much.
 *
 * Every line that was read is kept, prefetched ones too, and the least recently used one makes room.
 *
 * Departures: the stall of a data read does not wait for a prefetch in progress (the prefetch waits
 * instead); lines are asked for when their first instruction starts, not when the fetch queue would.
 * Both make no difference over 2 % in the rows that were tried.
 *
 * `line` is the line's address, a multiple of 16, with aliases of the flash resolved by the caller.
 * `now` is in core cycles and must not run backwards between calls of flash_fetch.
 * The struct holds no pointers: copying it is a snapshot.
 */
#ifndef CRYPLAB_FLASH_H
#define CRYPLAB_FLASH_H

#include <stdint.h>
#include <string.h>

#define FLASH_LINE_BYTES 16u
#define FLASH_I_LINES 64u
#define FLASH_D_LINES 8u
#define FLASH_BUCKETS 256u
#define FLASH_NO_LINE 0xFFFFFFFFu /* not a multiple of 16 */
#define FLASH_NO_SLOT 0xFFu

struct flash_cache {
    /* settings of FLASH_ACR */
    uint32_t wait_states;
    uint8_t prefetch_enabled, icache_enabled, dcache_enabled;

    uint32_t current;        /* line that instructions come from now */
    uint32_t prefetch_line;  /* the line last asked for ahead of time */
    uint64_t prefetch_ready; /* first cycle at which it can be entered without a stall */

    /* instruction lines: slots chained by bucket for look-up and by age for replacement */
    uint32_t tag[FLASH_I_LINES];
    uint8_t bucket[FLASH_BUCKETS];
    uint8_t chain[FLASH_I_LINES];
    uint8_t newer[FLASH_I_LINES], older[FLASH_I_LINES];
    uint8_t newest, oldest;
    uint32_t generation; /* changes when a line comes or goes */

    uint32_t data_tag[FLASH_D_LINES]; /* most recently used first */

    /* for reports */
    uint64_t fetch_misses, prefetch_waits, data_misses;
};

/* FLASH_ACR.ICRST: forget every instruction line. */
static inline void flash_reset_instructions(struct flash_cache *f)
{
    memset(f->bucket, FLASH_NO_SLOT, sizeof f->bucket);
    memset(f->chain, FLASH_NO_SLOT, sizeof f->chain);
    for (unsigned slot = 0; slot < FLASH_I_LINES; slot++) {
        f->tag[slot] = FLASH_NO_LINE;
        f->older[slot] = (uint8_t)(slot + 1);
        f->newer[slot] = (uint8_t)(slot - 1);
    }
    f->newer[0] = f->older[FLASH_I_LINES - 1] = FLASH_NO_SLOT;
    f->newest = 0;
    f->oldest = FLASH_I_LINES - 1;
    f->current = f->prefetch_line = FLASH_NO_LINE;
    f->prefetch_ready = 0;
    f->generation++;
}

/* FLASH_ACR.DCRST: forget every data line. */
static inline void flash_reset_data(struct flash_cache *f)
{
    memset(f->data_tag, 0xFF, sizeof f->data_tag);
}

/* State after power-on: no wait states, everything off, nothing kept. */
static inline void flash_reset(struct flash_cache *f)
{
    memset(f, 0, sizeof *f);
    flash_reset_instructions(f);
    flash_reset_data(f);
}

static inline unsigned flash_bucket(uint32_t line)
{
    return (line / FLASH_LINE_BYTES) % FLASH_BUCKETS;
}

static inline unsigned flash_find(const struct flash_cache *f, uint32_t line)
{
    unsigned slot = f->bucket[flash_bucket(line)];
    while (slot != FLASH_NO_SLOT && f->tag[slot] != line)
        slot = f->chain[slot];
    return slot;
}

/* Make a slot the most recently used one. */
static inline void flash_touch(struct flash_cache *f, unsigned slot)
{
    if (slot == f->newest)
        return;
    unsigned newer = f->newer[slot], older = f->older[slot];
    f->older[newer] = (uint8_t)older; /* not the newest, so there is a newer one */
    if (older == FLASH_NO_SLOT)
        f->oldest = (uint8_t)newer;
    else
        f->newer[older] = (uint8_t)newer;
    f->older[slot] = f->newest;
    f->newer[slot] = FLASH_NO_SLOT;
    f->newer[f->newest] = (uint8_t)slot;
    f->newest = (uint8_t)slot;
}

/* Keep a line that is not kept yet, in place of the least recently used one. */
static inline void flash_keep(struct flash_cache *f, uint32_t line)
{
    unsigned slot = f->oldest;
    f->generation++;
    if (f->tag[slot] != FLASH_NO_LINE) {
        uint8_t *link = &f->bucket[flash_bucket(f->tag[slot])];
        while (*link != slot)
            link = &f->chain[*link];
        *link = f->chain[slot];
    }
    f->tag[slot] = line;
    f->chain[slot] = f->bucket[flash_bucket(line)];
    f->bucket[flash_bucket(line)] = (uint8_t)slot;
    flash_touch(f, slot);
}

/* Start reading the line after the current one, unless it is kept or being read already. */
static inline void flash_read_ahead(struct flash_cache *f, uint64_t now)
{
    uint32_t next = f->current + FLASH_LINE_BYTES;
    if (!f->prefetch_enabled || next == f->prefetch_line)
        return;
    if (f->icache_enabled) {
        if (flash_find(f, next) != FLASH_NO_SLOT)
            return;
        flash_keep(f, next);
    }
    f->prefetch_line = next;
    f->prefetch_ready = now + f->wait_states + 1;
}

/* Slow part of flash_fetch: the line is not the current one. */
static inline unsigned flash_enter(struct flash_cache *f, uint32_t line, uint64_t now)
{
    unsigned busy = f->prefetch_ready > now ? (unsigned)(f->prefetch_ready - now) : 0;
    unsigned slot = f->icache_enabled ? flash_find(f, line) : FLASH_NO_SLOT;
    unsigned stall = 0;

    f->current = line;
    if (slot != FLASH_NO_SLOT)
        flash_touch(f, slot);
    if (line == f->prefetch_line && (slot != FLASH_NO_SLOT || !f->icache_enabled)) {
        stall = busy;
        f->prefetch_waits += busy != 0;
        f->prefetch_line = FLASH_NO_LINE;
    } else if (slot != FLASH_NO_SLOT) {
        flash_read_ahead(f, now + busy); /* one read at a time */
        return 0;
    } else {
        stall = busy + f->wait_states;
        f->fetch_misses++;
        if (f->icache_enabled)
            flash_keep(f, line);
    }
    flash_read_ahead(f, now + stall);
    return stall;
}

/* Stall of the core when it starts the first instruction in a line at cycle `now`. */
static inline unsigned flash_fetch(struct flash_cache *f, uint32_t line, uint64_t now)
{
    if (line == f->current || f->wait_states == 0)
        return 0;
    return flash_enter(f, line, now);
}

/* Stall of the core when a load reads from a line at cycle `now`. */
static inline unsigned flash_data(struct flash_cache *f, uint32_t line, uint64_t now)
{
    uint32_t *tag = f->data_tag;
    if (f->wait_states == 0 || (tag[0] == line && f->dcache_enabled))
        return 0;
    if (f->dcache_enabled) {
        unsigned place = 1;
        while (place < FLASH_D_LINES && tag[place] != line)
            place++;
        unsigned hit = place < FLASH_D_LINES;
        memmove(tag + 1, tag, (hit ? place : FLASH_D_LINES - 1) * sizeof *tag);
        tag[0] = line;
        if (hit)
            return 0;
    }
    f->data_misses++;
    if (f->prefetch_ready > now)
        f->prefetch_ready += f->wait_states;
    return f->wait_states;
}

#endif
