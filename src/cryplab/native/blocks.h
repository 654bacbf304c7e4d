/* Counting: one entry per translated block, and the hook that runs at each block's start.
 *
 * A block's cycles are the sum of its instructions (BlockTiming, made by Python once per block), the branch that
 * led to it, and the stalls of the flash lines it touches. The hook stops the run before a block, never inside one.
 */
#ifndef CRYPLAB_BLOCKS_H
#define CRYPLAB_BLOCKS_H

#include "engine.h"
#include "exceptions.h"
#include "stalls.h"
#include "watch.h"

static inline unsigned bucket_of(uint32_t address)
{
    return (address >> 1) % BUCKETS;
}

static void free_entry(struct entry *n)
{
    PyMem_Free(n->point);
    PyMem_Free(n->offset);
    PyMem_Free(n->check);
    PyMem_Free(n->copy);
    PyMem_Free(n);
}

#define LONGEST_BLOCK 1024u /* bytes: the engine's page on ARMv7-M */

static void forget_in_bucket(Engine *e, unsigned bucket, uint32_t base, uint64_t end)
{
    struct entry **link = &e->bucket[bucket];
    while (*link) {
        struct entry *n = *link;
        if (n->address >= end || (uint64_t)n->address + n->size <= base) {
            link = &n->next;
            continue;
        }
        *link = n->next;
        if (e->current == n) { /* what the next block's branch cost depends on */
            e->gone = (struct entry){.fall_through = n->fall_through, .taken = n->taken, .flags = n->flags};
            e->current = &e->gone;
        }
        free_entry(n);
    }
}

/* Forget what was described of [base, end). */
static void forget_blocks(Engine *e, uint32_t base, uint64_t end)
{
    bring_up_ages(e);
    if (end - base < 2 * (uint64_t)BUCKETS - LONGEST_BLOCK) {
        for (uint64_t at = base > LONGEST_BLOCK ? base - LONGEST_BLOCK : 0; at < end; at += 2)
            forget_in_bucket(e, bucket_of((uint32_t)at), base, end);
    } else {
        for (unsigned bucket = 0; bucket < BUCKETS; bucket++)
            forget_in_bucket(e, bucket, base, end);
    }
}

/* The known entry of a block, moved to the front of its bucket; NULL when it was never described. */
static struct entry *known_block(Engine *e, uint32_t address, uint32_t size)
{
    struct entry **head = &e->bucket[bucket_of(address)], **link = head;
    for (struct entry *n = *link; n; link = &n->next, n = *link)
        if (n->address == address && n->size == size) {
            *link = n->next;
            n->next = *head;
            *head = n;
            return n;
        }
    return NULL;
}

static int break_inside(Engine *e, uint32_t address)
{
    for (unsigned i = 0; i < e->breakpoints; i++)
        if (e->breakpoint[i].address == address)
            return ENTRY_BREAK;
    return 0;
}

/* Fill an entry with describe(address, size) ->
 * (cost, taken, fall_through, entry_extra, instructions, unknown_loads, flags, before_fp, offsets, points,
 * checks), the last three as bytes: a uint16 per halfword, a struct point per flash line, a struct check each. */
static int fill_block(Engine *e, struct entry *n)
{
    PyObject *told = PyObject_CallFunction(e->describe, "II", n->address, n->size);
    if (!told)
        return -1;
    unsigned flags, taken, extra, instructions, unknown;
    Py_buffer offsets = {0}, points = {0}, checks = {0};
    if (!PyArg_ParseTuple(told, "IIIIIIIIy*y*y*", &n->cost, &taken, &n->fall_through, &extra, &instructions, &unknown,
                          &flags, &n->before_fp, &offsets, &points, &checks)) {
        Py_DECREF(told);
        return -1;
    }
    n->flags = (uint16_t)flags;
    n->taken = (uint16_t)taken;
    n->entry_extra = (uint16_t)extra;
    n->instructions = (uint16_t)instructions;
    n->unknown = (uint16_t)unknown;
    PyMem_Free(n->point);
    PyMem_Free(n->offset);
    PyMem_Free(n->check);
    n->points = (uint16_t)(points.len / (Py_ssize_t)sizeof *n->point);
    n->point = PyMem_Malloc((size_t)points.len + 1);
    n->offset = PyMem_Calloc(n->size / 2 + 1, sizeof *n->offset);
    n->checks = (uint16_t)(checks.len / (Py_ssize_t)sizeof *n->check);
    n->check = PyMem_Malloc((size_t)checks.len + 1);
    if (n->checks)
        n->flags |= ENTRY_ALIGNED;
    if (n->point && n->offset && n->check) {
        memcpy(n->check, checks.buf, (size_t)checks.len);
        memcpy(n->point, points.buf, (size_t)points.len);
        size_t room = (n->size / 2) * sizeof *n->offset;
        memcpy(n->offset, offsets.buf, (size_t)offsets.len < room ? (size_t)offsets.len : room);
    }
    PyBuffer_Release(&offsets);
    PyBuffer_Release(&points);
    PyBuffer_Release(&checks);
    Py_DECREF(told);
    for (unsigned i = 0; n->point && i < n->points; i++)
        if (n->point[i].data)
            n->flags |= ENTRY_DATA;
        else
            n->last_line = n->point[i].line;
    n->until_sample = n->next_gap = FIRST_RUNS;
    n->flags |= (uint16_t)(break_inside(e, n->address) | watched_inside(e, n->address));
    struct region *r = find_region(e, n->address, n->size);
    if (r && !r->flash) {
        n->host = r->host + (n->address - r->base);
        n->flags |= ENTRY_IN_RAM;
        PyMem_Free(n->copy);
        n->copy = PyMem_Malloc(n->size);
        if (n->copy)
            memcpy(n->copy, n->host, n->size);
    }
    if (!n->point || !n->offset || !n->check || ((n->flags & ENTRY_IN_RAM) && !n->copy)) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static struct entry *describe_block(Engine *e, uint32_t address, uint32_t size)
{
    struct entry *n = PyMem_Calloc(1, sizeof *n);
    if (!n) {
        PyErr_NoMemory();
        return NULL;
    }
    n->address = address;
    n->size = size;
    if (fill_block(e, n) < 0) {
        free_entry(n);
        return NULL;
    }
    struct entry **head = &e->bucket[bucket_of(address)];
    n->next = *head;
    *head = n;
    return n;
}

/* Cycle at which the instruction at `pc` of the block in progress starts. */
static uint64_t position(Engine *e, uint32_t pc)
{
    struct entry *n = e->current;
    if (!n || pc - n->address >= n->size)
        return e->s.cycles;
    uint16_t offset = n->offset[(pc - n->address) / 2];
    uint64_t at = e->base + e->extra + offset;
    for (unsigned i = 0; i < e->stalls && e->stall[i].offset <= offset; i++)
        at += e->stall[i].cycles;
    return at;
}

/* The block was left at `pc`, before its end: take back what was not executed. */
static void rewind_to(Engine *e, uint32_t pc)
{
    struct entry *n = e->current;
    if (n && pc - n->address < n->size) {
        uint64_t now = position(e, pc);
        n->cycles -= e->s.cycles - now;
        e->s.cycles = now;
    }
    e->current = NULL;
    e->s.last_size = 0;
}

/* Something may want the run to stop here; decides whether it does. */
static bool must_stop(Engine *e)
{
    undo_store(e);
    refresh_limit(e);
    if (e->error_type || e->request || e->want_sample || e->flush_end || (int64_t)e->s.cycles >= e->edge)
        return true;
    return e->candidate && !is_masked(e, e->candidate);
}

static bool fault_ahead(Engine *e, uint32_t cfsr, uint32_t before)
{
    e->fault_ahead = cfsr;
    e->before_fault = before;
    return true;
}

/* What the fast path leaves out; true when the run must stop before the block. */
static bool slow_entry(Engine *e, struct entry *n)
{
    if ((n->flags & ENTRY_BREAK) && n->address != e->skip_break) {
        if (n->flags & ENTRY_WATCH) {
            tell_watch(e, n->address);
            e->watch_told = n->address;
        }
        e->break_hit = true;
        return true;
    }
    if ((n->flags & ENTRY_IN_RAM) && memcmp(n->host, n->copy, n->size)) { /* the loop drops it and its translation */
        e->flush_base = n->address < e->flush_base ? n->address : e->flush_base;
        e->flush_end = n->address + n->size > e->flush_end ? n->address + n->size : e->flush_end;
        return true;
    }
    if (n->flags & ENTRY_SELF_LOOP)
        return e->spin = true;
    if ((n->flags & ENTRY_FP) && (e->s.cpacr >> 20 & 0xF) != 0xF)
        return fault_ahead(e, NOCP, n->before_fp);
    for (unsigned i = 0; i < n->checks; i++)
        if ((get(e, R0 + n->check[i].reg) + n->check[i].added) & 3)
            return fault_ahead(e, UNALIGNED, n->check[i].before);
    if (n->flags & ENTRY_SEV)
        e->s.event = 1;
    if (n->flags & ENTRY_WATCH) {
        if (n->address != e->watch_told || n->address != e->skip_break)
            tell_watch(e, n->address);
        e->watch_told = 1; /* no address */
    }
    return e->error_type != NULL;
}

/* UC_HOOK_BLOCK */
static void on_block(uc_engine *uc, uint64_t address64, uint32_t size, void *user)
{
    Engine *e = user;
    uint32_t address = (uint32_t)address64;
    if (e->mode != RUNNING) {
        if (e->mode == TURNING_BACK)
            e->fn.emu_stop(uc);
        return;
    }
    if ((int64_t)e->s.cycles >= e->limit && must_stop(e)) {
        e->stopped = true;
        e->fn.emu_stop(uc);
        return;
    }
    struct entry *n = e->bucket[bucket_of(address)];
    if (!n || n->address != address || n->size != size) {
        n = known_block(e, address, size);
        if (!n && !(n = describe_block(e, address, size))) {
            keep_error(e);
            e->stopped = true;
            e->fn.emu_stop(uc);
            return;
        }
    }
    if ((n->flags & ENTRY_SLOW) && slow_entry(e, n)) {
        e->stopped = true;
        e->fn.emu_stop(uc);
        return;
    }
    uint64_t t = e->s.cycles;
    const struct entry *last = e->current;
    e->it_risk = n->flags & ENTRY_IT_LOADS;
    if (last) {
        if (last->taken && address != last->fall_through)
            t += last->taken + n->entry_extra;
        e->it_risk |= last->flags & ENTRY_IT_OPEN;
    } else {
        e->it_risk = true;
    }
    e->base = t;
    e->extra = 0;
    e->stalls = 0;
    if (e->s.flash.wait_states)
        t += flash_stalls(e, n, t);
    t += n->cost;
    n->times++;
    n->cycles += t - e->s.cycles;
    e->s.cycles = t;
    e->current = n;
    e->skip_break = 1; /* no address */
    e->last_access_pc = 1;
}

/* UC_HOOK_CODE on the address of a breakpoint, for those that are not a block's start. */
static void on_breakpoint(uc_engine *uc, uint64_t address, uint32_t size, void *user)
{
    (void)size;
    Engine *e = user;
    if (e->stopped || !e->current || e->current->address == (uint32_t)address)
        return;
    e->break_hit = true;
    e->fn.emu_stop(uc);
}

#endif
