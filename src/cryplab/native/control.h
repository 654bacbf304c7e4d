/* Methods of Engine that run the core and change it: memory, bindings, breakpoints, registers, state. */
#ifndef CRYPLAB_CONTROL_H
#define CRYPLAB_CONTROL_H

#include "run.h"

/* -- running ---------------------------------------------------------------------------------------------------------- */
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
    if (!flash && !hook_outside_ram(e))
        return NULL;
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
    Py_XSETREF(w->read, read == Py_None ? NULL : Py_NewRef(read));
    Py_XSETREF(w->write, write == Py_None ? NULL : Py_NewRef(write));
    Py_CLEAR(w->load);
    Py_CLEAR(w->store);
    Py_CLEAR(w->bridge);
    Py_RETURN_NONE;
}

static bool is_one_of(PyObject *thing, PyTypeObject *one, PyTypeObject *other)
{
    return thing == Py_None || Py_IS_TYPE(thing, one) || Py_IS_TYPE(thing, other);
}

/* serve(address, load, store, bridge): see served.h; the word's callables, bound before, are for what is left. */
static PyObject *Engine_serve(Engine *e, PyObject *args)
{
    unsigned address;
    PyObject *load, *store, *bridge;
    if (!PyArg_ParseTuple(args, "IOOO", &address, &load, &store, &bridge))
        return NULL;
    struct word *page = e->page[address >> PAGE_BITS];
    if (!page || !is_one_of(load, &StatusType, &FifoType) || !is_one_of(store, &StatusType, &FifoType) ||
        !is_one_of(bridge, &BridgeType, &BridgeType)) {
        PyErr_SetString(PyExc_TypeError, "serve: expected a bound address, Status or Fifo twice, Bridge");
        return NULL;
    }
    struct word *w = &page[address / 4 % PAGE_WORDS];
    Py_XSETREF(w->load, load == Py_None ? NULL : Py_NewRef(load));
    Py_XSETREF(w->store, store == Py_None ? NULL : Py_NewRef(store));
    Py_XSETREF(w->bridge, bridge == Py_None ? NULL : Py_NewRef(bridge));
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
    replan_samples(e);
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

#endif
