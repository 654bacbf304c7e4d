/* What the flash costs a block: its lines through the model of flash.h, and data reads, followed or learned.
 *
 * Exact clock: the hook of access.h gives every data read to the model. Fast clock: the same in samples, and each
 * block's mean outside them. When samples are taken depends on cycles and counts alone.
 */
#ifndef CRYPLAB_STALLS_H
#define CRYPLAB_STALLS_H

#include "engine.h"

/* -- flash lines --------------------------------------------------------------------------------------------------- */

/* Blocks whose lines are all kept, with the lines that follow them, cannot stall: they only make lines younger. That is
 * noted by block and done before it matters, in the order in which they ran last. */
static void bring_up_ages(Engine *e)
{
    for (unsigned i = 1; i < e->touched_count; i++) {
        struct entry *n = e->touched[i];
        unsigned at = i;
        for (; at && e->touched[at - 1]->stamp > n->stamp; at--)
            e->touched[at] = e->touched[at - 1];
        e->touched[at] = n;
    }
    for (unsigned i = 0; i < e->touched_count; i++) {
        struct entry *n = e->touched[i];
        n->touched = false;
        for (unsigned k = 0; k < n->points; k++) {
            unsigned slot = n->point[k].data ? FLASH_NO_SLOT : flash_find(&e->s.flash, n->point[k].line);
            if (slot != FLASH_NO_SLOT)
                flash_touch(&e->s.flash, slot);
        }
    }
    e->touched_count = 0;
}

static bool is_clean(Engine *e, const struct entry *n)
{
    const struct flash_cache *f = &e->s.flash;
    if (!f->icache_enabled)
        return false;
    for (unsigned i = 0; i < n->points; i++) {
        uint32_t line = n->point[i].line;
        if (n->point[i].data)
            continue;
        if (flash_find(f, line) == FLASH_NO_SLOT || line == f->prefetch_line ||
            (f->prefetch_enabled && flash_find(f, line + FLASH_LINE_BYTES) == FLASH_NO_SLOT))
            return false;
    }
    return true;
}

static inline uint64_t note_stall(Engine *e, uint16_t offset, unsigned cycles)
{
    if (cycles && e->stalls < MAX_STALLS) {
        e->stall[e->stalls].offset = offset;
        e->stall[e->stalls++].cycles = (uint16_t)cycles;
    }
    return cycles;
}

/* Take the block's lines, and its literals if wanted, through the model; returns the stalls. */
static uint64_t walk_flash(Engine *e, struct entry *n, uint64_t start, bool with_data)
{
    struct flash_cache *f = &e->s.flash;
    uint32_t generation = f->generation;
    uint64_t t = start, fetch_stalls = 0;
    bring_up_ages(e);
    for (unsigned i = 0; i < n->points; i++) {
        const struct point *p = &n->point[i];
        if (!p->data) {
            unsigned cycles = flash_fetch(f, p->line, t + p->offset);
            fetch_stalls += cycles;
            t += note_stall(e, p->offset, cycles);
        } else if (with_data) {
            unsigned cycles = flash_data(f, p->line, t + p->offset);
            n->sampled_stalls += e->following ? cycles : 0;
            t += note_stall(e, p->offset, cycles);
        }
    }
    if (!fetch_stalls && f->generation == generation && is_clean(e, n))
        n->clean = generation;
    return t - start;
}

/* The same for a block that cannot stall on instructions. */
static inline uint64_t walk_clean(Engine *e, struct entry *n, uint64_t start, bool with_data)
{
    uint64_t t = start;
    n->stamp = ++e->stamp;
    if (!n->touched) {
        if (e->touched_count == MAX_TOUCHED)
            bring_up_ages(e);
        n->touched = true;
        e->touched[e->touched_count++] = n;
    }
    e->s.flash.current = n->last_line;
    if (with_data && (n->flags & ENTRY_DATA))
        for (unsigned i = 0; i < n->points; i++) {
            const struct point *p = &n->point[i];
            if (p->data) {
                unsigned cycles = flash_data(&e->s.flash, p->line, t + p->offset);
                n->sampled_stalls += e->following ? cycles : 0;
                t += note_stall(e, p->offset, cycles);
            }
        }
    return t - start;
}

/* -- fast clock: data stalls learned in samples -------------------------------------------------------------------- */
#define SAMPLE_CYCLES 20000       /* length of a sample */
#define SAMPLE_SPACING 8000000    /* from one to the next */
#define FIRST_SPACING 500000      /* the same when a block was never sampled */
#define FIRST_RUNS 16             /* runs of a block before its first sample */
#define LONGEST_GAP (1u << 20)    /* runs between samples of one block */
#define ENOUGH_RUNS 4             /* sampled, to know a mean */

static inline bool knows_mean(const struct entry *n)
{
    return n->sampled_times >= ENOUGH_RUNS;
}

/* Time went back: what was planned for later than it would be from here comes nearer. */
static void replan_samples(Engine *e)
{
    int64_t now = (int64_t)e->s.cycles;
    if (e->next_sample > now + SAMPLE_SPACING)
        e->next_sample = now + SAMPLE_SPACING;
    if (e->next_first_sample > now + FIRST_SPACING)
        e->next_first_sample = now + FIRST_SPACING;
    if (e->sample_end > now + SAMPLE_CYCLES)
        e->sample_end = now + SAMPLE_CYCLES;
}

/* A block with loads that may be of flash ran once more outside a sample; true when a sample is due. */
static bool sample_due(Engine *e, struct entry *n)
{
    if (n->until_sample) {
        n->until_sample--;
        return false;
    }
    return (int64_t)e->s.cycles >= (knows_mean(n) ? e->next_sample : e->next_first_sample);
}

static inline uint64_t learned_stall(struct entry *n)
{
    n->debt += n->mean;
    uint64_t cycles = n->debt >> 8;
    n->debt &= 0xFF;
    return cycles;
}

/* The end of a sample: new means, and when each block that ran or asked wants the next one. */
static void learn(Engine *e)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct entry *n = e->bucket[i]; n; n = n->next) {
            bool ran = n->sampled_times != n->learned_times, asked = (n->flags & ENTRY_UNKNOWN) && !n->until_sample;
            if (ran)
                n->mean = (uint32_t)((n->sampled_stalls << 8) / n->sampled_times);
            n->learned_times = n->sampled_times;
            if (ran || asked) {
                n->until_sample = n->next_gap;
                n->next_gap = n->next_gap < LONGEST_GAP ? 4 * n->next_gap : LONGEST_GAP;
            }
        }
}

/* Flash stalls of the block that starts now. */
static inline uint64_t flash_stalls(Engine *e, struct entry *n, uint64_t t)
{
    bool learned = !e->following && knows_mean(n);
    uint64_t stalls = learned ? learned_stall(n) : 0;
    if (e->following)
        n->sampled_times++;
    else if ((n->flags & ENTRY_UNKNOWN) && sample_due(e, n)) {
        e->want_sample = true;
        e->limit = 0;
    }
    if (n->clean == e->s.flash.generation)
        return stalls + walk_clean(e, n, t, !learned);
    return stalls + walk_flash(e, n, t, !learned);
}

#endif
