/* What an observer asks for: records of accesses and exceptions, and a call when certain blocks start.
 *
 * trace(on, pages) limits accesses to the pages given. A record is struct "<QIIIBB2x": cycle, pc, address, value, width, kind. Kind 0 is a load, 1 a store, 4 the entry and
 * 5 the end of an exception (value: its number, address: the stack pointer at the frame, pc: what was interrupted or
 * goes on). When TRACE_CHUNK bytes have come, on_trace() is called to take them.
 *
 * Watched addresses are block starts: entries of functions and return addresses.
 */
#ifndef CRYPLAB_WATCH_H
#define CRYPLAB_WATCH_H

#include "engine.h"

#define TRACE_CHUNK (1u << 20)
#define WATCHED_LEAST 256u

enum { RECORD_LOAD = 0, RECORD_STORE = 1, RECORD_ENTRY = 4, RECORD_EXIT = 5 };

struct record {
    uint64_t cycle;
    uint32_t pc, address, value;
    uint8_t width, kind, pad[2];
};

static inline bool is_traced(Engine *e, uint32_t address)
{
    if (!e->trace_pages)
        return true;
    for (unsigned i = 0; i < e->trace_pages; i++)
        if (e->trace_page[i] == address >> PAGE_BITS)
            return true;
    return false;
}

static void put_record(Engine *e, const struct record *r)
{
    if (e->trace_size + sizeof *r > e->trace_room) {
        size_t room = e->trace_room ? 2 * e->trace_room : 1 << 16;
        uint8_t *grown = PyMem_Realloc(e->trace, room);
        if (!grown) {
            PyErr_NoMemory();
            keep_error(e);
            return;
        }
        e->trace = grown;
        e->trace_room = room;
    }
    memcpy(e->trace + e->trace_size, r, sizeof *r);
    e->trace_size += sizeof *r;
    if (e->trace_size >= TRACE_CHUNK && e->on_trace != Py_None) {
        PyObject *result = PyObject_CallNoArgs(e->on_trace);
        if (!result)
            keep_error(e);
        Py_XDECREF(result);
    }
}

static inline void note_exception(Engine *e, uint8_t kind, uint32_t number, uint32_t frame)
{
    if (e->tracing) {
        struct record r = {e->s.cycles, e->s.pc, frame, number, 4, kind, {0, 0}};
        put_record(e, &r);
    }
}

/* -- watched addresses: an open hash of words, 0 is free ------------------------------------------------------------- */
static uint32_t *watch_slot(Engine *e, uint32_t address)
{
    uint32_t mask = e->watched_room - 1, at = (address >> 1) * 2654435761u & mask;
    while (e->watched[at] && e->watched[at] != address)
        at = (at + 1) & mask;
    return &e->watched[at];
}

static inline int watched_inside(Engine *e, uint32_t address)
{
    return e->watched_count && *watch_slot(e, address) ? ENTRY_WATCH : 0;
}

static int watch_address(Engine *e, uint32_t address)
{
    if (2 * e->watched_count >= e->watched_room) {
        uint32_t *old = e->watched, room = e->watched_room;
        e->watched_room = room ? 2 * room : WATCHED_LEAST;
        e->watched = PyMem_Calloc(e->watched_room, sizeof *e->watched);
        if (!e->watched) {
            e->watched = old;
            e->watched_room = room;
            PyErr_NoMemory();
            return -1;
        }
        for (uint32_t i = 0; i < room; i++)
            if (old[i])
                *watch_slot(e, old[i]) = old[i];
        PyMem_Free(old);
    }
    uint32_t *slot = watch_slot(e, address);
    if (!*slot) {
        *slot = address;
        e->watched_count++;
    }
    return 0;
}

/* on_watch(address, cycle, sp, lr, r0, r1, r2, r3, r7, r11) at the start of a watched block. */
static void tell_watch(Engine *e, uint32_t address)
{
    PyObject *result = PyObject_CallFunction(e->on_watch, "IKIIIIIIII", address, (unsigned long long)e->s.cycles,
                                             get(e, SP), get(e, LR), get(e, R0), get(e, R0 + 1), get(e, R0 + 2),
                                             get(e, R0 + 3), get(e, R0 + 7), get(e, R0 + 11));
    if (!result)
        keep_error(e);
    Py_XDECREF(result);
}

#endif
