"""The reference programs on the bench: every self-test passes, rows are complete, the filter works."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache

import pytest

from cryplab import board as boards
from cryplab.errors import ToolError
from cryplab.guest import BUILDS, build
from cryplab.machine import Machine
from firmware_builds import needs_gcc

pytestmark = [needs_gcc, pytest.mark.slow]
BOARD = "ublox-c030-u201"
FILTER_MAGIC = 0x4352_4C42
SYMMETRIC = [
    "SHA-256", "SHA-512", "AES-CBC-128", "AES-CBC-192", "AES-CBC-256", "AES-GCM-128", "AES-GCM-192", "AES-GCM-256",
    "AES-CCM-128", "AES-CCM-192", "AES-CCM-256", "CTR_DRBG (NOPR)", "CTR_DRBG (PR)", "HMAC_DRBG SHA-256 (NOPR)",
    "HMAC_DRBG SHA-256 (PR)", "SHA-1", "MD5", "DES", "3DES",
]  # fmt: skip


@dataclass(frozen=True)
class Row:
    name: str
    unit: str
    calls: int
    bytes: int
    start_cycle: int
    cycles: int


def machine(program: str, build_name: str, rows: str = "", board: str = BOARD, clock: str = "exact") -> Machine:
    """A machine with the program loaded, ready to run."""
    try:
        elf = build(program, board, build=build_name)
    except ToolError as missing:
        pytest.skip(str(missing))
    made = Machine(board, clock=clock)  # type: ignore[arg-type]
    made.load(elf)
    if rows:
        made.write_memory(made.symbol("cryplab_filter").address, rows.encode() + b"\0")
        made.write_memory(made.symbol("cryplab_filter_magic").address, struct.pack("<I", FILTER_MAGIC))
    return made


def text_at(made: Machine, address: int) -> str:
    return made.read_memory(address, 64).split(b"\0")[0].decode()


def rows_of(made: Machine) -> list[Row]:
    count = made.read_word(made.symbol("cryplab_rows_count").address)
    table = made.read_memory(made.symbol("cryplab_rows").address, 32 * count)
    return [
        Row(text_at(made, name), text_at(made, unit), *rest)
        for name, unit, *rest in struct.iter_unpack("<IIIIQQ", table)
    ]


@cache
def symmetric_rows(build_name: str) -> list[Row]:
    made = machine("benchmark", build_name, "SHA*,AES*,*DRBG*,MD5,*DES")
    assert made.run(seconds=5).reason == "finished"
    return rows_of(made)


@pytest.mark.parametrize("build_name", BUILDS)
def test_every_self_test_passes(build_name: str) -> None:
    made = machine("selftest", build_name, clock="fast")
    outcome = made.run(seconds=60)
    assert (outcome.reason, outcome.code) == ("finished", 0), made.console.text
    lines = [line for line in made.console.text.splitlines() if line.startswith("mbedtls-selftest")]
    assert len(lines) == 30
    assert all("|      1 |      0 | OK     |" in line for line in lines)
    assert not made.reports.guest_errors


@pytest.mark.parametrize("build_name", BUILDS)
def test_symmetric_rows(build_name: str) -> None:
    rows = symmetric_rows(build_name)
    assert [row.name for row in rows] == SYMMETRIC
    assert {(row.unit, row.calls, row.bytes) for row in rows} == {("KB/s", 24, 24 * 1024)}
    ends = [row.start_cycle + row.cycles for row in rows]
    assert all(end <= later.start_cycle for end, later in zip(ends, rows[1:], strict=False))


def test_key_operations_are_single_shots_in_order() -> None:
    made = machine("benchmark", "software", "RSA-2048 public,ECDH-Curve25519*,ECDH-secp256r1 handshake")
    assert made.run(seconds=20).reason == "finished"
    assert [(row.name, row.unit, row.calls, row.bytes) for row in rows_of(made)] == [
        ("RSA-2048 public", "ms", 1, 0),
        ("ECDH-secp256r1 handshake", "ms", 1, 0),
        ("ECDH-Curve25519 handshake", "ms", 1, 0),
    ]
    assert "  RSA-2048                 :  " in made.console.text
    assert " ms/ public\n" in made.console.text.replace("\r", "")


def test_text_form_of_a_throughput_row() -> None:
    made = machine("benchmark", "software", "sha-256")
    made.run(seconds=5)
    (row,) = rows_of(made)
    value = row.bytes * 168_000_000 // row.cycles // 1024
    assert f"  SHA-256                  :  {value:9d} KB/s\n" in made.console.text.replace("\r", "")


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("md5", ["MD5"]),
        ("SHA-?", ["SHA-1"]),
        ("nothing", []),
        ("*-CBC-128,3DES", ["AES-CBC-128", "3DES"]),
        ("CTR_DRBG (PR)", ["CTR_DRBG (PR)"]),
    ],
)
def test_filter(pattern: str, names: list[str]) -> None:
    made = machine("benchmark", "hardware", pattern)
    assert made.run(seconds=5).reason == "finished"
    assert [row.name for row in rows_of(made)] == names


def test_filter_without_its_magic_is_not_a_filter() -> None:
    made = machine("selftest", "software")
    made.write_memory(made.symbol("cryplab_filter").address, b"mbedtls_md5*\0")
    made.run(seconds=0.2)
    assert made.read_word(made.symbol("cryplab_results_count").address) > 3


def test_another_board() -> None:
    made = machine("benchmark", "hardware", "SHA-256", board="nucleo-f439zi")
    assert made.run(seconds=5).reason == "finished"
    assert [row.name for row in rows_of(made)] == ["SHA-256"]


def test_same_cycles_twice() -> None:
    made = machine("benchmark", "hal-style", "AES-CBC*,SHA-256")
    made.run(seconds=5)
    again = machine("benchmark", "hal-style", "AES-CBC*,SHA-256")
    again.run(seconds=5)
    assert rows_of(made) == rows_of(again)


def test_hal_style_aes_is_bound_by_the_polls_not_by_the_key() -> None:
    cycles = {row.name: row.cycles for row in symmetric_rows("hal-style") if "CBC" in row.name}
    per_second = {name: 24 * 1024 * 168e6 / count / 1024 for name, count in cycles.items()}
    assert all(value == pytest.approx(31542, rel=0.15) for value in per_second.values())  # published
    assert max(cycles.values()) <= 1.03 * min(cycles.values())


def test_hardware_beats_hal_style_beats_software() -> None:
    names = [name for name in SYMMETRIC if name.startswith(("SHA-256", "AES"))]
    tables = {b: {row.name: row.cycles for row in symmetric_rows(b)} for b in BUILDS}
    for name in names:
        assert tables["hardware"][name] < tables["hal-style"][name] < tables["software"][name], name


@pytest.mark.parametrize("chip", ["stm32f217ig", "stm32f417ig"])
def test_every_self_test_passes_on_engines_of_version_1(chip: str) -> None:
    """GCM and CCM go block by block through CRYP, SHA-256 stays in software."""
    board = boards.bare(chip, "8MHz", "USART1")
    try:
        elf = build("selftest", board, build="hardware")
    except ToolError as missing:
        pytest.skip(str(missing))
    made = Machine(board, clock="fast")
    made.load(elf)
    outcome = made.run(seconds=60)
    assert (outcome.reason, outcome.code) == ("finished", 0), made.console.text
    assert not made.reports.guest_errors
    done = {operation.algorithm for operation in made.reports.operations}
    assert done >= {"AES", "DES", "TDES", "MD5", "SHA-1"}
    assert "SHA-256" not in done
