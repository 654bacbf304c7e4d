/* Methods of Engine for time, the private peripherals, and what a run leaves: profile, trace, first fault. */
#ifndef CRYPLAB_INSPECT_H
#define CRYPLAB_INSPECT_H

#include "run.h"

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
    stall(e, cycles);
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
    replan_samples(e);
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
    Py_buffer pages = {0};
    if (!PyArg_ParseTuple(args, "p|y*", &on, &pages))
        return NULL;
    size_t count = (size_t)pages.len / sizeof *e->trace_page;
    bool fits = count <= MAX_TRACED;
    if (fits) {
        e->tracing = on;
        e->trace_pages = (unsigned)count;
        if (count)
            memcpy(e->trace_page, pages.buf, count * sizeof *e->trace_page);
    }
    PyBuffer_Release(&pages);
    if (!fits)
        return PyErr_Format(PyExc_ValueError, "trace: at most %d pages", MAX_TRACED);
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

#endif
