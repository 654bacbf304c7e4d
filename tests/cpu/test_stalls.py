"""Flash stalls as the engine adds them up: small guests, cycles computed by hand."""

from __future__ import annotations

import pytest
from snippets import FLASH, Guest

WAIT_STATES = 5
END = 1  # the branch to itself behind each guest
TABLE = FLASH + 0x8000


def cycles(code: str, *, wait_states: int = WAIT_STATES, prefetch: bool = False, caches: bool = True) -> int:
    guest = Guest(code, exact=True)
    guest.core.set_flash(wait_states, prefetch, caches, caches)
    return guest.core.run().cycle


def test_prefetch_hides_all_but_the_first_line_of_narrow_code() -> None:
    """64 halfwords take 8 cycles a line, a line arrives every 6."""
    assert cycles("nop\n" * 64, prefetch=True) == 64 + END + WAIT_STATES


def test_wide_code_runs_out_of_lines() -> None:
    """32 words take 4 cycles a line: 2 of 6 are waited for, for each of the 8 lines after the first."""
    assert cycles("add.w r0, r0, r1\n" * 32, prefetch=True) == 32 + END + WAIT_STATES + 8 * 2


def read(lines: int, rounds: int) -> str:
    loads = "".join(f"ldr r1, [r0, #{16 * n}]\n" for n in range(lines))
    return f"ldr r0, ={TABLE}\nmovs r2, #{rounds}\n1:\n{loads}subs r2, #1\nbne 1b\n"


@pytest.mark.parametrize(("lines", "stalls"), [(8, 0), (9, 9 * WAIT_STATES)])
def test_tables_of_eight_lines_stay_in_the_data_cache(lines: int, stalls: int) -> None:
    """A further round: n + 1 cycles of loads in a row, SUBS, BNE with its flags just set (1 + 2)."""
    assert cycles(read(lines, 3)) - cycles(read(lines, 2)) == lines + 1 + 1 + 3 + stalls


def test_a_literal_is_read_once() -> None:
    """Two loads of one literal in a row: 3 cycles, one data miss; code and literal are lines of different caches."""
    # start 0x100: LDR, LDR, B . are one instruction line
    assert cycles("ldr r0, =0x12345678\nldr r1, =0x12345678\n") == 3 + END + WAIT_STATES + WAIT_STATES


@pytest.mark.parametrize(("nops", "lines_read"), [(494, 0), (526, 67)])
def test_a_loop_over_the_instruction_cache_thrashes(nops: int, lines_read: int) -> None:
    """From 0x102 on: 63 lines stay, of 67 each is read anew. SUBS, BNE.W with its flags just set: 1 + 3."""

    def total(rounds: int) -> int:
        return cycles(f"movs r0, #{rounds}\n1:\n" + "nop\n" * nops + "subs r0, #1\nbne.w 1b\n")

    assert total(3) - total(2) == nops + 1 + 3 + lines_read * WAIT_STATES
