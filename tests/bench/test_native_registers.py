"""Rows with hot registers served by the core are those of the model asked at each access, to the cycle."""

from functools import partial
from unittest.mock import patch

import pytest

from cryplab import board as boards
from cryplab import guest
from cryplab.bench.measure import BuildRun, Job, run_job
from cryplab.errors import ToolError
from cryplab.machine import Machine
from small_firmware import needs_gcc

pytestmark = needs_gcc
ROWS = "SHA-256,AES-CBC*,AES-GCM*,CTR_DRBG*"


def run(board: str, build: str, clock: str, native: bool) -> BuildRun:
    try:
        elf = guest.build("benchmark", board, "mbedtls", build)
    except ToolError as missing:
        pytest.skip(str(missing))
    with patch("cryplab.bench.measure.Machine", partial(Machine, native_registers=native)):
        return run_job(Job(build, boards.find(board), elf, clock, row_filter=ROWS))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "build", "clock"),
    [
        ("ublox-c030-u201", "hardware", "exact"),
        ("ublox-c030-u201", "hardware", "fast"),
        ("stm3221g-eval", "hardware", "exact"),
    ],
)
def test_rows_are_the_same(board: str, build: str, clock: str) -> None:
    served = run(board, build, clock, True)
    assert served.rows
    assert any(row.column.blocks for row in served.rows)
    assert served == run(board, build, clock, False)
