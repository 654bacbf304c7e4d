/* Exceptions of ARMv7-M: pending, priority, entry, return, faults (ARMv7-M Architecture Reference Manual, B1.5).
 *
 * Unicorn runs instructions; the exception model is here. Frames are written as the manual says, the
 * floating-point part whenever CONTROL.FPCA is set.
 *
 * Departures: the floating-point frame is stacked at once and never lazily, so FPCCR.LSPACT stays 0; late arrival
 * makes no difference in time; bus faults on stores are precise.
 */
#ifndef CRYPLAB_EXCEPTIONS_H
#define CRYPLAB_EXCEPTIONS_H

#include "engine.h"
#include "watch.h"

enum {
    NMI = 2,
    HARD_FAULT = 3,
    MEM_MANAGE = 4,
    BUS_FAULT = 5,
    USAGE_FAULT = 6,
    SVCALL = 11,
    DEBUG_MONITOR = 12,
    PENDSV = 14,
    SYSTICK = 15,
};

#define ENTRY_CYCLES 12
#define EXIT_CYCLES 12
#define TAIL_CYCLES 6
#define BASE_FRAME 0x20u
#define FP_FRAME 0x68u
#define XPSR_T (1u << 24)
#define XPSR_IT 0x0600FC00u
#define XPSR_ALIGNED (1u << 9) /* in a stacked xPSR: SP was moved by 4 */
#define CCR_STKALIGN (1u << 9)
#define SCR_SLEEPONEXIT (1u << 1)
#define SCR_SEVONPEND (1u << 4)
#define CONTROL_NPRIV 1u
#define CONTROL_SPSEL 2u
#define CONTROL_FPCA 4u
#define RETURN_NO_FP (1u << 4)
#define THREAD_GROUP 256

/* CFSR */
#define IACCVIOL (1u << 0)
#define IBUSERR (1u << 8)
#define PRECISERR (1u << 9)
#define UNSTKERR (1u << 11)
#define STKERR (1u << 12)
#define BFARVALID (1u << 15)
#define UNDEFINSTR (1u << 16)
#define INVSTATE (1u << 17)
#define INVPC (1u << 18)
#define NOCP (1u << 19)
#define UNALIGNED (1u << 24)
/* HFSR */
#define VECTTBL (1u << 1)
#define FORCED (1u << 30)

static inline bool has_bit(const uint64_t *map, uint32_t n)
{
    return map[n / 64] >> n % 64 & 1;
}

static inline void put_bit(uint64_t *map, uint32_t n, bool on)
{
    if (on)
        map[n / 64] |= 1ull << n % 64;
    else
        map[n / 64] &= ~(1ull << n % 64);
}

/* Priority as compared for preemption; lower wins. */
static inline int group_of(Engine *e, uint32_t n)
{
    if (n == NMI)
        return -2;
    if (n == HARD_FAULT)
        return -1;
    return e->s.priority[n] & e->s.group_mask;
}

static inline int rank_of(Engine *e, uint32_t n)
{
    return n == NMI ? -2 : n == HARD_FAULT ? -1 : e->s.priority[n];
}

/* Find the exception to take, if any; call after every change of pending, enabled, active or priorities. */
static void update_exceptions(Engine *e)
{
    int active = THREAD_GROUP, best_rank = THREAD_GROUP;
    uint32_t best = 0;
    for (unsigned w = 0; w < 4; w++) {
        for (uint64_t bits = e->s.active[w]; bits; bits &= bits - 1) {
            int group = group_of(e, w * 64 + (uint32_t)__builtin_ctzll(bits));
            active = group < active ? group : active;
        }
        for (uint64_t bits = e->s.pending[w] & e->s.enabled[w]; bits; bits &= bits - 1) {
            uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (rank_of(e, n) < best_rank) {
                best_rank = rank_of(e, n);
                best = n;
            }
        }
    }
    e->active_group = active;
    e->candidate = best && group_of(e, best) < active ? best : 0;
    refresh_limit(e);
}

/* Priority below which an exception must be to be taken, from the mask registers alone. */
static int mask_group(Engine *e)
{
    if (get(e, FAULTMASK) & 1)
        return -1;
    if (get(e, PRIMASK) & 1)
        return 0;
    uint32_t base = get(e, BASEPRI) & 0xFF;
    return base ? (int)(base & e->s.group_mask) : THREAD_GROUP;
}

static bool is_masked(Engine *e, uint32_t n)
{
    return group_of(e, n) >= mask_group(e);
}

/* WFI wakes on what would be taken if PRIMASK were 0. */
static bool wakes(Engine *e)
{
    if (!e->candidate)
        return false;
    uint32_t base = get(e, BASEPRI) & 0xFF;
    return !base || group_of(e, e->candidate) < (int)(base & e->s.group_mask);
}

static void set_pending(Engine *e, uint32_t n, bool on)
{
    if (on && !has_bit(e->s.pending, n) && (e->s.scr & SCR_SEVONPEND))
        e->s.event = 1;
    put_bit(e->s.pending, n, on);
    update_exceptions(e);
}

/* Level of an interrupt input: pends on its rising edge, and again when its handler ends while it is high. */
static void set_level(Engine *e, uint32_t n, bool high)
{
    bool rising = high && !has_bit(e->s.level, n);
    put_bit(e->s.level, n, high);
    if (rising)
        set_pending(e, n, true);
}

/* -- frames -------------------------------------------------------------------------------------------------------- */
static bool store_words(Engine *e, uint32_t address, const uint32_t *words, unsigned count)
{
    struct region *r = find_region(e, address, count * 4);
    if (!r || r->flash)
        return false;
    memcpy(r->host + (address - r->base), words, count * 4);
    return true;
}

static bool load_words(Engine *e, uint32_t address, uint32_t *words, unsigned count)
{
    uint8_t *host = host_pointer(e, address, count * 4);
    if (host)
        memcpy(words, host, count * 4);
    return host != NULL;
}

/* Go to handler mode: SPSEL and FPCA fall, SP becomes MSP. SPSEL can only be written in privileged thread mode, so
 * unprivileged threads pass through it. */
static void switch_to_handler(Engine *e, uint32_t n, uint32_t xpsr, uint32_t control)
{
    uint32_t flags = (xpsr & 0xF80F0000u) | XPSR_T, unprivileged = control & CONTROL_NPRIV;
    if (!(xpsr & 0x1FF)) {
        if (unprivileged) {
            set(e, XPSR_NZCVQG, flags | n);
            set(e, CONTROL, 0);
            set(e, XPSR_NZCVQG, flags);
        }
        set(e, CONTROL, 0);
    }
    set(e, XPSR_NZCVQG, flags | n);
    set(e, CONTROL, unprivileged);
    set(e, APSR_NZCV, flags & 0xF8000000u); /* rebuilds the mode that Unicorn caches */
}

enum entered { ENTERED, ENTERED_DERIVED, ENTRY_INVSTATE, ENTRY_LOCKUP };

static void remember_fault(Engine *e, uint32_t number, uint32_t cfsr, const uint32_t *address);

/* Go on at the handler of exception n. */
static enum entered go_to_handler(Engine *e, uint32_t n, uint32_t lr, unsigned cycles)
{
    uint32_t handler;
    set(e, LR, lr);
    put_bit(e->s.pending, n, false);
    put_bit(e->s.active, n, true);
    e->s.event = 1;
    e->s.sleeping = 0;
    e->s.cycles += cycles;
    e->current = NULL;
    e->s.last_size = 0;
    update_exceptions(e);
    if (!load_words(e, e->s.vtor + 4 * n, &handler, 1)) {
        e->s.hfsr |= VECTTBL;
        return ENTRY_LOCKUP;
    }
    e->s.pc = handler & ~1u;
    return handler & 1 ? ENTERED : ENTRY_INVSTATE;
}

/* No room for the frame: the fault is taken in place of exception n, which stays pending. */
static uint32_t derived_from(Engine *e, uint32_t n)
{
    remember_fault(e, BUS_FAULT, STKERR, NULL);
    e->s.cfsr |= STKERR;
    put_bit(e->s.pending, n, n != BUS_FAULT && n != MEM_MANAGE && n != USAGE_FAULT);
    if (has_bit(e->s.enabled, BUS_FAULT) && group_of(e, BUS_FAULT) < group_of(e, n))
        return BUS_FAULT;
    e->s.hfsr |= FORCED;
    return HARD_FAULT;
}

/* Take exception n now, at e->s.pc. */
static enum entered enter_exception(Engine *e, uint32_t n)
{
    uint32_t frame[FP_FRAME / 4] = {0}, sp = get(e, SP), xpsr = get(e, XPSR), control = get(e, CONTROL);
    bool thread = !(xpsr & 0x1FF), fp = control & CONTROL_FPCA;
    for (int i = 0; i < 4; i++)
        frame[i] = get(e, R0 + i);
    frame[4] = get(e, R12);
    frame[5] = get(e, LR);
    frame[6] = e->s.pc;
    bool moved = (sp & 4) && (fp || (e->s.ccr & CCR_STKALIGN));
    frame[7] = (xpsr & ~XPSR_ALIGNED) | (moved ? XPSR_ALIGNED : 0);
    if (fp) {
        for (int i = 0; i < 8; i++)
            e->fn.reg_read(e->uc, e->reg[D0] + i, &frame[8 + 2 * i]);
        frame[24] = get(e, FPSCR);
    }
    uint32_t size = fp ? FP_FRAME : BASE_FRAME;
    uint32_t to = sp - size - (moved ? 4 : 0);
    bool stacked = store_words(e, to, frame, size / 4);
    if (!stacked) {
        if (n == NMI || n == HARD_FAULT)
            return ENTRY_LOCKUP;
        n = derived_from(e, n);
    }
    set(e, SP, to);
    note_exception(e, RECORD_ENTRY, n, to);
    switch_to_handler(e, n, xpsr, control);
    uint32_t lr = 0xFFFFFFE1u | (fp ? 0 : RETURN_NO_FP);
    if (thread)
        lr |= control & CONTROL_SPSEL ? 0xC : 0x8;
    enum entered result = go_to_handler(e, n, lr, ENTRY_CYCLES);
    return result == ENTERED && !stacked ? ENTERED_DERIVED : result;
}

enum returned { RETURNED, RETURN_BAD, RETURN_STACK_FAULT, RETURN_NOWHERE };

/* The handler loaded EXC_RETURN into PC. */
static enum returned leave_exception(Engine *e, uint32_t exc_return)
{
    uint32_t number = get(e, XPSR) & 0x1FF, kind = exc_return & 0xF;
    if (!has_bit(e->s.active, number) || (kind != 1 && kind != 9 && kind != 0xD))
        return RETURN_BAD;
    put_bit(e->s.active, number, false);
    if (has_bit(e->s.level, number))
        put_bit(e->s.pending, number, true);
    if (number != NMI && (get(e, FAULTMASK) & 1))
        set(e, FAULTMASK, 0);
    update_exceptions(e);
    e->s.event = 1;
    if (e->candidate && !is_masked(e, e->candidate)) {
        uint32_t next = e->candidate, frame = get(e, kind == 0xD ? PSP : MSP);
        note_exception(e, RECORD_EXIT, number, frame);
        note_exception(e, RECORD_ENTRY, next, frame);
        set(e, XPSR_NZCVQG, XPSR_T | next);
        set(e, APSR_NZCV, 0);
        return go_to_handler(e, next, exc_return, TAIL_CYCLES) == ENTERED ? RETURNED : RETURN_NOWHERE;
    }
    uint32_t frame[FP_FRAME / 4], sp = get(e, kind == 0xD ? PSP : MSP);
    bool fp = !(exc_return & RETURN_NO_FP);
    uint32_t size = fp ? FP_FRAME : BASE_FRAME;
    if (!load_words(e, sp, frame, size / 4))
        return RETURN_STACK_FAULT;
    uint32_t xpsr = frame[7], target = xpsr & 0x1FF, control = get(e, CONTROL);
    if ((kind == 1) != (target != 0))
        return RETURN_BAD;
    uint32_t wanted = (control & CONTROL_NPRIV) | (kind == 0xD ? CONTROL_SPSEL : 0) | (fp ? CONTROL_FPCA : 0);
    set(e, CONTROL, fp ? CONTROL_FPCA : 0); /* privileged after the switch, too */
    set(e, XPSR_NZCVQG, XPSR_T | target);
    set(e, CONTROL, wanted & ~CONTROL_NPRIV);
    set(e, SP, sp + size + (xpsr & XPSR_ALIGNED ? 4 : 0));
    for (int i = 0; i < 4; i++)
        set(e, R0 + i, frame[i]);
    set(e, R12, frame[4]);
    set(e, LR, frame[5]);
    if (fp) {
        for (int i = 0; i < 8; i++)
            e->fn.reg_write(e->uc, e->reg[D0] + i, &frame[8 + 2 * i]);
        set(e, FPSCR, frame[24]);
    }
    set(e, XPSR, xpsr & ~XPSR_ALIGNED);
    set(e, APSR_NZCV, xpsr & 0xF8000000u);
    if (wanted & CONTROL_NPRIV)
        set(e, CONTROL, wanted);
    e->s.pc = frame[6] & ~1u;
    e->s.cycles += EXIT_CYCLES;
    note_exception(e, RECORD_EXIT, number, sp);
    e->current = NULL;
    e->s.last_size = 0;
    if (!target && (e->s.scr & SCR_SLEEPONEXIT))
        e->s.sleeping = 1;
    return RETURNED;
}

/* -- faults --------------------------------------------------------------------------------------------------------- */
static void remember_fault(Engine *e, uint32_t number, uint32_t cfsr, const uint32_t *address)
{
    if (e->fault.set)
        return;
    e->fault.set = true;
    e->fault.number = number;
    e->fault.cfsr = cfsr;
    e->fault.hfsr = e->s.hfsr;
    e->fault.cycle = e->s.cycles;
    e->fault.has_address = address != NULL;
    e->fault.address = address ? *address : 0;
    for (int i = 0; i < 15; i++)
        e->fault.registers[i] = get(e, R0 + i);
    e->fault.registers[15] = e->s.pc;
    e->fault.registers[16] = get(e, XPSR);
}

static enum stop entered(Engine *e, enum entered result, bool told);

/* A synchronous exception at e->s.pc: takes it, as HardFault when its own handler cannot be. Returns why to stop. */
static enum stop take_fault(Engine *e, uint32_t number, uint32_t cfsr, const uint32_t *address)
{
    int group = mask_group(e);
    if (e->active_group < group)
        group = e->active_group;
    uint32_t taken = number;
    e->s.cfsr |= cfsr;
    if (address) {
        e->s.bfar = *address;
        e->s.cfsr |= BFARVALID;
    }
    if (number != HARD_FAULT && (!has_bit(e->s.enabled, number) || group_of(e, number) >= group)) {
        taken = HARD_FAULT;
        e->s.hfsr |= FORCED;
    }
    if (number != SVCALL || taken == HARD_FAULT)
        remember_fault(e, number, cfsr, address);
    if (taken == HARD_FAULT && group <= -1)
        return STOP_LOCKUP;
    return entered(e, enter_exception(e, taken), number != SVCALL || taken == HARD_FAULT);
}

/* What entering an exception means for the run; `told` when it is a fault, which the host hears of. */
static enum stop entered(Engine *e, enum entered result, bool told)
{
    switch (result) {
    case ENTERED:
        return told ? STOP_FAULT : STOP_NONE;
    case ENTERED_DERIVED:
        return STOP_FAULT;
    case ENTRY_INVSTATE:
        return take_fault(e, USAGE_FAULT, INVSTATE, NULL);
    default:
        return STOP_LOCKUP;
    }
}

#endif
