"""CRYP of F437 and F439 under random accesses: never an exception, time and snapshots without a trace."""

from __future__ import annotations

from cryp_driver import CR, CRYPEN, DIN, DMACR, DOUT, FFLUSH, IMSCR, IV, MISR, MODES, PHASE, SR, K
from hypothesis import given, settings
from hypothesis import strategies as st

from cryplab.blocks.cryp_v2 import CrypV2

WORD = st.integers(0, 0xFFFF_FFFF)
CONTROL = st.builds(
    lambda mode, phase, rest: mode | phase * PHASE | rest,
    st.sampled_from(sorted(MODES.values())),
    st.integers(0, 3),
    st.integers(0, 0xFFFF).map(lambda bits: bits & (CRYPEN | FFLUSH | 0x3C4)),
)
OFFSET = st.one_of(st.sampled_from((SR, DIN, DOUT, CR, MISR, IV)), st.integers(0, 0x3FF))
ACCESS = st.one_of(
    st.tuples(st.just("read"), OFFSET, st.sampled_from((4, 4, 4, 1, 2))),
    st.tuples(st.just("write"), OFFSET, WORD),
    st.tuples(st.just("write"), st.just(CR), st.one_of(CONTROL, WORD)),
    st.tuples(st.just("write"), st.just(DIN), WORD),
    st.tuples(st.just("write"), st.sampled_from((IMSCR, DMACR, K, IV)), WORD),
    st.tuples(st.just("pass"), st.integers(0, 60), st.just(0)),
    st.tuples(st.sampled_from(("reset", "finish", "snapshot")), st.just(0), st.just(0)),
)


def do(cryp: CrypV2, kind: str, first: int, second: int) -> int:
    """One step; what it read, else 0."""
    if kind == "read":
        return cryp.read(first, second)
    if kind == "write":
        cryp.write(first, second)
    elif kind == "pass":
        cryp.clock.advance(first)
    elif kind == "reset":
        cryp.reset()
    elif kind == "finish":
        cryp.finish()
    else:
        clock = cryp.clock.save()
        cryp.load(cryp.save())
        cryp.clock.load(clock)
    return 0


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(ACCESS, max_size=80))
def test_no_sequence_of_accesses_raises(accesses: list[tuple[str, int, int]]) -> None:
    cryp = CrypV2()
    for access in accesses:
        assert 0 <= do(cryp, *access) <= 0xFFFF_FFFF
        status = cryp.read(SR)
        assert status & ~0x1F == 0
        assert status & 3 != 1  # never empty and full
        assert status & 0xC != 8


STREAM = st.one_of(
    st.tuples(st.just("write"), st.just(DIN), WORD),
    st.tuples(st.just("write"), st.just(DIN), WORD),
    st.tuples(st.just("read"), st.sampled_from((DOUT, DOUT, SR, CR, IV)), st.just(4)),
    st.tuples(st.just("pass"), st.integers(0, 40), st.just(0)),
    st.tuples(st.just("write"), st.just(CR), CONTROL),
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(CONTROL, st.lists(STREAM, max_size=80))
def test_being_watched_changes_nothing(control: int, accesses: list[tuple[str, int, int]]) -> None:
    """An unmasked interrupt has ends of blocks run as events; polled, they are worked out at the next access."""
    polled, watched, restored = CrypV2(), CrypV2(), CrypV2()
    watched.write(IMSCR, 3)
    for cryp in (polled, watched, restored):
        cryp.write(CR, control | CRYPEN)
    for access in accesses:
        seen = do(polled, *access)
        assert do(watched, *access) == seen
        assert watched.irq.level == bool(watched.read(MISR))
        do(restored, "snapshot", 0, 0)
        assert do(restored, *access) == seen
    for cryp in (polled, watched, restored):
        cryp.finish()
    assert watched.reports.operations == polled.reports.operations == restored.reports.operations
