/* Loads and stores outside memory.
 *
 * I/O windows are mapped as Unicorn MMIO and then protected: the protection hook fires with PC at the instruction and
 * may refuse the access, which leaves all registers untouched (a bus fault). The access is served in that hook; the
 * MMIO callbacks only hand over the value.
 */
#ifndef CRYPLAB_ACCESS_H
#define CRYPLAB_ACCESS_H

#include "blocks.h"
#include "served.h"
#include "watch.h"

#define BITBAND_SRAM 0x22000000u
#define BITBAND_PERIPHERAL 0x42000000u
#define BITBAND_MASK 0xFE000000u
#define BITBAND_SIZE 0x02000000u

/* Unicorn 2.1.4 leaves the IT bits set after a memory hook inside an IT block; the next block would skip. */
static inline void repair_it(Engine *e)
{
    if (!e->it_risk)
        return;
    uint32_t xpsr = get(e, XPSR);
    if (xpsr & XPSR_IT)
        set(e, XPSR, xpsr & ~XPSR_IT);
}

static void record(Engine *e, uint32_t address, int size, bool write, uint32_t value)
{
    if (!is_traced(e, address))
        return;
    struct record r = {e->access_cycle, e->access_pc, address, value, (uint8_t)size, write ? RECORD_STORE : RECORD_LOAD, {0, 0}};
    put_record(e, &r);
}

/* A callback failed: false when it was BusError, else the error is kept and the access reads 0. */
static bool failed(Engine *e)
{
    if (PyErr_ExceptionMatches(e->bus_error)) {
        PyErr_Clear();
        return false;
    }
    keep_error(e);
    return true;
}

static bool read_bus(Engine *e, uint32_t address, int size, uint32_t *value)
{
    struct word *page = e->page[address >> PAGE_BITS];
    struct word *w = page && size == 4 ? &page[address / 4 % PAGE_WORDS] : NULL;
    PyObject *result;
    *value = 0;
    if (w && w->load && !w->closed && serve_load(e, w, value)) {
        if (e->tracing)
            record(e, address, size, false, *value);
        return true;
    }
    if (w && w->read && !w->closed)
        result = PyObject_CallNoArgs(w->read);
    else
        result = PyObject_CallFunction(e->on_read, "Ii", address, size);
    if (result) {
        *value = (uint32_t)PyLong_AsUnsignedLongMask(result);
        Py_DECREF(result);
        if (*value != UINT32_MAX || !PyErr_Occurred()) {
            if (e->tracing)
                record(e, address, size, false, *value);
            return true;
        }
        *value = 0;
    }
    return failed(e);
}

static bool write_bus(Engine *e, uint32_t address, int size, uint32_t value)
{
    struct word *page = e->page[address >> PAGE_BITS];
    struct word *w = page && size == 4 ? &page[address / 4 % PAGE_WORDS] : NULL;
    PyObject *result;
    if (e->tracing)
        record(e, address, size, true, value);
    if (w && w->store && !w->closed) {
        int done = serve_store(e, w, value);
        if (done)
            return done > 0 || failed(e);
    }
    if (w && w->write && !w->closed) {
        PyObject *number = PyLong_FromUnsignedLong(value);
        result = number ? PyObject_CallOneArg(w->write, number) : NULL;
        Py_XDECREF(number);
    } else {
        result = PyObject_CallFunction(e->on_write, "IIi", address, value, size);
    }
    if (!result)
        return failed(e);
    Py_DECREF(result);
    return true;
}

/* Bit-band alias: bit n of a word is the alias's word n; a write is a locked read and write of the word. */
static bool serve_bit(Engine *e, uint32_t address, bool write, uint32_t *value)
{
    uint32_t bit = address / 4 % 32;
    uint32_t target = (address & 0xF0000000u) | ((address & (BITBAND_SIZE - 1)) >> 5 & ~3u);
    uint32_t word;
    uint8_t *host = host_pointer(e, target, 4);
    if (host)
        memcpy(&word, host, 4);
    else if ((target & 0xF0000000u) == 0x20000000u || !read_bus(e, target, 4, &word))
        return false;
    if (!write) {
        *value = word >> bit & 1;
        return true;
    }
    word = (word & ~(1u << bit)) | (*value & 1) << bit;
    if (host) {
        memcpy(host, &word, 4);
        return true;
    }
    return write_bus(e, target, 4, word);
}

static bool serve_word(Engine *e, uint32_t address, int size, bool write, uint32_t *value)
{
    uint32_t alias = address & BITBAND_MASK;
    if (alias == BITBAND_PERIPHERAL || alias == BITBAND_SRAM)
        return serve_bit(e, address, write, value);
    return write ? write_bus(e, address, size, *value) : read_bus(e, address, size, value);
}

/* Run what is due by a cycle; false after a Python error, which is left set. */
static bool run_due(Engine *e)
{
    if (e->on_deadline == Py_None) {
        e->deadline = NEVER;
    } else {
        PyObject *next = PyObject_CallNoArgs(e->on_deadline);
        if (!next)
            return false;
        e->deadline = PyLong_AsLongLong(next);
        Py_DECREF(next);
        if (e->deadline == -1 && PyErr_Occurred())
            return false;
    }
    return true;
}

/* One load or store at its exact cycle; false makes it a bus fault. */
static bool serve(Engine *e, uint32_t address, int size, bool write, uint64_t *value)
{
    bool answered = true;
    e->access_pc = get(e, PC) & ~1u;
    e->repeat = e->access_pc == e->last_access_pc ? e->repeat + 1 : 0; /* LDM, LDRD: a cycle each */
    e->last_access_pc = e->access_pc;
    e->access_cycle = position(e, e->access_pc) + e->repeat;
    e->in_access = true;
    if ((int64_t)e->access_cycle >= e->deadline && !e->error_type) {
        if (!run_due(e))
            keep_error(e);
        refresh_edge(e);
    }
    if (e->error_type) { /* the run is over; nothing more happens to devices */
        *value = 0;
    } else {
        for (int done = 0; done < size && answered; done += 4) {
            uint32_t word = (uint32_t)(*value >> 8 * done);
            answered = serve_word(e, address + (uint32_t)done, size < 4 ? size : 4, write, &word);
            *value = (*value & ~(0xFFFFFFFFull << 8 * done)) | (uint64_t)word << 8 * done;
        }
    }
    e->in_access = false;
    return answered;
}

/* UC_HOOK_MEM_READ_PROT, UC_HOOK_MEM_WRITE_PROT: an I/O window, or a store to flash. */
static bool on_protected(uc_engine *uc, int type, uint64_t address64, int size, int64_t stored, void *user)
{
    (void)uc;
    Engine *e = user;
    uint32_t address = (uint32_t)address64;
    bool write = type == MEM_WRITE_PROT;
    repair_it(e);
    undo_store(e);
    e->bad_address = address;
    if (address & (uint32_t)(size < 4 ? size - 1 : 3)) {
        e->unaligned = true;
        return false;
    }
    e->value = write ? (uint64_t)stored : 0;
    if (write && size < 8)
        e->value &= (1ull << 8 * size) - 1;
    e->served = serve(e, address, size, write, &e->value);
    uint8_t *flash = write && e->served ? host_pointer(e, address, (uint32_t)size) : NULL;
    if (flash) {
        memcpy(e->undo, flash, (size_t)size);
        e->undo_at = flash;
        e->undo_size = (unsigned)size;
        e->limit = 0; /* have the next block start look */
        e->served = false;
        return true;
    }
    return e->served;
}

/* UC_HOOK_TLB_FILL: addresses are what they are, and RAM does not execute until code runs there. A page that may
 * execute keeps Unicorn on its slow path for every store to it; the model of the core says so of all RAM. */
static bool on_fill(uc_engine *uc, uint64_t address, int type, struct tlb_entry *page, void *user)
{
    (void)uc;
    Engine *e = user;
    if (type != MEM_FETCH) /* at a fetch the IT bits are those of the code that is about to go on */
        repair_it(e);
    struct region *r = find_region(e, (uint32_t)address, 1);
    page->physical = address;
    page->rights = r && !r->executes && type != MEM_FETCH ? PROT_R | PROT_W : PROT_ALL;
    return true;
}

/* UC_HOOK_MEM_UNMAPPED */
static bool on_unmapped(uc_engine *uc, int type, uint64_t address, int size, int64_t stored, void *user)
{
    (void)uc, (void)type, (void)size, (void)stored;
    ((Engine *)user)->bad_address = (uint32_t)address;
    return false;
}

/* uc_mmio_map: the access was served by the protection hook. */
static uint64_t on_mmio_read(uc_engine *uc, uint64_t offset, unsigned size, void *user)
{
    (void)uc, (void)offset, (void)size;
    Engine *e = user;
    if (!e->served && !e->error_type) {
        PyErr_SetString(PyExc_RuntimeError, "native engine: an I/O access was not seen by its hook");
        keep_error(e);
    }
    e->served = false;
    return e->value;
}

static void on_mmio_write(uc_engine *uc, uint64_t offset, unsigned size, uint64_t value, void *user)
{
    (void)value;
    on_mmio_read(uc, offset, size, user);
}

/* UC_HOOK_MEM_READ over the flash (exact clock): loads that are not relative to PC. */
static void on_flash_read(uc_engine *uc, int type, uint64_t address64, int size, int64_t value, void *user)
{
    (void)uc, (void)type, (void)size, (void)value;
    Engine *e = user;
    struct entry *n = e->current;
    uint32_t address = (uint32_t)address64;
    repair_it(e);
    if (!n || !e->s.flash.wait_states)
        return;
    uint32_t pc = get(e, PC) & ~1u;
    if (pc - n->address >= n->size)
        return;
    struct region *r = find_region(e, address, 1);
    uint32_t line = ((r ? r->canonical + (address - r->base) : address)) & ~(FLASH_LINE_BYTES - 1);
    uint16_t offset = n->offset[(pc - n->address) / 2];
    for (unsigned i = 0; i < n->points; i++)
        if (n->point[i].data && n->point[i].line == line && n->point[i].offset == offset)
            return; /* a literal, which the walk has counted */
    unsigned cycles = flash_data(&e->s.flash, line, position(e, pc));
    e->extra += cycles;
    e->s.cycles += cycles;
    n->cycles += cycles;
    n->sampled_stalls += cycles;
}

#endif
