/* The native engine: what its parts share.
 *
 *   engine.c      the Python type
 *   control.h     its methods that run and change the core
 *   inspect.h     its methods for time, private peripherals, results
 *   run.h         the run loop
 *   blocks.h      one entry per translated block: its cost; the block hook
 *   stalls.h      flash lines and data reads of a block
 *   access.h      loads and stores that leave memory: bound registers, the bus, bit-band
 *   exceptions.h  pending, priority, entry, return, faults
 *   flash.h       flash lines
 *   watch.h       records for an observer, watched addresses
 *   served.h      registers that need no call of Python
 *
 * Unicorn is not linked: Python hands over the addresses of its functions and its register numbers.
 * Everything runs with the GIL held, on the thread that called run().
 */
#ifndef CRYPLAB_ENGINE_H
#define CRYPLAB_ENGINE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#include "flash.h"

/* -- Unicorn's interface (unicorn.h, version 2) ------------------------------------------------------------------ */
typedef struct uc_struct uc_engine;

enum { /* uc_err */
    UC_OK = 0,
    UC_READ_UNMAPPED = 6,
    UC_WRITE_UNMAPPED = 7,
    UC_FETCH_UNMAPPED = 8,
    UC_INSN_INVALID = 10,
    UC_WRITE_PROT = 12,
    UC_READ_PROT = 13,
    UC_FETCH_PROT = 14,
};
enum { /* uc_hook_type */
    HOOK_INTR = 1 << 0,
    HOOK_CODE = 1 << 2,
    HOOK_BLOCK = 1 << 3,
    HOOK_UNMAPPED = 7 << 4,
    HOOK_READ_PROT = 1 << 7,
    HOOK_WRITE_PROT = 1 << 8,
    HOOK_MEM_READ = 1 << 10,
    HOOK_TLB_FILL = 1 << 17,
};
enum { MEM_FETCH = 18, MEM_WRITE_UNMAPPED = 20, MEM_WRITE_PROT = 22 }; /* uc_mem_type */
enum { PROT_NOTHING = 0, PROT_R = 1, PROT_W = 2, PROT_X = 4, PROT_ALL = 7 }; /* uc_prot */
struct tlb_entry { /* uc_tlb_entry */
    uint64_t physical;
    int rights;
};
#define CTL_REMOVE_CACHE ((9 + 0u) | 2u << 26 | 1u << 30)
#define CTL_FLUSH_CACHE ((10 + 0u) | 0u << 26 | 1u << 30)
#define CTL_FLUSH_TLB ((11 + 0u) | 0u << 26 | 1u << 30)
#define CTL_TLB_TYPE ((12 + 0u) | 1u << 26 | 1u << 30)
#define TLB_VIRTUAL 1

typedef void (*hook_t)(void);

struct unicorn {
    int (*emu_start)(uc_engine *, uint64_t begin, uint64_t until, uint64_t timeout, size_t count);
    int (*emu_stop)(uc_engine *);
    int (*reg_read)(uc_engine *, int, void *);
    int (*reg_write)(uc_engine *, int, const void *);
    int (*mem_map_ptr)(uc_engine *, uint64_t, uint64_t, uint32_t, void *);
    int (*mem_protect)(uc_engine *, uint64_t, uint64_t, uint32_t);
    int (*mmio_map)(uc_engine *, uint64_t, uint64_t, void *, void *, void *, void *);
    int (*hook_add)(uc_engine *, size_t *, int type, void *callback, void *user, uint64_t begin, uint64_t end, ...);
    int (*hook_del)(uc_engine *, size_t);
    int (*ctl)(uc_engine *, unsigned control, ...);
    int (*context_alloc)(uc_engine *, void **);
    int (*context_save)(uc_engine *, void *);
    int (*context_restore)(uc_engine *, void *);
    int (*context_free)(void *);
};

/* Registers by our number; `reg[]` holds Unicorn's. */
enum {
    R0 = 0,
    R12 = 12,
    SP = 13,
    LR = 14,
    PC = 15,
    XPSR,
    XPSR_NZCVQG,
    APSR_NZCV,
    MSP,
    PSP,
    CONTROL,
    PRIMASK,
    BASEPRI,
    FAULTMASK,
    FPSCR,
    D0,
    S0,
    REGISTERS
};

#define NEVER INT64_MAX
#define NO_INTERRUPT UINT32_MAX
#define EXCEPTIONS 256
#define BUCKETS 65536u
#define PAGE_BITS 12
#define PAGE_WORDS (1u << (PAGE_BITS - 2))
#define MAX_STALLS 64
#define MAX_TOUCHED 64
#define MAX_REGIONS 32
#define MAX_TRACED 32
/* At least this often (cycles) the host gets a look in: Ctrl-C, other threads. */
#define CHUNK 40000000

/* -- code -------------------------------------------------------------------------------------------------------- */
struct point { /* a flash line that the block touches */
    uint32_t line;
    uint16_t offset; /* cycles after the block's start */
    uint16_t data;   /* literal, through the data lines */
};

struct check { /* (register + added) must be a multiple of 4: see cpu/alignment.py */
    uint8_t reg, added;
    uint16_t before; /* instructions before the access that needs it */
};

enum { /* entry.flags: what the fast path of the hook does not do */
    ENTRY_SELF_LOOP = 1,
    ENTRY_BREAK = 2,
    ENTRY_IN_RAM = 4,
    ENTRY_SEV = 8,
    ENTRY_FP = 16,
    ENTRY_WATCH = 512,     /* Python hears of its start */
    ENTRY_ALIGNED = 1024,  /* has checks */
    ENTRY_SLOW = ENTRY_SELF_LOOP | ENTRY_BREAK | ENTRY_IN_RAM | ENTRY_SEV | ENTRY_FP | ENTRY_WATCH | ENTRY_ALIGNED,
    ENTRY_DATA = 32,      /* literals: points with data set */
    ENTRY_IT_LOADS = 64,  /* loads or stores inside an IT block */
    ENTRY_IT_OPEN = 128,  /* ends inside an IT block */
    ENTRY_UNKNOWN = 256,  /* loads that may be of flash, see unknown */
};

struct entry {
    struct entry *next;
    uint32_t address, size, fall_through, cost;
    uint16_t flags, taken, entry_extra, instructions;
    uint16_t points, unknown;
    struct point *point;
    struct check *check;
    uint16_t checks;
    uint16_t *offset;    /* cycles before each halfword */
    const uint8_t *host; /* code in RAM may change: where it is and what was described */
    uint8_t *copy;
    uint32_t before_fp; /* instructions before the first floating-point one */
    uint64_t times, cycles;
    uint32_t last_line;
    uint32_t clean;  /* generation of the instruction lines in which none of this block's can stall */
    bool touched;    /* in e->touched since the lines' ages were last brought up to date */
    uint64_t stamp;  /* when it last ran, in blocks */
    /* fast clock: flash data stalls learned in samples */
    uint64_t sampled_times, sampled_stalls, learned_times;
    uint32_t mean, debt;             /* per run in 1/256 cycles, and what of it is not counted yet */
    uint32_t until_sample, next_gap; /* runs */
};

struct region {
    uint32_t base, size;
    uint8_t *host;
    bool flash;
    bool executes; /* RAM: only once code ran there; Unicorn is slower at stores to memory that executes */
    uint32_t canonical; /* flash: address of the original when this is an alias */
};

struct word {
    PyObject *read, *write;
    PyObject *load, *store, *bridge; /* served.h: Fifo or Status, the same, Bridge */
    bool closed;
};

/* -- state that a snapshot keeps --------------------------------------------------------------------------------- */
struct state {
    uint64_t cycles;
    uint32_t pc;
    uint8_t sleeping, event;
    uint64_t pending[4], active[4], enabled[4], level[4];
    uint8_t priority[EXCEPTIONS];
    uint32_t group_mask; /* preempting bits of a priority */
    uint32_t vtor, scr, ccr, cfsr, hfsr, dfsr, mmfar, bfar, cpacr, fpdscr;
    uint32_t flash_version;           /* changes when the host changed flash */
    uint32_t last_address, last_size; /* block that ran last, for the branch cost of the next */
    struct flash_cache flash;
};

struct fault {
    bool set;
    uint32_t number, cfsr, hfsr, address, registers[17];
    bool has_address;
    uint64_t cycle;
};

enum stop {
    STOP_NONE = 0,
    STOP_CYCLE,
    STOP_BREAKPOINT,
    STOP_IDLE,
    STOP_BKPT,
    STOP_FAULT,
    STOP_LOCKUP,
    STOP_HOST,
    STOP_RESET,
};

typedef struct {
    PyObject_HEAD
    uc_engine *uc;
    struct unicorn fn;
    int reg[REGISTERS];
    struct state s;

    /* when to stop: the block hook compares with `limit` alone */
    int64_t deadline, until, chunk_end, edge, limit;
    int request; /* enum stop asked for by a callback */
    uint32_t candidate; /* exception that beats all active ones, 0 none; masks not looked at */
    int active_group;   /* group priority of the active exceptions */
    bool running;
    bool stopped;  /* the hook asked for the stop: pc is a block start */
    bool spin;     /* that block is b . */
    uint32_t fault_ahead;   /* CFSR bit: an instruction of that block will fault */
    uint32_t before_fault;  /* instructions before it */
    bool break_hit;
    enum { RUNNING, STEPPING, TURNING_BACK } mode; /* the hook counts, looks away, or stops at once */
    uint32_t skip_break; /* resume address: its breakpoint does not hit at once */
    uint32_t interrupt;  /* number of UC_HOOK_INTR */

    /* the block in progress */
    struct entry *current;
    struct entry gone; /* stands for the current block after its entry was dropped */
    uint64_t base;    /* cycle of its start, branch cost included */
    uint64_t extra;   /* bus stalls and data stalls so far */
    unsigned stalls;  /* instruction stalls and literals at their offsets */
    struct { uint16_t offset, cycles; } stall[MAX_STALLS];
    bool it_risk;     /* a memory hook must repair the IT bits */

    /* the access in progress */
    bool in_access;
    uint32_t access_pc, last_access_pc, repeat;
    uint64_t access_cycle, value;
    bool served;
    uint32_t bad_address;
    uint8_t undo[8], *undo_at; /* a store to flash that must not have happened: what was there */
    unsigned undo_size;
    bool unaligned;

    /* blocks that ran clean, whose lines' ages are to be brought up to date before a line is replaced */
    struct entry *touched[MAX_TOUCHED];
    unsigned touched_count;
    uint64_t stamp;

    /* following data reads of the flash: always (exact clock) or in samples */
    bool exact, following, want_sample;
    size_t reading_hook[MAX_REGIONS];
    size_t outside_hook[2 * (MAX_REGIONS + 1)]; /* of accesses outside RAM, see hook_outside_ram */
    unsigned outside_hooks;
    int64_t sample_end, next_sample, next_first_sample;
    uint32_t samples; /* so far */

    struct entry **bucket;
    struct word **page; /* by address >> PAGE_BITS */
    uint32_t *pages;    /* those in use */
    unsigned used_pages;
    struct region region[MAX_REGIONS];
    unsigned regions;
    struct { uint32_t address; size_t hook; } *breakpoint;
    unsigned breakpoints;
    uint32_t flush_base, flush_end; /* code that the host changed; end 0: none */

    uint8_t *trace;
    size_t trace_size, trace_room;
    uint32_t trace_page[MAX_TRACED]; /* address >> PAGE_BITS; none: all accesses are recorded */
    unsigned trace_pages;
    bool tracing;
    uint32_t *watched; /* see watch.h */
    uint32_t watched_room, watched_count;
    uint32_t watch_told; /* that block's start was told before a breakpoint stopped the run there */

    struct fault fault;
    void *pristine; /* uc_context at power-on */

    PyObject *owner; /* keeps Unicorn's instance alive */
    PyObject *on_read, *on_write, *on_deadline, *on_watch, *on_trace, *describe, *bus_error;
    PyObject *error_type, *error_value, *error_trace;
} Engine;

static inline uint32_t get(Engine *e, int which)
{
    uint64_t value = 0;
    e->fn.reg_read(e->uc, e->reg[which], &value);
    return (uint32_t)value;
}

static inline void set(Engine *e, int which, uint32_t word)
{
    uint64_t value = word;
    e->fn.reg_write(e->uc, e->reg[which], &value);
}

/* Keep a Python error for the end of the run; the first one counts. */
static void keep_error(Engine *e)
{
    if (e->error_type) {
        PyErr_Clear();
        return;
    }
    PyErr_Fetch(&e->error_type, &e->error_value, &e->error_trace);
    e->limit = 0;
}

/* The access in progress takes so many cycles more. */
static inline void stall(Engine *e, uint64_t cycles)
{
    e->s.cycles += cycles;
    if (e->in_access) {
        e->extra += cycles;
        e->access_cycle += cycles;
        if (e->current)
            e->current->cycles += cycles;
    }
}

static inline void refresh_limit(Engine *e)
{
    bool look = e->candidate || e->request || e->error_type || e->want_sample || e->flush_end;
    e->limit = look ? 0 : e->edge;
}

static inline void refresh_edge(Engine *e)
{
    int64_t edge = e->deadline < e->until ? e->deadline : e->until;
    e->edge = edge < e->chunk_end ? edge : e->chunk_end;
    refresh_limit(e);
}

static inline struct region *find_region(Engine *e, uint32_t address, uint32_t size)
{
    for (unsigned i = 0; i < e->regions; i++) {
        struct region *r = &e->region[i];
        if (address - r->base < r->size && r->size - (address - r->base) >= size)
            return r;
    }
    return NULL;
}

/* Unicorn carries out a store to flash whatever the hook says; put back what the bus left there. */
static inline void undo_store(Engine *e)
{
    if (e->undo_at)
        memcpy(e->undo_at, e->undo, e->undo_size);
    e->undo_at = NULL;
}

static inline uint8_t *host_pointer(Engine *e, uint32_t address, uint32_t size)
{
    struct region *r = find_region(e, address, size);
    return r ? r->host + (address - r->base) : NULL;
}

#endif
