"""Prints steps as Python that anybody can run: a machine, calls, and what they should have given."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from cryplab.check.api import (
    Api,
    Argument,
    Buffer,
    Call,
    Chain,
    Context,
    Deed,
    Function,
    Inside,
    Plan,
    Store,
    Wait,
)  # fmt: skip
from cryplab.check.oracle import Misuse, Oracle
from cryplab.check.script import Expected, Step

__all__ = ["as_python"]

ALIGNMENT = 16
COLUMNS = 100
WIDTH = 64
"Hexadecimal digits in a line."
SHOWN_RESULT = 4096
"Bytes; of longer results a program compares the digest."


@dataclass
class _Writer:
    api: Api
    lines: list[str] = field(default_factory=list)
    chains: dict[int, Chain] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    helpers: set[str] = field(default_factory=set)
    digests: bool = False
    last: bool = False


def as_python(
    steps: Sequence[Step], api: Api, *, firmware: str, board: str, options: str = "", why: Sequence[str] = ()
) -> str:
    """A program of `Machine.call` lines, with an assertion for each result; `why` stands above as a comment."""
    writer, oracle = _Writer(api), Oracle()
    for number, step in enumerate(steps):
        writer.last = number == len(steps) - 1
        try:
            expected = oracle.run(step)
        except Misuse:
            expected = Expected()
        _step(writer, step, expected)
    imports = ", ".join(sorted({"booted", *writer.helpers}))
    hashes = ["from hashlib import sha256", ""] if writer.digests else []
    head = [*hashes, f"from cryplab.check import {imports}", "", f"machine = booted({firmware!r}, {board!r}{options})"]
    comment = [
        line for text in why for line in textwrap.wrap(text, COLUMNS, initial_indent="# ", subsequent_indent="# ")
    ]
    return "\n".join([*comment, *head, *writer.lines, ""])


def _hex(data: bytes) -> str:
    if not data:
        return 'b""'
    if len(set(data)) == 1 and len(data) > 8:
        return f'b"\\x{data[0]:02x}" * {len(data)}'
    digits = data.hex()
    if len(digits) <= WIDTH:
        return f'bytes.fromhex("{digits}")'
    rows = "".join(f'\n    "{digits[i : i + WIDTH]}"' for i in range(0, len(digits), WIDTH))
    return f"bytes.fromhex({rows}\n)"


def _context(number: int) -> str:
    return f"context{number}"


def _step(writer: _Writer, step: Step, expected: Expected) -> None:
    if step.does in ("open", "clone"):
        kind = step.kind if step.does == "open" else writer.chains[step.source].kind
        writer.chains[step.context] = Chain(kind)
        if step.context not in writer.sizes:
            writer.sizes[step.context] = size = writer.api.context_bytes(kind)
            writer.lines.append(f"{_context(step.context)} = machine.allocate({size})")
    plan = writer.api.plan(step, writer.chains)
    for number in plan.clear:
        writer.lines.append(f"machine.write_memory({_context(number)}, bytes({writer.sizes[number]}))")
    names = {buffer.name: _name(buffer, step) for buffer in plan.buffers}
    lasting = _lasting(plan.calls)
    values = {b.name: v for b in plan.buffers if (v := _buffer(writer, b, names, step, plan.edge, b.name in lasting))}
    for call in plan.calls:
        _deed(writer, call, {**names, **values}, expected)
    chain = writer.chains.get(step.context)
    if chain is not None and expected.outputs.get("iv"):
        chain.iv = expected.outputs["iv"]
    _results(writer, plan, names, step, expected)


def _lasting(deeds: Sequence[Deed]) -> set[str]:
    """Buffers that must outlive the call they are given to: structs point to them, or they are structs."""
    named: list[Argument] = []
    for deed in deeds:
        if isinstance(deed, Store):
            named += [deed.into, *(put.value for put in deed.puts)]
        elif isinstance(deed, Call):
            named += [a.buffer for a in deed.arguments if isinstance(a, Inside)]
    return {name for name in named if isinstance(name, str)}


def _name(buffer: Buffer, step: Step) -> str:
    name = f"{buffer.name}_" if keyword.iskeyword(buffer.name) or buffer.name == "input" else buffer.name
    return f"{name}{step.context}" if buffer.use == "inout" else name


def _buffer(
    writer: _Writer, buffer: Buffer, names: dict[str, str], step: Step, edge: str = "", lasting: bool = False
) -> str:
    """A line that makes it, or what stands for it in the call."""
    name = names[buffer.name]
    if buffer.over:
        shift = f" {'+' if buffer.shift > 0 else '-'} {abs(buffer.shift)}" if buffer.shift else ""
        writer.lines.append(f"{name} = {names[buffer.over]}{shift}")
        return ""
    going_on = buffer.use == "inout" and step.iv is None
    if going_on and name in writer.kept:
        return ""
    overlaid = step.place.output_at is not None
    if (edge or step.place.edge) == buffer.name:
        writer.helpers.add("at_edge")
        writer.lines.append(f"{name} = at_edge(machine, {_hex(buffer.data)})")
    elif buffer.use == "in" and not buffer.offset and not (buffer.name == "input" and overlaid) and not lasting:
        return _hex(buffer.data)
    else:
        _allocated(writer, buffer, name, step)
    if buffer.use == "inout":
        writer.kept.add(name)
    return ""


def _allocated(writer: _Writer, buffer: Buffer, name: str, step: Step) -> None:
    before = buffer.offset + (-min(0, step.place.output_at or 0) if buffer.name == "input" else 0)
    content = str(len(buffer.data) + before) if buffer.use == "out" else _hex(bytes(before) + buffer.data)
    behind = f" + {before}" if before else ""
    writer.lines.append(f"{name} = machine.allocate({content}, align={ALIGNMENT}){behind}")


def _deed(writer: _Writer, deed: Deed, values: dict[str, str], expected: Expected) -> None:
    if isinstance(deed, Call):
        _call(writer, deed, values, expected)
    elif isinstance(deed, Store):
        _store(writer, deed, values)
    else:
        _wait(writer, deed, values)


def _store(writer: _Writer, deed: Store, values: dict[str, str]) -> None:
    into = _argument(deed.into, values)
    if not deed.type:
        for put in deed.puts:
            value = f'{_argument(put.value, values)}.to_bytes({put.size}, "little")'
            writer.lines.append(f"machine.write_memory({into} + {put.offset}, {value})")
        return
    writer.helpers.add("fill")
    members = "".join(f'\n    "{put.path}": {_argument(put.value, values)},' for put in deed.puts)
    writer.lines.append(f'fill(machine, "{deed.type}", {into}, {{{members}\n}})')


def _wait(writer: _Writer, deed: Wait, values: dict[str, str]) -> None:
    writer.helpers.add("wait")
    writer.lines.append(
        f"assert wait(machine, {_argument(deed.at, values)}, {deed.busy}, {deed.seconds:g}) == {deed.ready}"
    )
    if deed.error is not None:
        writer.lines.append(f"assert machine.read_word({_argument(deed.error, values)}) == 0")


def _call(writer: _Writer, call: Call, values: dict[str, str], expected: Expected) -> None:
    arguments = ", ".join([f'"{call.function}"', *(_argument(a, values) for a in call.arguments)])
    text = f"machine.call({arguments})"
    if call.returns in ("pointer", "word"):
        writer.lines.append(f"{call.keep} = {text}")
    elif call.returns == "nothing":
        writer.lines.append(text)
    else:
        sign = "!=" if expected.status == "refused" else "=="
        writer.lines.append(f"assert {text} {sign} 0")
        if call.kept_from:
            writer.lines.append(f"{call.keep} = machine.read_word({values[call.kept_from]})")


def _argument(argument: Argument, values: dict[str, str]) -> str:
    if isinstance(argument, int):
        return str(argument)
    if isinstance(argument, Context):
        return _context(argument.number) + (f" + {argument.behind}" if argument.behind else "")
    if isinstance(argument, Inside):
        return values[argument.buffer] + (f" + {argument.behind}" if argument.behind else "")
    if isinstance(argument, Function):
        return f'machine.symbol("{argument.name}").entry'
    return values.get(argument, argument)


def _results(writer: _Writer, plan: Plan, names: dict[str, str], step: Step, expected: Expected) -> None:
    if expected.status != "ok":
        return
    for join in plan.joins:
        whole = expected.outputs.get(join.name, b"") + expected.outputs.get(join.tail, b"")
        reads = [f"machine.read_memory({names[part]}, machine.read_word({names[size]}))" for part, size in join.parts]
        writer.lines.append(f"assert {' + '.join(reads)} == {_hex(whole)}")
    for name in () if plan.joins else plan.results:
        value = expected.outputs.get(name)
        if value and (name not in ("iv", "offset") or writer.last):
            read = f"machine.read_memory({names[name]}, {len(value)})"
            writer.digests |= len(value) > SHOWN_RESULT
            writer.lines.append(
                f"assert {read} == {_hex(value)}" if len(value) <= SHOWN_RESULT else
                f'assert sha256({read}).hexdigest() == "{sha256(value).hexdigest()}"'
            )  # fmt: skip
