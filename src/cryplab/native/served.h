/* What a block lets the core serve without calling its model: queues of words, and a status word.
 *
 * The model keeps its state in these objects, so there is one state and nothing to hand over: an access that the rules
 * below cover is done here, every other one by the model's Python. Names and types are those of cryplab.served.
 *
 *   Fifo    stores go in, except the one that completes a group; loads come out, except the last `keep` words
 *   Status  a word that holds until a cycle, with flags that follow how full its queues are; with `step` also stores that
 *           complete a group: the work that its model did last is done once more
 *   Bridge  the APB bridge in front of a register: what a load waits for, see bus.py
 */
#ifndef CRYPLAB_SERVED_H
#define CRYPLAB_SERVED_H

#include "engine.h"

#define FIFO_MOST 32u

struct queue {
    unsigned count, coming; /* words in it, words to come */
    unsigned size;          /* words that fit */
    unsigned group;         /* the store that completes a group of so many words is the model's; 0: every store */
    unsigned keep;          /* loads are the model's when no more than so many words are left */
    int64_t until;          /* from this cycle on all is the model's */
    int64_t last;           /* cycle of the last store */
    uint32_t word[FIFO_MOST], next[FIFO_MOST];
};

typedef struct fifo {
    PyObject_HEAD
    struct queue s;
    struct fifo *source; /* loads are the model's while this one holds a whole group */
} Fifo;

struct timed {
    uint32_t value, after; /* now; from `until` on, if `simple` */
    int64_t until;
    int64_t delay, end; /* work: cycles from the store to its end; when the last work ends */
    uint32_t busy;     /* work: value meanwhile */
    unsigned repeated; /* times that work was begun since the model set it to 0 */
    uint8_t simple; /* at `until` nothing happens but words of `out` that come, unless `in` holds a whole group */
};

typedef struct {
    PyObject_HEAD
    struct timed s;
    Fifo *in, *out;
    PyObject *step; /* words of a group as bytes -> words to come as bytes; NULL or None: work is the model's */
    uint32_t in_flags[FIFO_MOST + 1], out_flags[FIFO_MOST + 1];
} Status;

typedef struct {
    PyObject_HEAD
    unsigned divider;
    unsigned long long busy_until;
} Bridge;

static PyTypeObject FifoType, StatusType, BridgeType;

/* -- the rules -------------------------------------------------------------------------------------------------------- */
static inline bool holds_group(const Fifo *f)
{
    return f && f->s.group && f->s.count >= f->s.group;
}

static inline bool put_word(Fifo *f, uint32_t word, int64_t now)
{
    struct queue *q = &f->s;
    if (now >= q->until || !q->group || q->count >= q->size || (q->count + 1) % q->group == 0)
        return false;
    q->word[q->count++] = word;
    q->last = now;
    return true;
}

static inline uint32_t first_word(struct queue *q)
{
    uint32_t word = q->word[0];
    memmove(q->word, q->word + 1, --q->count * sizeof *q->word);
    return word;
}

static inline bool take_word(Fifo *f, uint32_t *word, int64_t now)
{
    if (now >= f->s.until || f->s.count <= f->s.keep || holds_group(f->source))
        return false;
    *word = first_word(&f->s);
    return true;
}

/* Words to come are there; false when they do not fit. */
static inline bool arrive(struct queue *q)
{
    if (q->count + q->coming > q->size)
        return false;
    memcpy(q->word + q->count, q->next, q->coming * sizeof *q->word);
    q->count += q->coming;
    q->coming = 0;
    return true;
}

static inline uint32_t status_word(const Status *t)
{
    return t->s.value | (t->in ? t->in_flags[t->in->s.count] : 0) | (t->out ? t->out_flags[t->out->s.count] : 0);
}

static inline bool bring_up(Status *t, int64_t now)
{
    if (now < t->s.until)
        return true;
    if (!t->s.simple || holds_group(t->in) || (t->out && !arrive(&t->out->s)))
        return false;
    t->s.value = t->s.after;
    t->s.until = NEVER;
    return true;
}

static inline bool read_status(Status *t, uint32_t *word, int64_t now)
{
    if (!bring_up(t, now))
        return false;
    *word = status_word(t);
    return true;
}

/* The words of `in` are a group, and nothing else is under way or in the way: begin work. */
static bool begin_work(Status *t, int64_t now)
{
    struct queue *in = &t->in->s, *out = &t->out->s;
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)in->word, (Py_ssize_t)(in->group * sizeof *in->word));
    PyObject *given = bytes ? PyObject_CallOneArg(t->step, bytes) : NULL;
    Py_XDECREF(bytes);
    if (!given)
        return false;
    size_t size = PyBytes_Check(given) ? (size_t)PyBytes_GET_SIZE(given) : 0;
    if (size != in->group * sizeof *in->word) {
        PyErr_SetString(PyExc_ValueError, "a step gives as many words as it takes");
    } else {
        memcpy(out->next, PyBytes_AS_STRING(given), size);
        out->coming = in->group;
        in->count = 0;
        t->s.value = t->s.busy;
        t->s.until = t->s.end = now + t->s.delay;
        t->s.repeated++;
    }
    Py_DECREF(given);
    return !PyErr_Occurred();
}

static inline bool may_begin(Status *t, int64_t now)
{
    const struct queue *in = &t->in->s, *out = &t->out->s;
    return t->step && t->step != Py_None && in->count + 1 == in->group && bring_up(t, now) && t->s.until == NEVER && t->s.value != t->s.busy &&
           out->count + in->group <= out->size;
}

/* 1 done, 0 it is the model's, -1 a Python error is set. */
static inline int serve_store(Engine *e, const struct word *w, uint32_t value)
{
    int64_t now = (int64_t)e->access_cycle;
    if (Py_IS_TYPE(w->store, &FifoType))
        return put_word((Fifo *)w->store, value, now);
    Status *t = (Status *)w->store;
    if (put_word(t->in, value, now))
        return 1;
    if (!may_begin(t, now))
        return 0;
    t->in->s.word[t->in->s.count++] = value;
    return begin_work(t, now) ? 1 : -1;
}

/* Cycles that a load waits for its bridge. */
static inline uint64_t bridge_wait(const Bridge *b, uint64_t now)
{
    uint64_t start = now > b->busy_until ? now : b->busy_until, over = start % b->divider;
    return start - now + (over ? b->divider - over : 0) + 2 * b->divider + 1;
}

static inline bool serve_load(Engine *e, const struct word *w, uint32_t *value)
{
    uint64_t wait = w->bridge ? bridge_wait((const Bridge *)w->bridge, e->access_cycle) : 0;
    int64_t now = (int64_t)(e->access_cycle + wait);
    bool done = Py_IS_TYPE(w->load, &StatusType) ? read_status((Status *)w->load, value, now)
                                                 : take_word((Fifo *)w->load, value, now);
    if (done && wait)
        stall(e, wait);
    return done;
}

/* -- Fifo in Python --------------------------------------------------------------------------------------------------- */
static int Fifo_init(Fifo *f, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"size", "group", "source", NULL};
    PyObject *source = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "I|IO!", names, &f->s.size, &f->s.group, &FifoType, &source))
        return -1;
    if (f->s.size > FIFO_MOST)
        return PyErr_Format(PyExc_ValueError, "a Fifo has up to %u words, not %u", FIFO_MOST, f->s.size), -1;
    f->s.until = NEVER;
    Py_XSETREF(f->source, (Fifo *)Py_XNewRef(source));
    return 0;
}

static void Fifo_dealloc(Fifo *f)
{
    Py_XDECREF(f->source);
    Py_TYPE(f)->tp_free((PyObject *)f);
}

static Py_ssize_t Fifo_length(Fifo *f)
{
    return f->s.count;
}

static PyObject *full(void)
{
    PyErr_SetString(PyExc_IndexError, "no room in the Fifo");
    return NULL;
}

static PyObject *Fifo_append(Fifo *f, PyObject *number)
{
    uint32_t word = (uint32_t)PyLong_AsUnsignedLongMask(number);
    if (PyErr_Occurred())
        return NULL;
    if (f->s.count == f->s.size)
        return full();
    f->s.word[f->s.count++] = word;
    Py_RETURN_NONE;
}

static PyObject *Fifo_pop(Fifo *f, PyObject *unused)
{
    (void)unused;
    if (!f->s.count) {
        PyErr_SetString(PyExc_IndexError, "the Fifo is empty");
        return NULL;
    }
    return PyLong_FromUnsignedLong(first_word(&f->s));
}

static PyObject *Fifo_take(Fifo *f, PyObject *number)
{
    unsigned long count = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred())
        return NULL;
    if (count > f->s.count) {
        PyErr_SetString(PyExc_IndexError, "the Fifo holds fewer words");
        return NULL;
    }
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)f->s.word, (Py_ssize_t)(4 * count));
    f->s.count -= count;
    memmove(f->s.word, f->s.word + count, f->s.count * sizeof *f->s.word);
    return bytes;
}

static PyObject *Fifo_expect(Fifo *f, PyObject *bytes)
{
    char *data;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(bytes, &data, &length) < 0)
        return NULL;
    if ((size_t)length > sizeof f->s.next)
        return full();
    memcpy(f->s.next, data, (size_t)length);
    f->s.coming = (unsigned)length / 4;
    Py_RETURN_NONE;
}

static PyObject *Fifo_arrive(Fifo *f, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(arrive(&f->s));
}

static PyObject *Fifo_clear(Fifo *f, PyObject *unused)
{
    (void)unused;
    f->s.count = 0;
    Py_RETURN_NONE;
}

static PyObject *Fifo_get_words(Fifo *f, void *unused)
{
    (void)unused;
    PyObject *list = PyList_New(f->s.count);
    for (unsigned i = 0; list && i < f->s.count; i++)
        PyList_SET_ITEM(list, i, PyLong_FromUnsignedLong(f->s.word[i]));
    return list;
}

static int Fifo_set_words(Fifo *f, PyObject *value, void *unused)
{
    (void)unused;
    PyObject *words = value ? PySequence_Fast(value, "a sequence of words") : NULL;
    if (!words)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(words);
    if (count > (Py_ssize_t)f->s.size)
        full();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++)
        f->s.word[i] = (uint32_t)PyLong_AsUnsignedLongMask(PySequence_Fast_GET_ITEM(words, i));
    Py_DECREF(words);
    if (PyErr_Occurred())
        return -1;
    f->s.count = (unsigned)count;
    return 0;
}

/* What a snapshot keeps, as it lies in memory. */
static int take_back(PyObject *bytes, void *state, size_t size)
{
    if (!bytes || !PyBytes_Check(bytes) || (size_t)PyBytes_GET_SIZE(bytes) != size) {
        PyErr_SetString(PyExc_ValueError, "this state was not saved here");
        return -1;
    }
    memcpy(state, PyBytes_AS_STRING(bytes), size);
    return 0;
}

static PyObject *Fifo_get_state(Fifo *f, void *unused)
{
    (void)unused;
    return PyBytes_FromStringAndSize((const char *)&f->s, sizeof f->s);
}

static int Fifo_set_state(Fifo *f, PyObject *bytes, void *unused)
{
    (void)unused;
    return take_back(bytes, &f->s, sizeof f->s);
}

static PyMethodDef fifo_methods[] = {
    {"append", (PyCFunction)Fifo_append, METH_O, "A word goes in."},
    {"pop", (PyCFunction)Fifo_pop, METH_NOARGS, "The oldest word."},
    {"take", (PyCFunction)Fifo_take, METH_O, "The oldest so many words as bytes, lowest byte first."},
    {"expect", (PyCFunction)Fifo_expect, METH_O, "Words that will come, as bytes, lowest byte first."},
    {"arrive", (PyCFunction)Fifo_arrive, METH_NOARGS, "Words to come are there; False when they do not fit."},
    {"clear", (PyCFunction)Fifo_clear, METH_NOARGS, "Empty it; words to come still do."},
    {0},
};

#define QUEUE(name, type) {#name, type, offsetof(Fifo, s.name), 0, NULL}
static PyMemberDef fifo_members[] = {
    QUEUE(group, T_UINT), QUEUE(keep, T_UINT), QUEUE(until, T_LONGLONG), QUEUE(last, T_LONGLONG), {0},
};

static PyGetSetDef fifo_getset[] = {
    {"words", (getter)Fifo_get_words, (setter)Fifo_set_words, "The words in it, oldest first.", NULL},
    {"state", (getter)Fifo_get_state, (setter)Fifo_set_state, "For a snapshot.", NULL},
    {0},
};

static PySequenceMethods fifo_sequence = {.sq_length = (lenfunc)Fifo_length};

static PyTypeObject FifoType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "cryplab._native.Fifo",
    .tp_basicsize = sizeof(Fifo),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A queue of words between software and a block.",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)Fifo_init,
    .tp_dealloc = (destructor)Fifo_dealloc,
    .tp_methods = fifo_methods,
    .tp_members = fifo_members,
    .tp_getset = fifo_getset,
    .tp_as_sequence = &fifo_sequence,
};

/* -- Status in Python ------------------------------------------------------------------------------------------------- */
static int fill_flags(uint32_t *flags, PyObject *given, const Fifo *f)
{
    Py_ssize_t count = given ? PyTuple_GET_SIZE(given) : 0;
    if (count != (f ? (Py_ssize_t)f->s.size + 1 : 0)) {
        PyErr_SetString(PyExc_ValueError, "a Status needs a word of flags for each number of words in its queue");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        flags[i] = (uint32_t)PyLong_AsUnsignedLongMask(PyTuple_GET_ITEM(given, i));
    return PyErr_Occurred() ? -1 : 0;
}

/* Status(in, in_flags, out, out_flags): queues and the bits by the number of words in them; or Status(). */
static int Status_init(Status *t, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    PyObject *in = NULL, *out = NULL, *in_flags = NULL, *out_flags = NULL;
    if (!PyArg_ParseTuple(args, "|O!O!O!O!", &FifoType, &in, &PyTuple_Type, &in_flags, &FifoType, &out, &PyTuple_Type,
                          &out_flags))
        return -1;
    if (fill_flags(t->in_flags, in_flags, (Fifo *)in) < 0 || fill_flags(t->out_flags, out_flags, (Fifo *)out) < 0)
        return -1;
    Py_XSETREF(t->in, (Fifo *)Py_XNewRef(in));
    Py_XSETREF(t->out, (Fifo *)Py_XNewRef(out));
    return 0;
}

static int Status_traverse(Status *t, visitproc visit, void *arg)
{
    Py_VISIT(t->step);
    return 0;
}

static int Status_clear(Status *t)
{
    Py_CLEAR(t->step);
    return 0;
}

static void Status_dealloc(Status *t)
{
    PyObject_GC_UnTrack(t);
    Py_XDECREF(t->in);
    Py_XDECREF(t->out);
    Py_XDECREF(t->step);
    Py_TYPE(t)->tp_free((PyObject *)t);
}

static PyObject *Status_word(Status *t, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(status_word(t));
}

static PyObject *Status_get_state(Status *t, void *unused)
{
    (void)unused;
    return PyBytes_FromStringAndSize((const char *)&t->s, sizeof t->s);
}

static int Status_set_state(Status *t, PyObject *bytes, void *unused)
{
    (void)unused;
    return take_back(bytes, &t->s, sizeof t->s);
}

static PyMethodDef status_methods[] = {
    {"word", (PyCFunction)Status_word, METH_NOARGS, "Its value and the flags of its queues."},
    {0},
};

#define TIMED(name, type) {#name, type, offsetof(Status, s.name), 0, NULL}
static PyMemberDef status_members[] = {
    TIMED(value, T_UINT), TIMED(after, T_UINT), TIMED(until, T_LONGLONG), TIMED(simple, T_BOOL),
    TIMED(delay, T_LONGLONG), TIMED(end, T_LONGLONG), TIMED(busy, T_UINT), TIMED(repeated, T_UINT),
    {"step", T_OBJECT, offsetof(Status, step), 0, NULL}, {0},
};

static PyGetSetDef status_getset[] = {
    {"state", (getter)Status_get_state, (setter)Status_set_state, "For a snapshot.", NULL},
    {0},
};

static PyTypeObject StatusType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "cryplab._native.Status",
    .tp_basicsize = sizeof(Status),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = (traverseproc)Status_traverse,
    .tp_clear = (inquiry)Status_clear,
    .tp_doc = "A status word that holds until a cycle.",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)Status_init,
    .tp_dealloc = (destructor)Status_dealloc,
    .tp_methods = status_methods,
    .tp_members = status_members,
    .tp_getset = status_getset,
};

/* -- Bridge in Python ------------------------------------------------------------------------------------------------- */
static int Bridge_init(Bridge *b, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    b->divider = 1;
    return 0;
}

static PyMemberDef bridge_members[] = {
    {"divider", T_UINT, offsetof(Bridge, divider), 0, NULL},
    {"busy_until", T_ULONGLONG, offsetof(Bridge, busy_until), 0, NULL},
    {0},
};

static PyTypeObject BridgeType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "cryplab._native.Bridge",
    .tp_basicsize = sizeof(Bridge),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "An APB bridge: its clock divider and until when it is busy.",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)Bridge_init,
    .tp_members = bridge_members,
};

static int add_served_types(PyObject *module)
{
    static PyTypeObject *const types[] = {&FifoType, &StatusType, &BridgeType};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (PyModule_AddType(module, types[i]) < 0)
            return -1;
    return 0;
}

#endif
