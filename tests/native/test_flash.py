"""The flash line state machines, compiled by themselves, against hand-made sequences and a plain second model."""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from collections import OrderedDict
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "src" / "cryplab" / "native"
WRAPPER = """
#include "flash.h"
static struct flash_cache f;
void reset(unsigned ws, int prefetch, int icache, int dcache) {
    flash_reset(&f);
    f.wait_states = ws;
    f.prefetch_enabled = prefetch; f.icache_enabled = icache; f.dcache_enabled = dcache;
}
void reset_instructions(void) { flash_reset_instructions(&f); }
void reset_data(void) { flash_reset_data(&f); }
unsigned fetch(uint32_t line, uint64_t now) { return flash_fetch(&f, line, now); }
unsigned data(uint32_t line, uint64_t now) { return flash_data(&f, line, now); }
uint64_t misses(int which) { return which == 0 ? f.fetch_misses : which == 1 ? f.prefetch_waits : f.data_misses; }
"""
BASE = 0x0800_0000
WAIT_STATES = 5


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler `cc`")
    folder = tmp_path_factory.mktemp("flash")
    (folder / "wrapper.c").write_text(WRAPPER)
    target = folder / "flash.so"
    flags = ["-O1", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{NATIVE}"]
    subprocess.run([compiler, *flags, "-o", target, folder / "wrapper.c"], check=True)
    loaded = ctypes.CDLL(str(target))
    for name in ("fetch", "data"):
        getattr(loaded, name).argtypes = [ctypes.c_uint32, ctypes.c_uint64]
    loaded.misses.restype = ctypes.c_uint64
    return loaded


class Flash:
    """The library with a clock: each call takes `cycles` after its stall."""

    def __init__(self, library: ctypes.CDLL, ws: int, prefetch: bool, icache: bool, dcache: bool) -> None:
        library.reset(ws, prefetch, icache, dcache)
        self.library, self.now = library, 0

    def fetch(self, line: int, cycles: int = 8) -> int:
        stall = int(self.library.fetch(BASE + 16 * line, self.now))
        self.now += stall + cycles
        return stall

    def data(self, line: int, cycles: int = 1) -> int:
        stall = int(self.library.data(BASE + 16 * line, self.now))
        self.now += stall + cycles
        return stall


@pytest.fixture
def flash(library: ctypes.CDLL) -> Flash:
    return Flash(library, WAIT_STATES, True, True, True)


def test_first_line_costs_the_wait_states_and_the_next_is_read_meanwhile(flash: Flash) -> None:
    assert [flash.fetch(0), flash.fetch(1), flash.fetch(2)] == [WAIT_STATES, 0, 0]


def test_straight_code_gets_a_line_every_wait_states_plus_one_cycles(flash: Flash) -> None:
    """Four cycles of work a line: two of the six that a read takes are waited for."""
    assert [flash.fetch(n, cycles=4) for n in range(5)] == [WAIT_STATES, 2, 2, 2, 2]


def test_the_current_line_is_free(flash: Flash) -> None:
    flash.fetch(0)
    assert [flash.fetch(0), flash.fetch(0)] == [0, 0]


def test_branch_away_waits_for_the_prefetch_in_progress(flash: Flash) -> None:
    """Line 1 is asked for on entering line 0 and takes six cycles; after two, four are left."""
    flash.fetch(0, cycles=2)
    assert flash.fetch(40) == 4 + WAIT_STATES


def test_prefetched_lines_are_kept_even_when_not_entered(flash: Flash) -> None:
    flash.fetch(0)
    flash.fetch(40)
    assert flash.fetch(1) == 0


def test_loop_of_64_lines_runs_free_and_of_65_thrashes(library: ctypes.CDLL) -> None:
    for lines, misses in ((64, 0), (65, 65)):
        flash = Flash(library, WAIT_STATES, False, True, True)
        for n in range(lines):
            flash.fetch(n)
        before = library.misses(0)
        for n in range(lines):
            flash.fetch(n)
        assert library.misses(0) - before == misses


def test_least_recently_used_line_makes_room(library: ctypes.CDLL) -> None:
    flash = Flash(library, WAIT_STATES, False, True, True)
    for n in range(64):
        flash.fetch(n)
    flash.fetch(0)
    flash.fetch(64)  # in place of line 1
    assert flash.fetch(0) == 0
    assert flash.fetch(1) == WAIT_STATES


def test_without_instruction_cache_only_the_prefetched_line_is_free(library: ctypes.CDLL) -> None:
    flash = Flash(library, WAIT_STATES, True, False, True)
    assert [flash.fetch(0), flash.fetch(1), flash.fetch(0)] == [WAIT_STATES, 0, WAIT_STATES]


def test_without_anything_each_line_costs_the_wait_states(library: ctypes.CDLL) -> None:
    flash = Flash(library, WAIT_STATES, False, False, False)
    assert [flash.fetch(0), flash.fetch(1), flash.fetch(0), flash.data(9), flash.data(9)] == [WAIT_STATES] * 5


def test_no_wait_states_no_stalls(library: ctypes.CDLL) -> None:
    flash = Flash(library, 0, True, True, True)
    assert [flash.fetch(0), flash.fetch(70), flash.data(3)] == [0, 0, 0]


def test_eight_data_lines(flash: Flash) -> None:
    assert [flash.data(n) for n in range(8)] == [WAIT_STATES] * 8
    assert [flash.data(n) for n in range(8)] == [0] * 8
    assert flash.data(8) == WAIT_STATES  # in place of line 0
    assert flash.data(1) == 0
    assert flash.data(0) == WAIT_STATES


def test_data_goes_before_a_prefetch_which_is_late_by_as_much(flash: Flash) -> None:
    """Line 1 would be there after six cycles: the data read takes one and five of stall, then two more are left."""
    flash.fetch(0, cycles=3)
    assert flash.data(100) == WAIT_STATES
    assert flash.fetch(1) == 6 + WAIT_STATES - 3 - WAIT_STATES - 1


def test_data_and_instructions_do_not_share_lines(flash: Flash) -> None:
    flash.fetch(0)
    assert flash.data(0) == WAIT_STATES


def test_cache_resets(flash: Flash, library: ctypes.CDLL) -> None:
    flash.fetch(0)
    flash.data(50)
    library.reset_instructions()
    assert flash.data(50) == 0
    assert flash.fetch(0) == WAIT_STATES
    library.reset_data()
    assert flash.data(50) == WAIT_STATES
    assert flash.fetch(0) == 0


class Model:
    """The same rules in the plainest words: ordered dictionaries, one read at a time."""

    def __init__(self, ws: int) -> None:
        self.ws, self.lines, self.tables = ws, OrderedDict[int, None](), OrderedDict[int, None]()
        self.current = self.coming = -1
        self.free_at = 0

    def _use(self, cache: OrderedDict[int, None], line: int, size: int) -> bool:
        known = line in cache
        cache[line] = None
        cache.move_to_end(line)
        if len(cache) > size:
            cache.popitem(last=False)
        return known

    def fetch(self, line: int, now: int) -> int:
        if line == self.current:
            return 0
        self.current = line
        wait = max(0, self.free_at - now)
        known = self._use(self.lines, line, 64)
        stall = wait + self.ws if not known else wait if line == self.coming else 0
        start = now + max(stall, wait)
        if line == self.coming:
            self.coming = -1
        if line + 1 not in self.lines:
            self._use(self.lines, line + 1, 64)
            self.coming, self.free_at = line + 1, start + self.ws + 1
        return stall

    def data(self, line: int, now: int) -> int:
        if self._use(self.tables, line, 8):
            return 0
        if self.free_at > now:
            self.free_at += self.ws
        return self.ws


@pytest.mark.parametrize("seed", range(4))
def test_random_walks_agree_with_the_plain_model(library: ctypes.CDLL, seed: int) -> None:
    flash, model = Flash(library, WAIT_STATES, True, True, True), Model(WAIT_STATES)
    choose = random.Random(seed)
    line = 0
    for step in range(20_000):
        if choose.random() < 0.2:
            table = 1000 + int(choose.expovariate(0.15))
            expected, stall = model.data(table, flash.now), flash.data(table)
        else:
            line = line + 1 if choose.random() < 0.7 else choose.randrange(40 + 20 * seed)
            expected, stall = model.fetch(line, flash.now), flash.fetch(line, choose.randrange(1, 9))
        assert stall == expected, f"seed {seed}, step {step}"
