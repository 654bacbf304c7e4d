"""The fast clock against the exact one, on rows of the reference benchmark."""

from __future__ import annotations

import pytest

from cryplab import board as boards
from cryplab.bench.measure import Job, run_job
from cryplab.errors import ToolError
from cryplab.guest.build import build

BOARD = "ublox-c030-u201"
BAR = 0.05  # of the project, on every row


def cycles(name: str, rows: str, clock: str) -> dict[str, int]:
    try:
        elf = build("benchmark", BOARD, build=name)
    except ToolError as missing:
        pytest.skip(str(missing))
    job = Job(name, boards.find(BOARD), elf, clock=clock, row_filter=rows)
    return {row.name: row.column.cycles for row in run_job(job).rows}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "software",
            "SHA-*,AES-*,*DRBG*,RSA-2048*,ECDH-*,*DES",
        ),  # tables in flash and in RAM, constants, code of all kinds
        ("hardware", "SHA-*,AES-*,*DRBG*,*DES"),  # few cycles a row: samples weigh more
        ("hal-style", "SHA-*,AES-*,*DRBG*"),
    ],
)
def test_fast_and_exact_clock_agree_on_every_row(name: str, rows: str) -> None:
    exact, fast = cycles(name, rows, "exact"), cycles(name, rows, "fast")
    assert fast.keys() == exact.keys()
    assert len(exact) >= 15
    off = {row: fast[row] / exact[row] for row in exact if abs(fast[row] / exact[row] - 1) > BAR}
    assert not off
