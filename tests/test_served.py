"""Registers served by the core itself against the model asked each time: random accesses, the same in all."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cryplab.blocks.cryp_v1 import CrypV1
from cryplab.blocks.cryp_v2 import CrypV2
from cryplab.blocks.gpio_v2 import GpioV2
from cryplab.blocks.hash_v1 import HashV1
from cryplab.blocks.hash_v2 import HashV2
from cryplab.blocks.rng_v1 import RngV1
from cryplab.blocks.tim_v1 import TimBasicV1, TimV1, TimV1Bits16
from cryplab.blocks.usart_v1 import UsartV1
from cryplab.bus import Bus
from cryplab.clock import Clock
from cryplab.cpu.cortex_m import CortexM
from cryplab.cpu.systick import SysTick
from cryplab.registers import Block
from cryplab.reports import Location, Reports
from cryplab.served import Bridge, Fifo, Status

FLASH, RAM, IO = 0x0800_0000, 0x2000_0000, 0x5006_0000
READS, WRITES, RAM_SIZE = RAM, RAM + 0x2000, 0x4000
CODE = FLASH + 0x100
# r0: the block, r1: a word, r2: where reads go, r3: where words to write come from
LOAD, STORE = (0xF8D0, 0x1000), (0xF8C0, 0x1000)  # LDR.W, STR.W r1, [r0, #offset]
KEEP, FETCH = (0xF842, 0x1B04), (0xF853, 0x1B04)  # STR.W r1, [r2], #4; LDR.W r1, [r3], #4
NOP, BKPT = 0xBF00, 0xBE00

Step = tuple[Any, ...]
WORD = st.integers(0, 0xFFFF_FFFF)


def program(steps: list[Step]) -> tuple[bytes, bytes]:
    """Code and the words that it writes: ("read", offset), ("write", offset, word), ("wait", NOPs), or the host's."""
    code: list[int] = []
    words: list[int] = []
    for kind, *rest in steps:
        if kind == "read":
            code += LOAD[0], LOAD[1] | rest[0], *KEEP
        elif kind == "write":
            code += *FETCH, STORE[0], STORE[1] | rest[0]
            words.append(rest[1])
        elif kind == "wait":
            code += [NOP] * rest[0]
        else:
            code.append(BKPT)
    return struct.pack(f"<{len(code) + 1}H", *code, BKPT), struct.pack(f"<{len(words)}I", *words)


class Bench:
    """One core and one block, with or without service by the core."""

    def __init__(self, served: bool) -> None:
        self.served = served
        self.core = CortexM()
        self.core.map_memory(FLASH, 0x2000, kind="flash")
        self.core.map_memory(RAM, RAM_SIZE)
        self.core.map_io(IO, 0x1000)
        self.core.write_memory(FLASH, struct.pack("<II", RAM + RAM_SIZE, CODE | 1))

    def run(self, make: Callable[..., Block], steps: list[Step], bus_name: str = "") -> list[Any]:
        core = self.core
        code, words = program(steps)
        core.write_memory(CODE, code)
        core.write_memory(READS, bytes(0x2000))
        core.write_memory(WRITES, words.ljust(4, b"\0"))
        core.reset(FLASH)
        core.source.set_cycles(1000)
        reports = Reports()
        clock = Clock(source=core.source)
        reports.where = lambda: Location(core.pc, clock.now)
        core.on_deadline = clock.run_due
        bus = Bus(clock, reports)
        bus.bridges["APB2"].divider = 2
        block = make("BLOCK", clock=clock, reports=reports)
        slot = bus.attach(IO, 0x400, block, bus=bus_name)
        for address, read, write in bus.bindings(slot):
            core.bind(address, read, write)
        if self.served:
            for address, load, store, bridge in bus.served(slot):
                core.serve(address, load, store, bridge)
        core.on_read, core.on_write = bus.read, bus.write
        for register, value in (("r0", IO), ("r2", READS), ("r3", WRITES)):
            core.write_register(register, value)
        core.engine.take_trace()
        core.engine.trace(True)
        seen: list[Any] = []
        saved = None
        for kind, *rest in [*(s for s in steps if s[0] not in ("read", "write", "wait")), ("end",)]:
            stop = core.run()
            assert stop.reason == "bkpt"
            core.write_register("pc", stop.pc + 2)
            if kind == "save":
                saved = clock.save(), block.save()
            elif kind == "load" and saved is not None:
                clock.load(saved[0])
                block.load(saved[1])
            elif kind == "call":
                rest[0](block)
            elif kind == "look":
                seen.append([block.peek(offset) for offset in block.places])
            elif kind == "reset":
                block.reset()
        seen += [core.cycles, core.read_memory(READS, 0x2000)]
        seen += [[block.peek(offset) for offset in block.places], fifos(block)]
        block.finish()
        seen += [str(reports.guest_errors), str(reports.operations)]
        seen += [getattr(block, line).level for line in block.lines]
        return [*seen, core.engine.take_trace()]


def fifos(block: Block) -> list[list[int]]:
    return [thing.words for name in block.saved if isinstance(thing := getattr(block, name), Fifo)]


@pytest.fixture(scope="module")
def benches() -> tuple[Bench, Bench]:
    return Bench(True), Bench(False)


def same(benches: tuple[Bench, Bench], make: Callable[..., Block], steps: list[Step], bus: str = "") -> None:
    served, asked = (bench.run(make, steps, bus) for bench in benches)
    for one, other in zip(served, asked, strict=True):
        assert one == other


def mixed(*accesses: st.SearchStrategy[Any], length: int = 40) -> st.SearchStrategy[list[Step]]:
    """Runs of steps: each strategy gives a list of them."""
    host = st.sampled_from([[("save",)], [("load",)], [("look",)], [("reset",)]])
    wait = st.integers(1, 40).map(lambda n: [("wait", n)])
    some = st.one_of(*accesses)
    undone = st.tuples(some, some, some).map(lambda runs: [("save",), *runs[0], *runs[1], ("load",), *runs[2]])
    often = st.one_of(*accesses, *accesses, *accesses, wait, host, undone, undone)
    return st.lists(often, min_size=1, max_size=length).map(lambda runs: [step for run in runs for step in run])


def reads(offset: int, most: int = 8) -> st.SearchStrategy[list[Step]]:
    return st.integers(1, most).map(lambda n: [("read", offset)] * n)


def writes(offset: int, words: st.SearchStrategy[int], most: int = 1) -> st.SearchStrategy[list[Step]]:
    return st.lists(words, min_size=1, max_size=most).map(lambda given: [("write", offset, w) for w in given])


CRYPEN, FFLUSH = 0x8000, 0x4000
CRYP_CR = st.builds(
    lambda mode, phase, rest, on: (mode & 7) << 3 | (mode >> 3) << 19 | phase << 16 | rest | on,
    st.integers(0, 9), st.integers(0, 3), st.sampled_from([0, 4, 0x40, 0x80, 0x84, 0xC0, 0x280, FFLUSH]),
    st.sampled_from([CRYPEN, CRYPEN, 0]),
)  # fmt: skip
STREAM = st.tuples(st.integers(1, 4), st.sampled_from([0, 1, 3, 9, 20]), st.sampled_from([4, 4, 4, 3, 1, 0])).map(
    lambda t: ([("write", 8, i) for i in range(4)] + [("read", 4)] * t[1] + [("read", 12)] * t[2]) * t[0]
)
CRYP_CHANGE = st.one_of(
    writes(0, CRYP_CR), writes(0, CRYP_CR), writes(0x14, st.sampled_from([0, 0, 1, 2, 3])), writes(0x3C, WORD),
    writes(0x10, st.sampled_from([0, 0, 0, 1, 3])), writes(0x4C, st.sampled_from([0xFFFF_FFFE, 5])), reads(0x4C, 1),
)  # fmt: skip
CRYP_STEPS = mixed(
    st.tuples(STREAM, CRYP_CHANGE, STREAM).map(lambda runs: runs[0] + runs[1] + runs[2]), STREAM, CRYP_CHANGE,
    writes(8, WORD, 9), reads(0x0C), reads(0x04, 12), reads(0, 1), reads(0x18, 1), length=12,
)  # fmt: skip


@pytest.mark.parametrize("make", [CrypV1, CrypV2])
@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.data())
def test_cryp(benches: tuple[Bench, Bench], make: type[Block], data: st.DataObject) -> None:
    start = data.draw(st.one_of(CRYP_CR, st.sampled_from([0x20, 0x28, 0xA8, 0x30, 0x08])))
    same(benches, make, [("write", 0, start & ~CRYPEN), ("write", 0, start | CRYPEN), *data.draw(CRYP_STEPS)])


HASH_CR = st.builds(
    lambda algo, rest: (algo & 1) << 7 | (algo >> 1) << 18 | rest,
    st.integers(0, 3), st.sampled_from([4, 0x24, 0x14, 0x34, 0x64, 0x20, 0x0C, 0x28, 0x2004]),
)  # fmt: skip
MESSAGE = st.tuples(st.integers(1, 40), st.integers(0, 30), st.booleans()).map(
    lambda t: [("write", 4, i) for i in range(t[0])] + [("write", 8, 0x100)] * t[2] + [("read", 0x24)] * t[1]
)
HASH_STEPS = mixed(
    MESSAGE, MESSAGE, writes(4, WORD, 17), reads(0x24, 20), reads(0x0C, 1), reads(0, 1), writes(0, HASH_CR),
    reads(4, 1), writes(8, st.sampled_from([0x100, 0x100, 8, 0])), writes(0x20, st.sampled_from([0, 0, 0, 1, 2, 3])),
    writes(0x24, st.sampled_from([0, 1, 2])), reads(0xF8, 1), writes(0x100, WORD), length=24,
)  # fmt: skip


@pytest.mark.parametrize("make", [HashV1, HashV2])
@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.data())
def test_hash(benches: tuple[Bench, Bench], make: type[Block], data: st.DataObject) -> None:
    same(benches, make, [("write", 0, 0x24), *data.draw(HASH_STEPS)])


def _clock_error(rng: Any) -> None:
    rng.clock_error = not rng.clock_error


def _seed_error(rng: Any) -> None:
    rng.inject_seed_error()


RNG_STEPS = mixed(
    reads(4, 30), reads(4, 30), reads(8, 2), writes(0, st.sampled_from([0, 4, 4, 4, 12])),
    writes(4, st.sampled_from([0, 0x40])), st.sampled_from([[("call", _clock_error)], [("call", _seed_error)]]),
)  # fmt: skip


@settings(max_examples=120, deadline=None, derandomize=True)
@given(RNG_STEPS)
def test_rng(benches: tuple[Bench, Bench], steps: list[Step]) -> None:
    same(benches, RngV1, [("write", 0, 4), *steps])


def _receive(usart: Any) -> None:
    usart.receive(b"ab")


USART_STEPS = mixed(
    reads(0, 60), reads(0, 60), writes(4, WORD), writes(4, WORD), reads(4, 1), writes(0, st.sampled_from([0, 0x3FF])),
    writes(0x0C, st.sampled_from([0x200C, 0x200C, 0x20AC, 0x20FC, 0])), st.just([("call", _receive)]),
)  # fmt: skip


@pytest.mark.parametrize("bus", ["", "APB2"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(USART_STEPS)
def test_usart(benches: tuple[Bench, Bench], bus: str, steps: list[Step]) -> None:
    same(benches, UsartV1, [("write", 8, 0x10), ("write", 0x0C, 0x200C), *steps], bus)


def _drive(pin: int, level: int | None) -> list[Step]:
    return [("call", lambda port: port.drive(pin, level))]


PIN_MODES = st.sampled_from([0, 0x5555_5555, 0x0000_0055, 0x1111_1111, 0xFFFF_FFFF])
GPIO_STEPS = mixed(
    reads(0x10), reads(0x10), reads(0x14), st.builds(_drive, st.integers(0, 15), st.sampled_from([0, 1, None])),
    writes(0x00, PIN_MODES), writes(0x04, WORD), writes(0x0C, WORD), writes(0x14, WORD), writes(0x18, WORD, 3),
    writes(0x1C, st.sampled_from([0x1_000F, 0xF]), 3), reads(0x1C, 1),
)  # fmt: skip


@settings(max_examples=100, deadline=None, derandomize=True)
@given(GPIO_STEPS)
def test_gpio(benches: tuple[Bench, Bench], steps: list[Step]) -> None:
    same(benches, GpioV2, steps)


def _other_clock(tim: Any) -> None:
    tim.frequency = (lambda name: 16_000_000) if tim.frequency("TIMCLK1") == 6_000_000 else _slow_timer
    tim.clock_changed()


def _slow_timer(name: str) -> int:
    return 6_000_000 if name == "TIMCLK1" else 16_000_000


SMALL = st.integers(0, 40)
CCR = range(0x34, 0x44, 4)
TIM_SET = st.tuples(SMALL, SMALL, st.sampled_from([0, 9]), st.sampled_from([1, 3, 5]), st.sampled_from([0x10, 0x24]))
TIM_RUN = TIM_SET.map(
    lambda t: [
        ("write", 0, 0), ("write", 0x2C, t[0]), *[("write", offset, t[1]) for offset in CCR], ("write", 0x28, t[2]),
        ("write", 0x14, 1), ("write", 0x10, 0), ("write", 0, t[3]), *[("read", t[4])] * 50,
    ]
)  # fmt: skip
TIM_RESET: list[Step] = [("read", 0x10), ("read", 0x24), ("reset",), ("read", 0x10), ("read", 0x24)]
TIM_STEPS = mixed(
    TIM_RUN, TIM_RUN, st.just(TIM_RESET), reads(0x10, 60), reads(0x10, 60), reads(0x24, 20), reads(0x24, 2),
    reads(0, 1),
    writes(0, st.sampled_from([1, 1, 1, 0x81, 3, 9, 5, 0])), writes(0x0C, st.sampled_from([0, 1, 0x1F, 2])),
    writes(0x10, st.sampled_from([0, 0, 0xFFFE, 0xFFFD])), writes(0x14, st.sampled_from([1, 1, 2, 0x1E])),
    writes(0x24, SMALL), writes(0x28, st.sampled_from([0, 0, 1, 9])), writes(0x2C, SMALL), writes(0x34, SMALL),
    writes(0x38, SMALL), writes(0x18, st.sampled_from([0, 1])), st.just([("call", _other_clock)]), length=16,
)  # fmt: skip


@pytest.mark.parametrize("make", [TimBasicV1, TimV1, TimV1Bits16])
@pytest.mark.parametrize("bus", ["", "APB2"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(TIM_STEPS)
def test_tim(benches: tuple[Bench, Bench], bus: str, make: type[Block], steps: list[Step]) -> None:
    same(benches, make, [("write", 0x2C, 25), ("write", 0, 1), *steps], bus)


SYSTICK_STEPS = mixed(
    reads(0, 60), reads(0, 60), reads(8, 2), writes(0, st.sampled_from([5, 5, 7, 7, 1, 3, 4, 0])), writes(4, SMALL),
    writes(8, WORD), reads(4, 1),
)  # fmt: skip


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SYSTICK_STEPS)
def test_systick(benches: tuple[Bench, Bench], steps: list[Step]) -> None:
    same(benches, SysTick, [("write", 4, 30), ("write", 8, 0), ("write", 0, 5), *steps])


@pytest.mark.parametrize(
    ("make", "polled", "start"),
    [
        (GpioV2, 0x10, []),
        (GpioV2, 0x14, [("write", 0x14, 5)]),
        (TimV1, 0x10, [("write", 0, 1)]),
        (TimV1, 0x24, [("write", 0x28, 9999), ("write", 0x14, 1), ("write", 0, 1)]),
        (SysTick, 0, [("write", 4, 0xFFFF), ("write", 8, 0), ("write", 0, 5)]),
    ],
)
def test_polling_needs_no_call(benches: tuple[Bench, Bench], make: type[Block], polled: int, start: list[Step]) -> None:
    def run(bench: Bench) -> int:
        calls: list[int] = []

        def counted(*args: Any, **kwargs: Any) -> Block:
            block = make(*args, **kwargs)
            asked = block.reader(polled)
            block._readers[polled] = lambda: calls.append(polled) or asked()  # type: ignore[func-returns-value]
            return block

        bench.run(counted, [*start, *[("read", polled)] * 50])
        return len(calls)

    assert run(benches[0]) <= 1
    assert run(benches[1]) == 50


# -- the objects alone -----------------------------------------------------------------------------
def test_fifo() -> None:
    fifo = Fifo(4)
    assert not fifo
    for word in (1, 2, 0xFFFF_FFFF):
        fifo.append(word)
    assert (len(fifo), fifo.words, fifo.pop()) == (3, [1, 2, 0xFFFF_FFFF], 1)
    fifo.expect(struct.pack("<3I", 7, 8, 9))
    assert not fifo.arrive()
    assert fifo.take(1) == b"\2\0\0\0"
    state = fifo.state
    assert fifo.arrive()
    assert fifo.words == [0xFFFF_FFFF, 7, 8, 9]
    with pytest.raises(IndexError, match="no room"):
        fifo.append(1)
    fifo.state = state
    assert fifo.words == [0xFFFF_FFFF]
    fifo.clear()
    with pytest.raises(IndexError, match="empty"):
        fifo.pop()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="up to 32 words"):
        Fifo(33)
    with pytest.raises(IndexError):
        Fifo(2).words = [1, 2, 3]
    with pytest.raises(ValueError, match="not saved here"):
        Fifo(2).state = b"x"
    with pytest.raises(ValueError, match="flags for each number of words"):
        Status(Fifo(2), (1, 2))
    with pytest.raises(TypeError, match="serve"):
        CortexM().serve(IO, Bridge(), None)  # type: ignore[arg-type]


def test_an_error_in_a_step_ends_the_run(benches: tuple[Bench, Bench]) -> None:
    def broken(words: bytes) -> bytes:
        raise RuntimeError("step")

    def make(*args: Any, **kwargs: Any) -> Block:
        cryp = CrypV2(*args, **kwargs)
        cryp._flags.step, cryp._flags.busy = broken, 0x10
        return cryp

    with pytest.raises(RuntimeError, match="step"):
        benches[0].run(make, [("write", 8, 1)] * 4)


def test_most_accesses_need_no_call(benches: tuple[Bench, Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    take = CrypV2._take
    monkeypatch.setattr(CrypV2, "_take", lambda cryp, at: calls.append(at) or take(cryp, at))
    block: list[Step] = [("write", 8, i) for i in range(4)] + [("read", 4)] * 12 + [("read", 12)] * 4
    steps: list[Step] = [("write", 0, 0x28), ("write", 0, 0x8028), *block * 20]
    served = benches[0].run(CrypV2, steps)
    assert len(calls) <= 3
    assert benches[1].run(CrypV2, steps) == served
    assert len(calls) > 40
