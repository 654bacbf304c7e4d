/* cryplab._native: the run loop of an emulated Cortex-M on top of Unicorn. See engine.h for the parts. */
#include "engine.h"
#include "exceptions.h"
#include "blocks.h"
#include "access.h"

static const char *const REGISTER_NAMES[] = {
    "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "SP", "LR", "PC",
    "XPSR", "XPSR_NZCVQG", "APSR_NZCV", "MSP", "PSP", "CONTROL", "PRIMASK", "BASEPRI", "FAULTMASK", "FPSCR",
    "D0", "S0",
};

static const struct { const char *name; size_t at; } FUNCTIONS[] = {
    {"uc_emu_start", offsetof(struct unicorn, emu_start)},
    {"uc_emu_stop", offsetof(struct unicorn, emu_stop)},
    {"uc_reg_read", offsetof(struct unicorn, reg_read)},
    {"uc_reg_write", offsetof(struct unicorn, reg_write)},
    {"uc_reg_read_batch", offsetof(struct unicorn, reg_read_batch)},
    {"uc_reg_write_batch", offsetof(struct unicorn, reg_write_batch)},
    {"uc_mem_map_ptr", offsetof(struct unicorn, mem_map_ptr)},
    {"uc_mem_protect", offsetof(struct unicorn, mem_protect)},
    {"uc_mmio_map", offsetof(struct unicorn, mmio_map)},
    {"uc_hook_add", offsetof(struct unicorn, hook_add)},
    {"uc_hook_del", offsetof(struct unicorn, hook_del)},
    {"uc_ctl", offsetof(struct unicorn, ctl)},
    {"uc_context_alloc", offsetof(struct unicorn, context_alloc)},
    {"uc_context_save", offsetof(struct unicorn, context_save)},
    {"uc_context_restore", offsetof(struct unicorn, context_restore)},
    {"uc_context_free", offsetof(struct unicorn, context_free)},
};

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

/* -- the run loop ---------------------------------------------------------------------------------------------------- */

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
        e->fn.mem_protect(e->uc, r->base, r->size, PROT_R | PROT_W | PROT_X);
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

/* Run code until the engine comes back. */
static enum stop run_code(Engine *e)
{
    e->stopped = e->spin = e->no_fpu = e->break_hit = e->unaligned = e->served = false;
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
    if (e->no_fpu) {
        struct entry *n = e->bucket[bucket_of(e->s.pc)];
        if (n && n->address == e->s.pc && n->before_fp) { /* up to the instruction, then fault there */
            e->mode = STEPPING;
            e->fn.ctl(e->uc, CTL_FLUSH_CACHE); /* counting must not meet code translated without it */
            e->fn.emu_start(e->uc, e->s.pc | 1, 0xFFFFFFFEu, 0, n->before_fp);
            e->mode = RUNNING;
            e->s.pc = get(e, PC) & ~1u;
            if (e->s.pc - n->address < n->size)
                e->s.cycles += n->offset[(e->s.pc - n->address) / 2];
        }
        e->current = NULL;
        return take_fault(e, USAGE_FAULT, NOCP, NULL);
    }
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

static PyObject *Engine_run(Engine *e, PyObject *args)
{
    long long until = NEVER;
    if (!PyArg_ParseTuple(args, "|L", &until))
        return NULL;
    if (e->running) {
        PyErr_SetString(PyExc_RuntimeError, "the core is running already: run() was called from a callback");
        return NULL;
    }
    e->running = true;
    e->until = until;
    e->skip_break = e->s.pc;
    enum stop reason = run_loop(e);
    e->running = false;
    e->until = NEVER;
    set(e, PC, e->s.pc | 1);
    if (e->error_type) {
        PyErr_Restore(e->error_type, e->error_value, e->error_trace);
        e->error_type = e->error_value = e->error_trace = NULL;
    }
    e->chunk_end = NEVER;
    refresh_edge(e);
    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromLong(reason);
}

/* -- memory ---------------------------------------------------------------------------------------------------------- */
static PyObject *Engine_map_memory(Engine *e, PyObject *args)
{
    unsigned base, size, flash, canonical;
    unsigned long long host;
    if (!PyArg_ParseTuple(args, "IIKII", &base, &size, &host, &flash, &canonical))
        return NULL;
    if (e->regions == MAX_REGIONS) {
        PyErr_SetString(PyExc_ValueError, "too many memories");
        return NULL;
    }
    uint32_t rights = PROT_R | (flash ? PROT_X : PROT_W);
    if (!check(e->fn.mem_map_ptr(e->uc, base, size, rights, (void *)(uintptr_t)host), "mem_map_ptr"))
        return NULL;
    e->region[e->regions++] = (struct region){base, size, (uint8_t *)(uintptr_t)host, flash, flash, canonical};
    Py_RETURN_NONE;
}

static PyObject *Engine_map_io(Engine *e, PyObject *args)
{
    unsigned base, size;
    if (!PyArg_ParseTuple(args, "II", &base, &size))
        return NULL;
    if (!check(e->fn.mmio_map(e->uc, base, size, (void *)on_mmio_read, e, (void *)on_mmio_write, e), "mmio_map") ||
        !check(e->fn.mem_protect(e->uc, base, size, PROT_NOTHING), "mem_protect"))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *Engine_bind(Engine *e, PyObject *args)
{
    unsigned address;
    PyObject *read, *write;
    if (!PyArg_ParseTuple(args, "IOO", &address, &read, &write))
        return NULL;
    struct word **page = &e->page[address >> PAGE_BITS];
    if (!*page) {
        uint32_t *pages = PyMem_Realloc(e->pages, (e->used_pages + 1) * sizeof *pages);
        if (!pages)
            return PyErr_NoMemory();
        e->pages = pages;
        if (!(*page = PyMem_Calloc(PAGE_WORDS, sizeof **page)))
            return PyErr_NoMemory();
        e->pages[e->used_pages++] = address >> PAGE_BITS;
    }
    struct word *w = &(*page)[address / 4 % PAGE_WORDS];
    PyObject *old_read = w->read, *old_write = w->write;
    w->read = read == Py_None ? NULL : Py_NewRef(read);
    w->write = write == Py_None ? NULL : Py_NewRef(write);
    Py_XDECREF(old_read);
    Py_XDECREF(old_write);
    Py_RETURN_NONE;
}

static PyObject *Engine_gate(Engine *e, PyObject *args)
{
    unsigned base, size;
    int open;
    if (!PyArg_ParseTuple(args, "IIp", &base, &size, &open))
        return NULL;
    for (uint32_t address = base; address - base < size; address += 4) {
        struct word *page = e->page[address >> PAGE_BITS];
        if (page)
            page[address / 4 % PAGE_WORDS].closed = !open;
    }
    Py_RETURN_NONE;
}

static PyObject *Engine_flush(Engine *e, PyObject *args)
{
    unsigned base, size;
    if (!PyArg_ParseTuple(args, "II", &base, &size))
        return NULL;
    if (base < e->flush_base)
        e->flush_base = base;
    if (base + size > e->flush_end)
        e->flush_end = base + size;
    struct region *r = find_region(e, base, 1);
    e->s.flash_version += r && r->flash;
    if (e->running)
        refresh_limit(e); /* the loop will */
    else
        flush_changed(e);
    Py_RETURN_NONE;
}

static PyObject *Engine_breakpoint(Engine *e, PyObject *args)
{
    unsigned address;
    int on;
    if (!PyArg_ParseTuple(args, "Ip", &address, &on))
        return NULL;
    unsigned at = 0;
    while (at < e->breakpoints && e->breakpoint[at].address != address)
        at++;
    if (on == (at < e->breakpoints))
        Py_RETURN_NONE;
    if (on) {
        void *grown = PyMem_Realloc(e->breakpoint, (e->breakpoints + 1) * sizeof *e->breakpoint);
        if (!grown)
            return PyErr_NoMemory();
        e->breakpoint = grown;
        e->breakpoint[at].address = address;
        if (!add_hook(e, HOOK_CODE, (void *)on_breakpoint, address, address, &e->breakpoint[at].hook))
            return NULL;
        e->breakpoints++;
    } else {
        e->fn.hook_del(e->uc, e->breakpoint[at].hook);
        e->breakpoint[at] = e->breakpoint[--e->breakpoints];
    }
    PyObject *range = Py_BuildValue("(II)", address & ~1u, 2);
    PyObject *result = range ? Engine_flush(e, range) : NULL;
    Py_XDECREF(range);
    return result;
}

/* -- registers and state --------------------------------------------------------------------------------------------- */
static PyObject *Engine_read_register(Engine *e, PyObject *args)
{
    int number;
    if (!PyArg_ParseTuple(args, "i", &number))
        return NULL;
    if (number >= S0) {
        uint64_t value = 0;
        e->fn.reg_read(e->uc, e->reg[S0] + number - S0, &value);
        return PyLong_FromUnsignedLong((uint32_t)value);
    }
    return PyLong_FromUnsignedLong(get(e, number));
}

static PyObject *Engine_write_register(Engine *e, PyObject *args)
{
    int number;
    unsigned value;
    if (!PyArg_ParseTuple(args, "iI", &number, &value))
        return NULL;
    if (number >= S0) {
        uint64_t word = value;
        e->fn.reg_write(e->uc, e->reg[S0] + number - S0, &word);
        Py_RETURN_NONE;
    }
    set(e, number, value);
    if (number == XPSR)
        set(e, APSR_NZCV, value & 0xF8000000u);
    Py_RETURN_NONE;
}

static PyObject *Engine_get_pc(Engine *e, void *unused)
{
    (void)unused;
    if (e->in_access)
        return PyLong_FromUnsignedLong(e->access_pc);
    return PyLong_FromUnsignedLong(e->s.pc);
}

static int Engine_set_pc(Engine *e, PyObject *value, void *unused)
{
    (void)unused;
    e->s.pc = (uint32_t)PyLong_AsUnsignedLongMask(value) & ~1u;
    if (PyErr_Occurred())
        return -1;
    e->current = NULL;
    e->s.last_size = 0;
    e->s.sleeping = 0;
    set(e, PC, e->s.pc | 1);
    return 0;
}

static void free_context(PyObject *capsule)
{
    Engine *e = PyCapsule_GetContext(capsule);
    e->fn.context_free(PyCapsule_GetPointer(capsule, "cryplab.context"));
    Py_DECREF(e);
}

static PyObject *Engine_save(Engine *e, PyObject *unused)
{
    (void)unused;
    void *context;
    if (!check(e->fn.context_alloc(e->uc, &context), "context_alloc"))
        return NULL;
    e->fn.context_save(e->uc, context);
    bring_up_ages(e);
    PyObject *capsule = PyCapsule_New(context, "cryplab.context", free_context);
    if (!capsule)
        return NULL;
    PyCapsule_SetContext(capsule, Py_NewRef((PyObject *)e));
    e->s.last_address = e->current ? e->current->address : 0;
    e->s.last_size = e->current ? e->current->size : 0;
    return Py_BuildValue("(Ny#)", capsule, (const char *)&e->s, (Py_ssize_t)sizeof e->s);
}

static PyObject *Engine_load(Engine *e, PyObject *args)
{
    PyObject *capsule;
    const char *bytes;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(args, "(Oy#)", &capsule, &bytes, &length))
        return NULL;
    void *context = PyCapsule_GetPointer(capsule, "cryplab.context");
    if (!context)
        return NULL;
    if (PyCapsule_GetContext(capsule) != e || length != (Py_ssize_t)sizeof e->s) {
        PyErr_SetString(PyExc_ValueError, "this state was saved by another core");
        return NULL;
    }
    e->fn.context_restore(e->uc, context);
    bring_up_ages(e);
    uint32_t generation = e->s.flash.generation, version = e->s.flash_version;
    memcpy(&e->s, bytes, sizeof e->s);
    if (e->s.flash_version != version) { /* the host puts back what was there, too */
        forget_blocks(e, 0, (uint64_t)1 << 32);
        e->fn.ctl(e->uc, CTL_FLUSH_CACHE);
        e->s.flash_version = version + 1;
    }
    e->s.flash.generation = generation + 1; /* no block is clean */
    e->current = e->s.last_size ? known_block(e, e->s.last_address, e->s.last_size) : NULL;
    update_exceptions(e);
    Py_RETURN_NONE;
}

static PyObject *Engine_reset(Engine *e, PyObject *args)
{
    unsigned vectors;
    uint32_t start[2] = {0, 0};
    if (!PyArg_ParseTuple(args, "I", &vectors))
        return NULL;
    e->fn.context_restore(e->uc, e->pristine);
    bring_up_ages(e);
    struct flash_cache flash = e->s.flash;
    uint32_t generation = flash.generation;
    uint64_t cycles = e->s.cycles;
    uint32_t version = e->s.flash_version;
    memset(&e->s, 0, sizeof e->s);
    e->s.flash_version = version;
    flash_reset(&flash);
    flash.generation += generation; /* no block is clean */
    e->s.flash = flash;
    e->s.cycles = cycles;
    e->s.vtor = vectors;
    e->s.ccr = CCR_STKALIGN;
    e->s.group_mask = 0xFE;
    for (uint32_t n = 0; n < 16; n++)
        put_bit(e->s.enabled, n, n < MEM_MANAGE || n == SVCALL || n == PENDSV || n == SYSTICK);
    load_words(e, vectors, start, 2);
    set(e, SP, start[0] & ~3u);
    set(e, LR, 0xFFFFFFFFu);
    e->s.pc = start[1] & ~1u;
    set(e, PC, e->s.pc | 1);
    e->current = NULL;
    e->fault.set = false;
    e->request = 0;
    update_exceptions(e);
    Py_RETURN_NONE;
}

static PyObject *Engine_stop(Engine *e, PyObject *args)
{
    int reason = STOP_HOST;
    if (!PyArg_ParseTuple(args, "|i", &reason))
        return NULL;
    if (e->request != STOP_RESET)
        e->request = reason;
    refresh_limit(e);
    Py_RETURN_NONE;
}

/* -- time ------------------------------------------------------------------------------------------------------------ */
static PyObject *Engine_now(Engine *e, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(e->in_access ? e->access_cycle : e->s.cycles);
}

static PyObject *Engine_stall(Engine *e, PyObject *argument)
{
    unsigned long cycles = PyLong_AsUnsignedLong(argument);
    if (PyErr_Occurred())
        return NULL;
    e->s.cycles += cycles;
    if (e->in_access) {
        e->extra += cycles;
        e->access_cycle += cycles;
        if (e->current)
            e->current->cycles += cycles;
    }
    Py_RETURN_NONE;
}

static PyObject *Engine_set_deadline(Engine *e, PyObject *argument)
{
    e->deadline = PyLong_AsLongLong(argument);
    if (PyErr_Occurred())
        return NULL;
    refresh_edge(e);
    Py_RETURN_NONE;
}

static PyObject *Engine_set_cycles(Engine *e, PyObject *argument)
{
    e->s.cycles = PyLong_AsUnsignedLongLong(argument);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *Engine_set_flash(Engine *e, PyObject *args)
{
    unsigned wait_states;
    int prefetch, icache, dcache;
    if (!PyArg_ParseTuple(args, "Ippp", &wait_states, &prefetch, &icache, &dcache))
        return NULL;
    bring_up_ages(e);
    e->s.flash.generation++;
    e->s.flash.wait_states = wait_states;
    e->s.flash.prefetch_enabled = (uint8_t)prefetch;
    e->s.flash.icache_enabled = (uint8_t)icache;
    e->s.flash.dcache_enabled = (uint8_t)dcache;
    Py_RETURN_NONE;
}

/* -- exceptions, as the private peripherals see them ------------------------------------------------------------------ */
static PyObject *Engine_set_level(Engine *e, PyObject *args)
{
    unsigned n;
    int high;
    if (!PyArg_ParseTuple(args, "Ip", &n, &high))
        return NULL;
    if (n < EXCEPTIONS)
        set_level(e, n, high);
    Py_RETURN_NONE;
}

static uint64_t *bit_map(Engine *e, const char *name)
{
    switch (name[0]) {
    case 'p':
        return e->s.pending;
    case 'a':
        return e->s.active;
    default:
        return e->s.enabled;
    }
}

/* bits(map, first) -> 32 bits from exception `first`; map is "pending", "active" or "enabled". */
static PyObject *Engine_bits(Engine *e, PyObject *args)
{
    const char *name;
    unsigned first;
    uint32_t word = 0;
    if (!PyArg_ParseTuple(args, "sI", &name, &first))
        return NULL;
    for (unsigned i = 0; i < 32 && first + i < EXCEPTIONS; i++)
        word |= (uint32_t)has_bit(bit_map(e, name), first + i) << i;
    return PyLong_FromUnsignedLong(word);
}

/* change(map, first, word, on): each 1 in the word sets or clears its exception's bit. */
static PyObject *Engine_change(Engine *e, PyObject *args)
{
    const char *name;
    unsigned first, word;
    int on;
    if (!PyArg_ParseTuple(args, "sIIp", &name, &first, &word, &on))
        return NULL;
    uint64_t *map = bit_map(e, name);
    for (unsigned i = 0; i < 32 && first + i < EXCEPTIONS; i++) {
        if (!(word >> i & 1))
            continue;
        /* a level still high pends again at once */
        bool stays = !on && map == e->s.pending && has_bit(e->s.level, first + i);
        if (map == e->s.pending && on && !has_bit(map, first + i) && (e->s.scr & SCR_SEVONPEND))
            e->s.event = 1;
        put_bit(map, first + i, on || stays);
    }
    update_exceptions(e);
    Py_RETURN_NONE;
}

static PyObject *Engine_priority(Engine *e, PyObject *args)
{
    unsigned n;
    int value = -1;
    if (!PyArg_ParseTuple(args, "I|i", &n, &value))
        return NULL;
    if (n >= EXCEPTIONS)
        return PyLong_FromLong(0);
    if (value >= 0) {
        e->s.priority[n] = (uint8_t)value;
        update_exceptions(e);
    }
    return PyLong_FromLong(e->s.priority[n]);
}

static PyObject *Engine_refresh(Engine *e, PyObject *unused)
{
    (void)unused;
    update_exceptions(e);
    Py_RETURN_NONE;
}

/* first_fault() -> (exception, cfsr, hfsr, address or None, cycle, 17 registers) or None */
static PyObject *Engine_first_fault(Engine *e, PyObject *unused)
{
    (void)unused;
    if (!e->fault.set)
        Py_RETURN_NONE;
    PyObject *registers = PyTuple_New(17);
    for (int i = 0; registers && i < 17; i++)
        PyTuple_SET_ITEM(registers, i, PyLong_FromUnsignedLong(e->fault.registers[i]));
    PyObject *address = e->fault.has_address ? PyLong_FromUnsignedLong(e->fault.address) : Py_NewRef(Py_None);
    return Py_BuildValue("(IIINKN)", e->fault.number, e->fault.cfsr, e->fault.hfsr, address,
                         (unsigned long long)e->fault.cycle, registers);
}

static PyObject *Engine_forget_fault(Engine *e, PyObject *unused)
{
    (void)unused;
    e->fault.set = false;
    Py_RETURN_NONE;
}

/* -- what a run leaves ------------------------------------------------------------------------------------------------ */
static PyObject *Engine_profile(Engine *e, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list && i < BUCKETS; i++)
        for (struct entry *n = e->bucket[i]; n; n = n->next) {
            if (!n->times)
                continue;
            PyObject *row = Py_BuildValue("(IIIKK)", n->address, n->size, n->instructions,
                                          (unsigned long long)n->times, (unsigned long long)n->cycles);
            if (!row || PyList_Append(list, row) < 0)
                Py_CLEAR(list);
            Py_XDECREF(row);
            if (!list)
                return NULL;
        }
    return list;
}

static PyObject *Engine_clear_profile(Engine *e, PyObject *unused)
{
    (void)unused;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct entry *n = e->bucket[i]; n; n = n->next)
            n->times = n->cycles = 0;
    Py_RETURN_NONE;
}

static PyObject *Engine_trace(Engine *e, PyObject *args)
{
    int on;
    if (!PyArg_ParseTuple(args, "p", &on))
        return NULL;
    e->tracing = on;
    Py_RETURN_NONE;
}

static PyObject *Engine_take_trace(Engine *e, PyObject *unused)
{
    (void)unused;
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)e->trace, (Py_ssize_t)e->trace_size);
    e->trace_size = 0;
    return bytes;
}

static PyObject *Engine_watch(Engine *e, PyObject *number)
{
    uint32_t address = (uint32_t)PyLong_AsUnsignedLongMask(number) & ~1u;
    if (PyErr_Occurred() || watch_address(e, address) < 0)
        return NULL;
    for (struct entry *n = e->bucket[bucket_of(address)]; n; n = n->next)
        if (n->address == address)
            n->flags |= ENTRY_WATCH;
    Py_RETURN_NONE;
}

static PyObject *Engine_unwatch(Engine *e, PyObject *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < e->watched_room; i++) {
        if (e->watched[i])
            for (struct entry *n = e->bucket[bucket_of(e->watched[i])]; n; n = n->next)
                if (n->address == e->watched[i])
                    n->flags &= (uint16_t)~ENTRY_WATCH;
        e->watched[i] = 0;
    }
    e->watched_count = 0;
    Py_RETURN_NONE;
}

/* -- the type --------------------------------------------------------------------------------------------------------- */

/* Engine(owner, handle, functions, registers, bus_error): the Uc object to keep alive, its handle, addresses of
 * functions and numbers of registers by name, the exception class that makes an access fault. */
static int Engine_init(Engine *e, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    unsigned long long handle;
    PyObject *owner, *functions, *registers, *bus_error;
    if (!PyArg_ParseTuple(args, "OKO!O!O", &owner, &handle, &PyDict_Type, &functions, &PyDict_Type, &registers, &bus_error))
        return -1;
    if (e->uc) {
        PyErr_SetString(PyExc_RuntimeError, "Engine is set up once");
        return -1;
    }
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        PyObject *address = PyDict_GetItemString(functions, FUNCTIONS[i].name);
        uintptr_t value = address ? (uintptr_t)PyLong_AsUnsignedLongLong(address) : 0;
        if (!value)
            return PyErr_Format(PyExc_ValueError, "Engine: no address of %s", FUNCTIONS[i].name), -1;
        memcpy((char *)&e->fn + FUNCTIONS[i].at, &value, sizeof value);
    }
    for (int i = 0; i < REGISTERS; i++) {
        PyObject *number = PyDict_GetItemString(registers, REGISTER_NAMES[i]);
        if (!number)
            return PyErr_Format(PyExc_ValueError, "Engine: no number of register %s", REGISTER_NAMES[i]), -1;
        e->reg[i] = (int)PyLong_AsLong(number);
    }
    e->uc = (uc_engine *)(uintptr_t)handle;
    e->bucket = PyMem_Calloc(BUCKETS, sizeof *e->bucket);
    e->page = calloc((size_t)1 << (32 - PAGE_BITS), sizeof *e->page);
    if (!e->bucket || !e->page) {
        PyErr_NoMemory();
        return -1;
    }
    e->on_read = Py_NewRef(Py_None);
    e->on_write = Py_NewRef(Py_None);
    e->on_deadline = Py_NewRef(Py_None);
    e->on_watch = Py_NewRef(Py_None);
    e->on_trace = Py_NewRef(Py_None);
    e->describe = Py_NewRef(Py_None);
    e->bus_error = Py_NewRef(bus_error);
    e->owner = Py_NewRef(owner);
    e->deadline = e->until = e->chunk_end = e->edge = e->limit = NEVER;
    e->flush_base = UINT32_MAX;
    flash_reset(&e->s.flash);
    if (!add_hook(e, HOOK_BLOCK, (void *)on_block, 1, 0, NULL) ||
        !add_hook(e, HOOK_INTR, (void *)on_interrupt, 1, 0, NULL) ||
        !add_hook(e, HOOK_UNMAPPED, (void *)on_unmapped, 1, 0, NULL) ||
        !add_hook(e, HOOK_READ_PROT | HOOK_WRITE_PROT, (void *)on_protected, 1, 0, NULL) ||
        !check(e->fn.context_alloc(e->uc, &e->pristine), "context_alloc") ||
        !check(e->fn.context_save(e->uc, e->pristine), "context_save"))
        return -1;
    return 0;
}

static PyObject *Engine_follow_reads(Engine *e, PyObject *unused)
{
    (void)unused;
    if (e->following)
        follow_reads(e, false);
    e->exact = true;
    follow_reads(e, true);
    Py_RETURN_NONE;
}

static int Engine_traverse(Engine *e, visitproc visit, void *arg)
{
    Py_VISIT(e->on_read);
    Py_VISIT(e->on_write);
    Py_VISIT(e->on_deadline);
    Py_VISIT(e->on_watch);
    Py_VISIT(e->on_trace);
    Py_VISIT(e->describe);
    Py_VISIT(e->bus_error);
    Py_VISIT(e->owner);
    for (unsigned p = 0; p < e->used_pages; p++)
        for (unsigned i = 0; i < PAGE_WORDS; i++) {
            Py_VISIT(e->page[e->pages[p]][i].read);
            Py_VISIT(e->page[e->pages[p]][i].write);
        }
    return 0;
}

static int Engine_clear(Engine *e)
{
    Py_CLEAR(e->on_read);
    Py_CLEAR(e->on_write);
    Py_CLEAR(e->on_deadline);
    Py_CLEAR(e->on_watch);
    Py_CLEAR(e->on_trace);
    Py_CLEAR(e->describe);
    Py_CLEAR(e->bus_error);
    for (unsigned p = 0; p < e->used_pages; p++)
        for (unsigned i = 0; i < PAGE_WORDS; i++) {
            Py_CLEAR(e->page[e->pages[p]][i].read);
            Py_CLEAR(e->page[e->pages[p]][i].write);
        }
    return 0;
}

static void Engine_dealloc(Engine *e)
{
    PyObject_GC_UnTrack(e);
    Engine_clear(e);
    if (e->bucket)
        forget_blocks(e, 0, (uint64_t)1 << 32);
    if (e->pristine)
        e->fn.context_free(e->pristine);
    for (unsigned p = 0; p < e->used_pages; p++)
        PyMem_Free(e->page[e->pages[p]]);
    PyMem_Free(e->pages);
    free(e->page);
    PyMem_Free(e->bucket);
    PyMem_Free(e->breakpoint);
    Py_CLEAR(e->owner);
    PyMem_Free(e->trace);
    PyMem_Free(e->watched);
    Py_TYPE(e)->tp_free((PyObject *)e);
}

#define METHOD(name, kind, text) {#name, (PyCFunction)Engine_##name, kind, text}
static PyMethodDef methods[] = {
    METHOD(run, METH_VARARGS, "Run until a cycle; returns the number of the reason to stop."),
    METHOD(map_memory, METH_VARARGS, "Map host memory: base, size, host address, is flash, canonical address."),
    METHOD(map_io, METH_VARARGS, "Map an I/O window: base, size."),
    METHOD(bind, METH_VARARGS, "Bind callables to a word: address, read or None, write or None."),
    METHOD(gate, METH_VARARGS, "Bypass the bound callables of a range unless open: base, size, open."),
    METHOD(flush, METH_VARARGS, "The host changed code: base, size."),
    METHOD(breakpoint, METH_VARARGS, "Set or clear a breakpoint: address, on."),
    METHOD(read_register, METH_VARARGS, "Value of a register by our number."),
    METHOD(write_register, METH_VARARGS, "Write a register by our number."),
    METHOD(save, METH_NOARGS, "State for load."),
    METHOD(load, METH_VARARGS, "Take back what save gave."),
    METHOD(reset, METH_VARARGS, "Reset; SP and PC from the vector table at an address."),
    METHOD(stop, METH_VARARGS, "Return from run at the next block start; optional reason."),
    METHOD(now, METH_NOARGS, "Cycle of the access in progress, else of the block start."),
    METHOD(stall, METH_O, "The access in progress takes so many cycles more."),
    METHOD(set_deadline, METH_O, "Call on_deadline at the first block start at or after a cycle."),
    METHOD(set_cycles, METH_O, "Jump to a cycle."),
    METHOD(set_flash, METH_VARARGS, "Wait states, prefetch, instruction cache, data cache."),
    METHOD(set_level, METH_VARARGS, "Level of an exception's input: exception number, high."),
    METHOD(bits, METH_VARARGS, "32 bits of a map from an exception number: map, first."),
    METHOD(change, METH_VARARGS, "Set or clear the exceptions whose bits are 1: map, first, word, on."),
    METHOD(priority, METH_VARARGS, "Priority of an exception; optional new one."),
    METHOD(refresh, METH_NOARGS, "Look again at what is pending, after a member was set."),
    METHOD(first_fault, METH_NOARGS, "The first fault since reset, or None."),
    METHOD(forget_fault, METH_NOARGS, "The next fault will be the first."),
    METHOD(profile, METH_NOARGS, "List of (address, size, instructions, times, cycles) of the blocks that ran."),
    METHOD(clear_profile, METH_NOARGS, "Count times and cycles from 0."),
    METHOD(trace, METH_VARARGS, "Record accesses outside memory, or stop to."),
    METHOD(watch, METH_O, "Call on_watch when the block at an address starts."),
    METHOD(unwatch, METH_NOARGS, "Watch no address any more."),
    METHOD(take_trace, METH_NOARGS, "The records so far, and forget them."),
    METHOD(follow_reads, METH_NOARGS, "Exact clock: follow data reads of all flash mapped so far."),
    {0},
};

#define STATE(name, type) {#name, type, offsetof(Engine, s.name), 0, NULL}
static PyMemberDef members[] = {
    STATE(cycles, T_ULONGLONG),
    STATE(vtor, T_UINT),
    STATE(scr, T_UINT),
    STATE(ccr, T_UINT),
    STATE(cfsr, T_UINT),
    STATE(hfsr, T_UINT),
    STATE(dfsr, T_UINT),
    STATE(mmfar, T_UINT),
    STATE(bfar, T_UINT),
    STATE(cpacr, T_UINT),
    STATE(fpdscr, T_UINT),
    STATE(group_mask, T_UINT),
    STATE(event, T_UBYTE),
    STATE(sleeping, T_UBYTE),
    {"samples", T_UINT, offsetof(Engine, samples), READONLY, NULL},
    {"deadline", T_LONGLONG, offsetof(Engine, deadline), READONLY, NULL},
    {"on_read", T_OBJECT, offsetof(Engine, on_read), 0, NULL},
    {"on_write", T_OBJECT, offsetof(Engine, on_write), 0, NULL},
    {"on_deadline", T_OBJECT, offsetof(Engine, on_deadline), 0, NULL},
    {"on_watch", T_OBJECT, offsetof(Engine, on_watch), 0, NULL},
    {"on_trace", T_OBJECT, offsetof(Engine, on_trace), 0, NULL},
    {"describe", T_OBJECT, offsetof(Engine, describe), 0, NULL},
    {0},
};

static PyGetSetDef getset[] = {
    {"pc", (getter)Engine_get_pc, (setter)Engine_set_pc, "Address of the next instruction, or of the access.", NULL},
    {0},
};

static PyTypeObject EngineType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "cryplab._native.Engine",
    .tp_basicsize = sizeof(Engine),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Run loop of one emulated core.",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)Engine_init,
    .tp_dealloc = (destructor)Engine_dealloc,
    .tp_traverse = (traverseproc)Engine_traverse,
    .tp_clear = (inquiry)Engine_clear,
    .tp_methods = methods,
    .tp_members = members,
    .tp_getset = getset,
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "cryplab._native",
    .m_doc = "The native run loop; used by cryplab.cpu alone.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *m = PyModule_Create(&module);
    if (!m || PyType_Ready(&EngineType) < 0 || PyModule_AddObjectRef(m, "Engine", (PyObject *)&EngineType) < 0)
        return NULL;
    return m;
}
