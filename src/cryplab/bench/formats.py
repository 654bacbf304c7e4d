"""Benchmark tables as text: the forms of mbed TLS, wolfCrypt and CTaoCrypt, and Markdown.

KB is 1024 bytes in all of them and MB is 2^20 bytes; kB of CTaoCrypt is 1024 bytes too. A reader takes
only units that these programs print; any other is an error, never a guess. Lines that are no rows
(headings, a prompt, a log's time stamps on lines of their own) are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cryplab.errors import InputError

__all__ = ["BYTES_PER_SECOND", "FORMS", "Measurement", "lower_is_better", "read", "write"]

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BYTES_PER_SECOND = {
    "bytes/s": 1, "B/s": 1, "KB/s": KIB, "KiB/s": KIB, "MB/s": MIB, "MiB/s": MIB, "GB/s": GIB, "GiB/s": GIB,
}  # fmt: skip
_SIZES = {"bytes": 1, "B": 1, "kB": KIB, "KB": KIB, "KiB": KIB, "MB": MIB, "MiB": MIB, "GB": GIB, "GiB": GIB}
FORMS = ("mbedtls", "mbedtls-2.28", "wolfcrypt", "ctaocrypt", "markdown")
_EXPECTED = "expected rows as mbed TLS, wolfCrypt or CTaoCrypt print them, or a Markdown table"
_OPERATIONS = "public|private|handshake|sign|verify|genkey|enc|dec"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of text.

    `value` in `unit`: a throughput, `ms` for one operation, or `ops/s`. `data_bytes`, `seconds` and
    `calls` are what the line says of the measurement, 0 when it does not say. `line` counts from 1.
    """

    name: str
    unit: str
    value: float
    data_bytes: float = 0
    seconds: float = 0
    calls: int = 0
    line: int = 0
    column: str = ""

    @property
    def bytes_per_second(self) -> float | None:
        """The throughput without unit; None for time per operation."""
        factor = BYTES_PER_SECOND.get(self.unit)
        return None if factor is None else self.value * factor

    @property
    def milliseconds(self) -> float | None:
        """Time of one operation; None for a throughput."""
        if self.unit == "ms":
            return self.value
        return 1000 / self.value if self.unit == "ops/s" and self.value else None


def lower_is_better(unit: str) -> bool:
    """Milliseconds: yes; bytes and operations per second: no."""
    return unit == "ms"


# -- reading ---------------------------------------------------------------------------------------
_NUMBER = r"(\d+(?:\.\d+)?)"
_MBED_SPEED = re.compile(rf"^\s*(\S.*?)\s*:\s+{_NUMBER}\s+([A-Za-z]+/s)(?:,\s+{_NUMBER}\s+cycles/byte)?\s*$")
_MBED_MS = re.compile(rf"^\s*(\S.*?)\s*:\s+{_NUMBER}\s+ms/\s*({_OPERATIONS})\s*$")
_MBED_OPS = re.compile(rf"^\s*(\S.*?)\s*:\s+{_NUMBER}\s+({_OPERATIONS})/s\s*$")
_MBED_HEAD = re.compile(r"^  \S.{0,40}?\s+:\s*(?:\d+\s*[\w/]*(?: \w*)?)?$")
_WOLF_SPEED = re.compile(
    rf"^\s*(\S.*?)\s+{_NUMBER}\s+(\w+)\s+took\s+{_NUMBER}\s+seconds,\s+{_NUMBER}\s+(\w+/s)(?:\W.*)?$"
)
_WOLF_OPS = re.compile(
    rf"^\s*(\S.*?)\s+(\d+)\s+ops took\s+{_NUMBER}\s+sec, avg\s+{_NUMBER}\s+ms,\s+{_NUMBER}\s+ops/sec"
)
_WOLF_HEAD = re.compile(r"^\s*(\S.*?)\s+(?:\d\S*\s+\w+\s+took|\d+\s+ops\s+took|took)\b")
_CTAO_MS = re.compile(rf"^\s*(\S.*?)\s+took\s+{_NUMBER}\s+milliseconds, avg over\s+(\d+)\s+iterations\s*$")


def read(text: str, origin: str = "the text") -> list[Measurement]:
    """Every row, in order; the form is told line by line.

    Args:
        text: what a benchmark printed, other lines included.
        origin: file name for messages.
    Raises: InputError for a unit that no such program prints, a row that is cut short, or no row at all.
    """
    lines = text.replace("\r", "").split("\n")
    found: list[Measurement] = []
    last = max((n for n, line in enumerate(lines, 1) if line.strip()), default=0)
    header: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("|"):
            header, rows = _markdown_row(line, header, f"{origin} line {number}", number)
            found += rows
            continue
        row = _row(line, f"{origin} line {number}", number)
        if row is not None:
            found.append(row)
        elif number == last and (_MBED_HEAD.match(line) or _WOLF_HEAD.match(line)):
            raise InputError(f"{origin} line {number}: the row is cut short: '{line.strip()}'")
    if not found:
        raise InputError(f"{origin} holds no benchmark rows; {_EXPECTED}")
    return found


def _row(line: str, where: str, number: int) -> Measurement | None:
    if match := _MBED_MS.match(line):
        return Measurement(f"{match[1]} {match[3]}", "ms", float(match[2]), line=number)
    if match := _MBED_OPS.match(line):
        return Measurement(f"{match[1]} {match[3]}", "ops/s", float(match[2]), line=number)
    if match := _MBED_SPEED.match(line):
        return Measurement(match[1], _speed_unit(match[3], where), float(match[2]), line=number)
    if match := _WOLF_SPEED.match(line):
        if match[3] not in _SIZES:
            raise InputError(f"{where}: '{match[3]}' is no size; expected {', '.join(_SIZES)}")
        size = float(match[2]) * _SIZES[match[3]]
        unit = _speed_unit(match[6], where)
        return Measurement(_words(match[1]), unit, float(match[5]), size, float(match[4]), line=number)
    if match := _WOLF_OPS.match(line):
        return Measurement(
            _words(match[1]), "ms", float(match[4]), seconds=float(match[3]), calls=int(match[2]), line=number
        )
    if match := _CTAO_MS.match(line):
        return Measurement(_words(match[1]), "ms", float(match[2]), calls=int(match[3]), line=number)
    return None


def _words(name: str) -> str:
    """One blank between words: columns of the form are no part of a name."""
    return " ".join(name.split())


def _speed_unit(unit: str, where: str) -> str:
    if unit not in BYTES_PER_SECOND:
        raise InputError(f"{where}: unit '{unit}' says no size; expected {', '.join(BYTES_PER_SECOND)}")
    return unit


def _markdown_row(line: str, header: list[str], where: str, number: int) -> tuple[list[str], list[Measurement]]:
    """A table with columns `row`, `unit` and one column for each measurement; other columns are passed over."""
    cells = [c.strip() for c in line.strip().strip("|").split("|")]
    if all(re.fullmatch(r":?-+:?", c) for c in cells):
        return header, []
    if "row" in cells and "unit" in cells:
        return cells, []
    if not header:
        return [], []
    if len(cells) != len(header):
        raise InputError(f"{where}: {len(cells)} cells, the table's heading has {len(header)}")
    row = dict(zip(header, cells, strict=True))
    unit = row["unit"] if row["unit"] in ("ms", "ops/s") else _speed_unit(row["unit"], where)
    columns = [c for c in header if c in ("value", "software", "hardware", "hal-style", "before", "after")]
    values = [(c, row[c]) for c in columns if re.fullmatch(_NUMBER, row[c])]
    return header, [Measurement(row["row"], unit, float(v), line=number, column=c) for c, v in values]


# -- writing ---------------------------------------------------------------------------------------
def write(rows: Iterable[Measurement], form: str, hz: int) -> str:
    """The rows as that program would print them.

    Args:
        rows: with `data_bytes`, `seconds` and `calls` of each measurement.
        form: one of FORMS but markdown, which shows several columns (see `bench.table`).
        hz: core clock, for cycles per byte.
    Raises: InputError for an unknown form.
    """
    writers = {
        "mbedtls": _mbed_2017, "mbedtls-2.28": _mbed_228, "wolfcrypt": _wolfcrypt, "ctaocrypt": _ctaocrypt,
    }  # fmt: skip
    if form not in writers:
        raise InputError(f"there is no form '{form}'; expected {', '.join(writers)}")
    return "\n".join(writers[form](row, hz) for row in rows)


def _split(name: str) -> tuple[str, str]:
    """`RSA-2048`, `public`."""
    head, _, operation = name.rpartition(" ")
    return (head, operation) if re.fullmatch(_OPERATIONS, operation) else (name, "operation")


def _mbed_2017(row: Measurement, hz: int) -> str:
    """Whole numbers, rounded down as the program's integers do."""
    if row.bytes_per_second is not None:
        return f"  {row.name:<24} :  {int(row.bytes_per_second / KIB):9d} KB/s"
    title, operation = _split(row.name)
    return f"  {title:<24} :  {int(row.milliseconds or 0):6d} ms/ {operation}"


def _mbed_228(row: Measurement, hz: int) -> str:
    speed = row.bytes_per_second
    if speed is not None:
        return f"  {row.name:<24} :  {int(speed / KIB):9d} KiB/s,  {int(hz / speed) if speed else 0:9d} cycles/byte"
    title, operation = _split(row.name)
    return f"  {title:<24} :  {int(1000 / (row.milliseconds or 1)):6d} {operation:>7}/s"


def _wolfcrypt(row: Measurement, hz: int) -> str:
    speed = row.bytes_per_second
    if speed is not None:
        size, size_unit = (row.data_bytes / MIB, "MB") if row.data_bytes >= MIB else (row.data_bytes / KIB, "KB")
        rate, rate_unit = (speed / MIB, "MB") if speed >= MIB else (speed / KIB, "KB")
        return f"{row.name:<16} {size:5.0f} {size_unit} took {row.seconds:5.3f} seconds, {rate:8.3f} {rate_unit}/s"
    milliseconds, calls = row.milliseconds or 0.0, max(1, row.calls)
    per_second = 1000 / milliseconds if milliseconds else 0.0
    seconds = row.seconds or milliseconds * calls / 1000
    head = _wolf_key_name(row.name)
    return f"{head} {calls:6d} ops took {seconds:5.3f} sec, avg {milliseconds:5.3f} ms, {per_second:.3f} ops/sec"


def _wolf_key_name(name: str) -> str:
    """`RSA     2048 public   `: algorithm, bits and operation in columns where the name has all three."""
    match = re.match(r"^(\w+)[- ](\d+)[ ](.+)$", name)
    return f"{match[1]:<6} {int(match[2]):5d} {match[3]:<9} " if match else f"{name:<23} "


def _ctaocrypt(row: Measurement, hz: int) -> str:
    speed = row.bytes_per_second
    if speed is not None:
        kilobytes = round(row.data_bytes / KIB)
        return f"{row.name:<8} {kilobytes:6d} kB took {row.seconds:5.3f} seconds, {speed / MIB:6.2f} MB/s"
    return f"{row.name} took {row.milliseconds or 0:5.2f} milliseconds, avg over {max(1, row.calls)} iterations"
