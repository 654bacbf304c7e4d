/* The run loop: events, signals and pending exceptions have their turn, then code, then why it came back. */
#ifndef CRYPLAB_RUN_H
#define CRYPLAB_RUN_H

#include "access.h"
#include "blocks.h"
#include "exceptions.h"

/* UC_HOOK_INTR: the loop decides what it was. */
static void on_interrupt(uc_engine *uc, uint32_t number, void *user)
{
    Engine *e = user;
    e->interrupt = number;
    e->fn.emu_stop(uc);
}

static bool check(int err, const char *what)
{
    if (err)
        PyErr_Format(PyExc_RuntimeError, "Unicorn: %s failed with error %d", what, err);
    return !err;
}

static bool add_hook(Engine *e, int type, void *callback, uint64_t begin, uint64_t end, size_t *handle)
{
    size_t unused;
    return check(e->fn.hook_add(e->uc, handle ? handle : &unused, type, callback, e, begin, end), "hook_add");
}

/* Watch what is not RAM for accesses that a rule or nothing answers. A hook that covers a page of RAM, though it would
 * never be called there, keeps Unicorn on its slow path for every store to that page (so does on_fill's right). */
static bool hook_outside_ram(Engine *e)
{
    while (e->outside_hooks)
        e->fn.hook_del(e->uc, e->outside_hook[--e->outside_hooks]);
    for (uint64_t at = 0;;) {
        const struct region *next = NULL;
        for (unsigned i = 0; i < e->regions; i++) {
            const struct region *r = &e->region[i];
            if (!r->flash && r->base >= at && (!next || r->base < next->base))
                next = r;
        }
        uint64_t end = next ? next->base : (uint64_t)1 << 32;
        if (end > at && (!add_hook(e, HOOK_UNMAPPED, (void *)on_unmapped, at, end - 1, &e->outside_hook[e->outside_hooks++]) ||
                         !add_hook(e, HOOK_READ_PROT | HOOK_WRITE_PROT, (void *)on_protected, at, end - 1,
                                   &e->outside_hook[e->outside_hooks++])))
            return false;
        if (!next)
            return true;
        at = (uint64_t)next->base + next->size;
    }
}

/* Drop translations and entries of code that the host changed; never inside a callback. */
static void flush_changed(Engine *e)
{
    if (e->flush_end <= e->flush_base)
        return;
    forget_blocks(e, e->flush_base, e->flush_end);
    e->fn.ctl(e->uc, CTL_REMOVE_CACHE, (uint64_t)e->flush_base, (uint64_t)e->flush_end);
    for (unsigned i = 0; i < e->regions; i++) { /* and at its aliases */
        struct region *r = &e->region[i];
        if (r->canonical != r->base && e->flush_base - r->canonical < r->size) {
            uint64_t base = r->base + (e->flush_base - r->canonical);
            uint64_t end = base + (e->flush_end - e->flush_base);
            forget_blocks(e, (uint32_t)base, end);
            e->fn.ctl(e->uc, CTL_REMOVE_CACHE, base, end);
        }
    }
    e->flush_base = UINT32_MAX;
    e->flush_end = 0;
    refresh_limit(e);
}

static uint32_t code_at(Engine *e, uint32_t address)
{
    uint16_t half = 0;
    uint8_t *host = host_pointer(e, address, 2);
    if (host)
        memcpy(&half, host, 2);
    return half;
}

/* WFE and YIELD arrive as invalid instructions with PC after them, at their block's end. */
static bool is_hint(Engine *e, uint32_t pc, bool *wfe)
{
    struct entry *n = e->current;
    if (!n || pc != n->address + n->size)
        return false;
    uint32_t before = code_at(e, pc - 2), wide = code_at(e, pc - 4);
    *wfe = before == 0xBF20 || (wide == 0xF3AF && before == 0x8002);
    return *wfe || before == 0xBF10 || (wide == 0xF3AF && before == 0x8001);
}

/* Peripherals, devices and the private bus, ARMv7-M B3.1. */
static bool never_executes(uint32_t address)
{
    return (address >= 0x40000000u && address < 0x60000000u) || address >= 0xA0000000u;
}

/* PC is where no instruction can come from. */
static enum stop take_fetch_fault(Engine *e)
{
    struct region *r = find_region(e, e->s.pc, 2);
    if (r && !r->executes) { /* the first code in this RAM: go on */
        r->executes = true;
        e->fn.mem_protect(e->uc, r->base, r->size, PROT_ALL);
        e->fn.ctl(e->uc, CTL_FLUSH_TLB);
        return STOP_NONE;
    }
    rewind_to(e, e->s.pc);
    if (never_executes(e->s.pc))
        return take_fault(e, MEM_MANAGE, IACCVIOL, NULL);
    return take_fault(e, BUS_FAULT, IBUSERR, NULL);
}

/* Why the engine came back: an exception of its own. */
static enum stop after_interrupt(Engine *e)
{
    switch (e->interrupt) {
    case 2:
        return take_fault(e, SVCALL, 0, NULL);
    case 7:
        rewind_to(e, e->s.pc);
        return STOP_BKPT;
    case 8:
        switch (leave_exception(e, get(e, PC) | 1)) {
        case RETURNED:
            return STOP_NONE;
        case RETURN_BAD:
            return take_fault(e, USAGE_FAULT, INVPC, NULL);
        case RETURN_STACK_FAULT:
            return take_fault(e, BUS_FAULT, UNSTKERR, NULL);
        case RETURN_NOWHERE:
            return take_fault(e, USAGE_FAULT, INVSTATE, NULL);
        }
        return STOP_NONE;
    case 17:
        rewind_to(e, e->s.pc);
        return take_fault(e, USAGE_FAULT, NOCP, NULL);
    case 3:
        return take_fetch_fault(e);
    default:
        rewind_to(e, e->s.pc);
        return take_fault(e, USAGE_FAULT, UNDEFINSTR, NULL);
    }
}

static enum stop after_error(Engine *e, int err)
{
    bool wfe;
    switch (err) {
    case UC_INSN_INVALID:
        if (is_hint(e, e->s.pc, &wfe)) {
            if (wfe && !e->s.event)
                e->s.sleeping = 2;
            if (wfe)
                e->s.event = 0;
            return STOP_NONE;
        }
        rewind_to(e, e->s.pc);
        return take_fault(e, USAGE_FAULT, get(e, XPSR) & XPSR_T ? UNDEFINSTR : INVSTATE, NULL);
    case UC_READ_UNMAPPED:
    case UC_WRITE_UNMAPPED:
    case UC_READ_PROT:
    case UC_WRITE_PROT:
        rewind_to(e, e->s.pc);
        if (e->unaligned)
            return take_fault(e, USAGE_FAULT, UNALIGNED, NULL);
        return take_fault(e, BUS_FAULT, PRECISERR, &e->bad_address);
    case UC_FETCH_UNMAPPED:
    case UC_FETCH_PROT:
        return take_fetch_fault(e);
    default:
        PyErr_Format(PyExc_RuntimeError, "Unicorn: emu_start at 0x%08x failed with error %d", e->s.pc, err);
        keep_error(e);
        return STOP_NONE;
    }
}

/* Start or end following the data reads of the flash; what was translated before does not call the hook. */
static void follow_reads(Engine *e, bool on)
{
    for (unsigned i = 0; i < e->regions; i++) {
        struct region *r = &e->region[i];
        if (!r->flash)
            continue;
        if (on)
            e->fn.hook_add(e->uc, &e->reading_hook[i], HOOK_MEM_READ, (void *)on_flash_read, e, r->base,
                           (uint64_t)r->base + r->size - 1);
        else
            e->fn.hook_del(e->uc, e->reading_hook[i]);
    }
    if (!on) { /* a deleted hook goes with the next start, and until then code is translated to call it */
        e->mode = TURNING_BACK;
        e->fn.emu_start(e->uc, e->s.pc | 1, 0xFFFFFFFEu, 0, 0);
        e->mode = RUNNING;
    }
    e->fn.ctl(e->uc, CTL_FLUSH_CACHE);
    e->following = on;
}

/* Fast clock: a block asked for a sample, or the one in progress is over. */
static void start_or_end_sample(Engine *e)
{
    if (e->exact)
        return;
    int64_t now = (int64_t)e->s.cycles;
    if (e->want_sample && !e->following) {
        e->want_sample = false;
        follow_reads(e, true);
        e->sample_end = now + SAMPLE_CYCLES;
        refresh_limit(e);
    } else if (e->following && now >= e->sample_end) {
        follow_reads(e, false);
        learn(e);
        e->samples++;
        e->next_sample = now + SAMPLE_SPACING;
        e->next_first_sample = now + FIRST_SPACING;
    }
}

/* `b .`: whole rounds of it until something is due. */
static void spin_until(Engine *e, int64_t due)
{
    struct entry *n = e->bucket[bucket_of(e->s.pc)];
    uint32_t round = n && n->address == e->s.pc && n->cost ? n->cost + n->taken : 1;
    uint64_t rounds = ((uint64_t)due - e->s.cycles + round - 1) / round;
    e->s.cycles += rounds * round;
    e->current = NULL;
    if (n && n->address == e->s.pc) {
        n->times += rounds;
        n->cycles += rounds * round;
        e->current = n;
    }
}

/* An instruction of the block that was not begun will fault: run up to it. */
static enum stop fault_inside(Engine *e)
{
    struct entry *n = e->bucket[bucket_of(e->s.pc)];
    if (n && n->address == e->s.pc && e->before_fault) {
        e->mode = STEPPING;
        e->fn.ctl(e->uc, CTL_FLUSH_CACHE); /* counting must not meet code translated without it */
        e->fn.emu_start(e->uc, e->s.pc | 1, 0xFFFFFFFEu, 0, e->before_fault);
        e->mode = RUNNING;
        e->s.pc = get(e, PC) & ~1u;
        if (e->s.pc - n->address < n->size)
            e->s.cycles += n->offset[(e->s.pc - n->address) / 2];
    }
    e->current = NULL;
    return take_fault(e, USAGE_FAULT, e->fault_ahead, NULL);
}

/* Run code until the engine comes back. */
static enum stop run_code(Engine *e)
{
    e->fault_ahead = 0;
    e->stopped = e->spin = e->break_hit = e->unaligned = e->served = false;
    e->interrupt = NO_INTERRUPT;
    e->it_risk = true;
    int err = e->fn.emu_start(e->uc, e->s.pc | 1, 0xFFFFFFFEu, 0, 0);
    e->s.pc = get(e, PC) & ~1u;
    undo_store(e);
    if (e->interrupt != NO_INTERRUPT)
        return after_interrupt(e);
    if (err)
        return after_error(e, err);
    if (e->break_hit) {
        if (!e->stopped)
            rewind_to(e, e->s.pc);
        return STOP_BREAKPOINT;
    }
    if (e->fault_ahead)
        return fault_inside(e);
    if (!e->stopped) { /* WFI returns like that */
        e->s.sleeping = 1;
        rewind_to(e, e->s.pc);
    }
    return STOP_NONE;
}

/* Let events, signals and pending exceptions have their turn; then code. Returns why it stopped. */
static enum stop run_loop(Engine *e)
{
    for (;;) {
        if (e->error_type || PyErr_CheckSignals() < 0)
            return STOP_NONE;
        flush_changed(e);
        if ((int64_t)e->s.cycles >= e->deadline) {
            if (!run_due(e))
                return STOP_NONE;
            continue;
        }
        if (e->request) {
            enum stop reason = e->request;
            e->request = 0;
            return reason;
        }
        if (e->candidate && !is_masked(e, e->candidate)) {
            uint32_t n = e->candidate;
            e->skip_break = 1;
            enum stop reason = entered(e, enter_exception(e, n), false);
            if (reason)
                return reason;
            continue;
        }
        if ((int64_t)e->s.cycles >= e->until)
            return STOP_CYCLE;
        int64_t due = e->deadline < e->until ? e->deadline : e->until;
        if (e->s.sleeping) {
            if (wakes(e) || (e->s.sleeping == 2 && e->s.event)) {
                if (e->s.sleeping == 2)
                    e->s.event = 0;
                e->s.sleeping = 0;
                continue;
            }
            if (e->deadline == NEVER) /* whatever the limit: nothing will ever wake it */
                return STOP_IDLE;
            e->s.cycles = (uint64_t)due;
            continue;
        }
        start_or_end_sample(e);
        e->chunk_end = (int64_t)e->s.cycles + CHUNK;
        if (e->following && !e->exact && e->sample_end < e->chunk_end)
            e->chunk_end = e->sample_end;
        refresh_edge(e);
        enum stop reason = run_code(e);
        if (reason)
            return reason;
        if (e->spin && !e->error_type) {
            if (e->deadline == NEVER && (!e->candidate || is_masked(e, e->candidate)))
                return STOP_IDLE;
            spin_until(e, e->deadline < e->until ? e->deadline : e->until);
        }
        if ((int64_t)e->s.cycles >= e->chunk_end) {
            Py_BEGIN_ALLOW_THREADS
            Py_END_ALLOW_THREADS
        }
    }
}

#endif
