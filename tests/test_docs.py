"""Commands in README and docs are run, and what they print is compared.

A fenced block marked `console` holds commands behind `$ ` and their output. A line `...` stands for any
lines, `...` within a line for any characters. `make` targets and blocks behind `<!-- not run: why -->`
are left out; `<!-- slow -->` marks a slow one. Blocks marked `python` behind `<!-- run -->` are executed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"(?:<!-- (?P<mark>[^>]*) -->\n+)?```(?P<kind>console|python)\n(?P<body>.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Example:
    page: Path
    line: int
    mark: str
    kind: str
    body: str

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def run(self) -> bool:
        if self.kind == "python":
            return self.mark == "run"
        return not self.mark.startswith("not run")


def examples() -> list[Example]:
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start("body"))
            found.append(Example(page, line, match["mark"] or "", match["kind"], match["body"]))
    return [e for e in found if e.run]


def commands(body: str) -> list[tuple[str, str]]:
    """Command and expected output, pair by pair; a line that ends in a backslash goes on."""
    pairs: list[tuple[str, list[str]]] = []
    goes_on = False
    for line in body.splitlines():
        if goes_on:
            pairs[-1] = (pairs[-1][0][:-1] + line.strip(), pairs[-1][1])
        elif line.startswith("$ "):
            pairs.append((line[2:], []))
        elif pairs:
            pairs[-1][1].append(line)
        goes_on = line.startswith("$ ") and line.endswith("\\")
    return [(command, "\n".join(lines)) for command, lines in pairs]


def matches(expected: str, printed: str) -> bool:
    """A line `...` stands for any lines, `...` inside a line for any characters of that line."""
    parts = []
    for line in expected.strip("\n").splitlines():
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(re.escape(piece) for piece in line.rstrip().split("...")) + r"\n")
    actual = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines()) + "\n"
    return re.fullmatch("".join(parts), actual) is not None


def params() -> list[object]:
    return [pytest.param(e, id=e.name, marks=[pytest.mark.slow] if e.mark == "slow" else []) for e in examples()]


def shell(folder: Path) -> dict[str, str]:
    """An environment in which `cryplab` is this checkout."""
    programs = folder / "bin"
    programs.mkdir()
    program = programs / "cryplab"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cryplab "$@"\n')
    program.chmod(0o755)
    path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return dict(os.environ, COLUMNS="80", PATH=path, PYTHONPATH=str(ROOT / "src"))


@pytest.mark.parametrize("example", params())
def test_example(example: Example, tmp_path: Path) -> None:
    environment = shell(tmp_path)
    if example.kind == "python":
        subprocess.run([sys.executable, "-c", example.body], cwd=tmp_path, check=True, env=environment)
        return
    for command, expected in commands(example.body):
        if command.split()[0] == "make":
            continue
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if expected.strip():
            assert matches(expected, done.stdout), f"$ {command}\n{done.stdout}"
        else:
            assert done.returncode == 0, f"$ {command}\n{done.stdout}"


def test_every_command_is_documented() -> None:
    from cryplab.cli import cli

    text = "\n".join(page.read_text() for page in PAGES)
    missing = [name for name in cli.commands if f"cryplab {name}" not in text]
    assert missing == []
