"""Benchmark logs as people keep them: serial captures, terminal copies, JSON of `bench`, Markdown.

A capture is cleaned line by line: ANSI codes, carriage returns, NUL bytes of a booting UART, backspaces
and the time stamps that terminal programs put in front. What is then no row is passed over. A file may hold
several runs: a row's name that comes again starts the next one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryplab.bench.formats import Measurement, read
from cryplab.bench.published import canonical
from cryplab.errors import InputError

__all__ = ["Log", "read_log"]

ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()][0-9A-Za-z]|\x1b[=>78DEHM]")
BACKSPACED = re.compile(r"[^\n\x08]\x08")
STAMP = re.compile(
    r"""^\s*(?:
        [\[(<]\s*(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d:\d\d(?:[.,:]\d+)?\s*[\])>]   # [12:34:56.789]
      | [\[(]\s*\d+(?:\.\d+)?\s*(?:s|ms|us)?\s*[\])]                              # [   12.345678]
      | (?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d:\d\d(?:[.,:]\d+)?Z?(?=[\s>|-])       # 12:34:56.789
      | (?:COM\d+|/dev/tty\w+)
    )\s*(?:->|>|\||:|-)?[ \t]?""",
    re.VERBOSE,
)
MARK = re.compile(r"^(?P<path>.+)#(?P<run>\d+)$")
BINARY_SHARE = 0.3
"More unprintable bytes than this after cleaning: not a text."


@dataclass(frozen=True, slots=True)
class Log:
    """The rows of one run. `label` heads its column; `run` counts from 1, of `runs` in the file."""

    path: str
    label: str
    rows: tuple[Measurement, ...]
    run: int = 1
    runs: int = 1

    @property
    def note(self) -> str:
        """A sentence when the file holds more than the run that is used, else empty."""
        if self.runs == 1:
            return ""
        return f"{self.path} holds {self.runs} runs; number {self.run} is used ({self.path}#1 names the first)"


def read_log(name: str | Path, run: int | None = None) -> Log:
    """Read one log; `FILE#2` or `run` names the second run of a file that holds several (default the last).

    JSON of `bench` holds a column for each build: `FILE#1` is the first, software; the default is the last.

    Raises: InputError with one sentence: missing, empty, binary, no rows, a unit without meaning, cut short.
    """
    path, wanted = str(name), run
    if wanted is None and not Path(path).exists() and (match := MARK.match(path)):
        path, wanted = match["path"], int(match["run"])
    text = _text(path)
    runs: list[tuple[str | None, list[Measurement]]]
    if text.lstrip().startswith("{"):
        runs = _from_json(path, text)
    else:
        runs = [(None, rows) for rows in _runs(read(text, path))]
    number = len(runs) if wanted is None else wanted
    if not 1 <= number <= len(runs):
        raise InputError(f"{path} holds {len(runs)} run{'s' if len(runs) > 1 else ''}; there is no number {number}")
    label, rows = runs[number - 1]
    stem = Path(path).name
    shown = label or (stem if len(runs) == 1 or wanted is None else f"{stem}#{number}")
    return Log(path, shown, tuple(rows), number, len(runs))


def _text(path: str) -> str:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    if not data.strip(b"\0 \t\r\n"):
        raise InputError(f"{path} is empty; expected a benchmark's output or the JSON of `cryplab bench --json`")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    else:
        text = data.replace(b"\0", b"").decode("utf-8", "replace")
    text = clean(text)
    strange = sum(1 for c in text if c == "\ufffd" or (not c.isprintable() and c not in "\n\t"))
    if strange > BINARY_SHARE * len(text):
        raise InputError(f"{path} is a binary file; expected a benchmark's output as text")
    return text


def clean(text: str) -> str:
    """A capture without what a terminal adds; other characters stay."""
    text = ANSI.sub("", text).replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    while (shorter := BACKSPACED.sub("", text)) != text:
        text = shorter
    return "\n".join(STAMP.sub("", line, count=1) for line in text.split("\n"))


def _runs(rows: list[Measurement]) -> list[list[Measurement]]:
    """Cut where a name (and column of a Markdown table) comes again."""
    columns = list(dict.fromkeys(r.column for r in rows))
    if len(columns) > 1:
        return [[r for r in rows if r.column == column] for column in columns]
    runs: list[list[Measurement]] = [[]]
    seen: set[str] = set()
    for row in rows:
        key = canonical(row.name)
        if key in seen:
            runs.append([])
            seen = set()
        seen.add(key)
        runs[-1].append(row)
    return runs


def _from_json(path: str, text: str) -> list[tuple[str | None, list[Measurement]]]:
    try:
        document: Any = json.loads(text)
    except ValueError as error:
        raise InputError(f"{path} begins like JSON and is none: {error}") from None
    rows = document.get("rows") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(r, dict) and "name" in r and "unit" in r for r in rows):
        raise InputError(f"{path} is JSON, but not of `cryplab bench --json`: it has no rows with name and unit")
    columns = ("software", "hardware", "before", "after")
    runs: list[tuple[str | None, list[Measurement]]] = []
    for column in columns:
        found = [_json_row(r, column) for r in rows]
        kept = [m for m in found if m is not None]
        if kept:
            runs.append((f"{Path(path).name} {column}", kept))
    if not runs:
        raise InputError(f"{path} is JSON of a bench without values")
    return runs


def _json_row(row: dict[str, Any], column: str) -> Measurement | None:
    cell = row.get(column)
    value = cell.get("value") if isinstance(cell, dict) else cell
    return Measurement(str(row["name"]), str(row["unit"]), float(value)) if isinstance(value, int | float) else None
