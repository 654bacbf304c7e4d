"""Operations merged into rows."""

import json

from cryplab.observe.operations import cycles_inside, operation_table
from cryplab.reports import Operation


def op(
    first: int, last: int, size: int = 64, *, mode: str = "CBC", bits: int = 128, pc: int = 0x0800_0100
) -> Operation:
    return Operation(
        "CRYP", "AES", mode, "encrypt", bits, size, size // 16 * 14, first_cycle=first, last_cycle=last, pc=pc
    )


def test_merge() -> None:
    digest = Operation("HASH", "SHA-256", "", data_bytes=0, busy_cycles=50, first_cycle=500, last_cycle=600, dma=True)
    rows = operation_table([op(0, 100), op(100, 300), digest, op(700, 750, bits=256)], 1000)
    assert [(r.name, r.key_bits, r.calls) for r in rows] == [
        ("AES-CBC", 128, 2),
        ("AES-CBC", 256, 1),
        ("SHA-256", 0, 1),
    ]
    aes, _, sha = rows
    assert (aes.data_bytes, aes.elapsed_cycles, aes.busy_cycles, aes.share) == (128, 300, 112, 0.112)
    assert (aes.elapsed_per_byte, aes.busy_per_byte) == (300 / 128, 112 / 128)
    assert (sha.by_dma, sha.elapsed_per_byte) == (1, None)


def test_overlap_is_counted_once() -> None:
    (row,) = operation_table([op(0, 100), op(50, 150)], 1000)
    assert row.elapsed_cycles == 150


def test_json() -> None:
    (row,) = operation_table(
        [op(0, 100), op(100, 300, pc=0x0800_0200)], 1000, lambda pc: "f" if pc < 0x0800_0200 else "g"
    )
    assert json.loads(json.dumps(row.as_json())) == {
        "algorithm": "AES", "mode": "CBC", "key_bits": 128, "block": "CRYP", "calls": 2, "dma_calls": 0, "bytes": 128,
        "cycles": 300, "engine_cycles": 112, "cycles_per_byte": 2.344, "engine_cycles_per_byte": 0.875, "share": 0.112,
        "callers": {"f": 1, "g": 1},
    }  # fmt: skip


def test_window() -> None:
    operations = [op(0, 100), op(150, 250), op(200, 300), op(900, 1000)]
    assert cycles_inside(operations, 50, 280) == 50 + 130
    assert cycles_inside(operations, 300, 900) == 0
    assert cycles_inside(operations, 0, 50) == 50, "those behind the window do not count"
    assert cycles_inside(operations, 400, 500) == 0
    assert cycles_inside([], 0, 10) == 0


def test_a_message_that_waits_in_the_engine_is_no_work() -> None:
    """Two parts of a message, a tenth of a second between them: the engine worked in 132 cycles."""
    waiting = Operation("HASH", "SHA-256", "", data_bytes=128, busy_cycles=132, first_cycle=1000, last_cycle=16_801_000)
    (row,) = operation_table([waiting], 20_000_000)
    assert row.elapsed_cycles == 16_800_000
    assert row.share == 132 / 20_000_000
