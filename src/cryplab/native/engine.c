/* cryplab._native: the run loop of an emulated Cortex-M on top of Unicorn. See engine.h for the parts. */
#include "control.h"
#include "engine.h"
#include "inspect.h"

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
        !check(e->fn.ctl(e->uc, CTL_TLB_TYPE, TLB_VIRTUAL), "ctl_tlb_mode") ||
        !add_hook(e, HOOK_TLB_FILL, (void *)on_fill, 1, 0, NULL) ||
        !hook_outside_ram(e) ||
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
            Py_CLEAR(e->page[e->pages[p]][i].load);
            Py_CLEAR(e->page[e->pages[p]][i].store);
            Py_CLEAR(e->page[e->pages[p]][i].bridge);
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
    METHOD(serve, METH_VARARGS, "Serve a bound word without its callables where that can be: address, load, store, bridge."),
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
    METHOD(trace, METH_VARARGS, "Record accesses outside memory (of these pages, as uint32), or stop to."),
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
    if (!m || PyType_Ready(&EngineType) < 0 || PyModule_AddObjectRef(m, "Engine", (PyObject *)&EngineType) < 0 ||
        add_served_types(m) < 0)
        return NULL;
    return m;
}
