"""Runs steps on the firmware: buffers between guards in memory of the bench, calls, and what became of both.

The memory of `check` lies outside the chip's; masters reach it. Contents between and in buffers are different at each
place and each run. After every call everything that the function had no right to change must be as it was.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

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
    Join,
    Plan,
    Store,
    Wait,
)  # fmt: skip
from cryplab.check.script import Step
from cryplab.check.structs import wait
from cryplab.errors import GuestCrash, LimitReached, UsageError
from cryplab.machine import Machine

__all__ = ["ARENA", "ARENA_BYTES", "OTHER_ARENA", "Got", "Target"]

ARENA, OTHER_ARENA, ARENA_BYTES = 0x2020_0000, 0x2030_0000, 0x0008_0000
CONTEXT_BYTES = 0x0002_0000
"Of the arena, from its start: contexts. The rest is for buffers, up to where no memory is."
GUARD = 32
LINE = 16
SURROUNDINGS = 1 << 20
CALL_SECONDS, SECONDS_PER_BYTE = 1.0, 40e-6
"Virtual time that a call may take: a second, and software ciphers at 25 KB/s."


@dataclass(slots=True)
class Got:
    """What a step gave.

    `status`: "ok", "refused", "unsupported", "crashed", "hung". `value`: the status word returned; `text`: more.
    `outputs` by name; `before`: what lay in them. `damage`: sentences about memory that was changed.
    """

    status: str = "ok"
    value: int = 0
    outputs: dict[str, bytes] = field(default_factory=dict)
    before: dict[str, bytes] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    text: str = ""


@dataclass(slots=True)
class _Region:
    """A stretch of memory written before a call and compared after it; `parts` may be written by the function."""

    address: int
    image: bytearray
    writable: list[tuple[str, int, int]] = field(default_factory=list)


class Target:
    """The firmware's side of a check. One for each machine; `begin` before each case.

    `calls` counts calls of crypto functions; `base` is where the memory for contexts and buffers is put.
    """

    def __init__(self, machine: Machine, api: Api, *, seed: int = 0, base: int = ARENA) -> None:
        self.machine, self.api, self.base = machine, api, base
        self.calls = 0
        self.view = machine.core.map_memory(base, ARENA_BYTES, kind="ram")
        machine.bus.attach_memory(base, self.view)
        self._noise = random.Random(seed).randbytes(SURROUNDINGS)
        self._entries: dict[str, int] = {}
        self.begin(0)

    def begin(self, fill: int) -> None:
        """A new case: no contexts; `fill` chooses what lies around the buffers."""
        self._fill = fill * 7919 * LINE
        self._slots: dict[int, tuple[int, int]] = {}
        self._next_slot = GUARD
        self.chains: dict[int, Chain] = {}
        self._values: dict[str, int] = {}

    # -- a step --------------------------------------------------------------------------------
    def run(self, step: Step) -> Got:
        """Execute one step."""
        if step.does in ("open", "clone"):
            kind = step.kind if step.does == "open" else self.chains[step.source].kind
            self.chains[step.context] = Chain(kind)
            self._slot(step.context, self.api.context_bytes(kind))
        plan = self.api.plan(step, self.chains)
        if plan.unsupported:
            return Got("unsupported", text=plan.unsupported)
        for number in plan.clear:
            start, size = self._slots[number][0] - self.base, self._slots[number][1]
            self.view[start : start + size] = bytes(size)
        got = self.execute(plan, plan.edge or step.place.edge)
        if plan.may_refuse and got.status == "refused":
            got.status, got.text = "unsupported", plan.may_refuse
        self._remember(step, got)
        return got

    def _remember(self, step: Step, got: Got) -> None:
        """What a caller keeps for the next call."""
        chain = self.chains.get(step.context)
        if chain is None or step.does != "crypt":
            return
        kept: dict[str, Any] = {name: got.outputs[name] for name in ("iv", "offset", "stream") if name in got.outputs}
        self.chains[step.context] = replace(chain, **kept)

    def execute(self, plan: Plan, edge: str = "") -> Got:
        """Lay out the buffers, make the calls, look at memory."""
        regions, addresses = self._lay_out(plan.buffers, edge)
        for region in regions:
            start = region.address - self.base
            self.view[start : start + len(region.image)] = region.image
        got = Got()
        for name, address, size in (part for region in regions for part in region.writable):
            got.before[name] = bytes(self.view[address - self.base : address - self.base + size])
        limit = CALL_SECONDS + SECONDS_PER_BYTE * sum(len(b.data) for b in plan.buffers)
        self._call_all(plan, addresses, limit, got)
        for region in regions:
            self._compare(region, got)
        self._contexts_intact(got)
        for name, address, size in (part for region in regions for part in region.writable):
            if name in plan.results:
                got.outputs[name] = bytes(self.view[address - self.base : address - self.base + size])
        if got.status == "ok":
            for join in plan.joins:
                _join(join, got.outputs)
        return got

    def _call_all(self, plan: Plan, addresses: Mapping[str, int], limit: float, got: Got) -> None:
        for deed in plan.calls:
            if absent := self._absent(deed):
                got.status, got.text = "unsupported", f"{absent} is not linked"
                return
            try:
                self._do(deed, addresses, limit, got)
            except GuestCrash as crash:
                got.status, got.text = "crashed", crash.report or str(crash)
            except LimitReached as reached:
                why = plan.unfinished(self.machine) if plan.unfinished else ""
                got.status, got.text = ("unsupported", why) if why else ("hung", str(reached))
            if got.status != "ok":
                return
        for name, wanted in plan.compares:
            found = self._read(addresses[name], len(wanted))
            if found != wanted:
                got.status, got.text = (
                    "refused",
                    f"of the caller, who got {found.hex()} as {name} and not {wanted.hex()},",
                )

    def _do(self, deed: Deed, addresses: Mapping[str, int], limit: float, got: Got) -> None:
        """Raises: GuestCrash, LimitReached."""
        if isinstance(deed, Store):
            start = self._argument(deed.into, addresses)
            for put in deed.puts:
                value = self._argument(put.value, addresses)
                self._write(start + put.offset, value.to_bytes(put.size, "little"))
        elif isinstance(deed, Wait):
            self._wait(deed, addresses, got)
        else:
            arguments = [self._argument(a, addresses) for a in deed.arguments]
            self.calls += 1
            self._returned(deed, self.machine.call(self._entry(deed.function), *arguments, seconds=limit), got)
            if deed.kept_from:
                self._values[deed.keep] = int.from_bytes(self._read(addresses[deed.kept_from], 4), "little")

    def _returned(self, call: Call, value: int, got: Got) -> None:
        """What the result means."""
        if call.returns in ("pointer", "word"):
            self._values[call.keep] = value
            if not value and call.returns == "pointer":
                got.status, got.text = "unsupported", f"{call.function} returned no pointer"
        elif call.returns == "status":
            got.value, got.status = value, self.api.status(value)
            got.text = self.api.error(value) if got.status == "refused" else ""

    def _wait(self, deed: Wait, addresses: Mapping[str, int], got: Got) -> None:
        state = wait(self.machine, self._argument(deed.at, addresses), deed.busy, deed.seconds)
        error = int.from_bytes(self._read(self._argument(deed.error, addresses), 4), "little") if deed.error else 0
        if state != deed.ready or error:
            got.status, got.value = "refused", error or state
            got.text = f"code {error:#x} in the handle" if error else f"state {state} in the handle"

    def _read(self, address: int, size: int) -> bytes:
        return bytes(self.view[address - self.base : address - self.base + size])

    def _write(self, address: int, data: bytes) -> None:
        self.view[address - self.base : address - self.base + len(data)] = data

    def _argument(self, argument: Argument, addresses: Mapping[str, int]) -> int:
        if isinstance(argument, int):
            return argument
        if isinstance(argument, Context):
            return self._slots[argument.number][0] + argument.behind
        if isinstance(argument, Inside):
            return addresses[argument.buffer] + argument.behind
        if isinstance(argument, Function):
            return self._entry(argument.name)
        return addresses[argument] if argument in addresses else self._values[argument]

    def _absent(self, call: Deed) -> str:
        """The first function of a call that the firmware has not."""
        if not isinstance(call, Call):
            return ""
        assert self.machine.image is not None
        names = (call.function, *(a.name for a in call.arguments if isinstance(a, Function)))
        return next((name for name in names if name not in self.machine.image.symbols), "")

    def _entry(self, name: str) -> int:
        if name not in self._entries:
            self._entries[name] = self.machine.symbol(name).entry
        return self._entries[name]

    # -- memory --------------------------------------------------------------------------------
    def _slot(self, number: int, size: int) -> None:
        """Memory of a context; opened again it lies where it was."""
        if number in self._slots and self._slots[number][1] >= size:
            return
        start = self._next_slot
        if start + size + GUARD > CONTEXT_BYTES:
            raise UsageError(f"contexts of {size} bytes: no more than {CONTEXT_BYTES} bytes of them fit")
        self._next_slot = -(-(start + size + GUARD) // LINE) * LINE
        self._slots[number] = (self.base + start, size)
        noise = self._surroundings(start, size + 2 * GUARD)
        self.view[start - GUARD : start + size + GUARD] = noise

    def context_address(self, number: int) -> int:
        """Where a context lies."""
        return self._slots[number][0]

    def _surroundings(self, place: int, size: int) -> bytes:
        start = (self._fill + place) % (SURROUNDINGS // 2)
        return self._noise[start : start + size]

    def _contexts_intact(self, got: Got) -> None:
        for number, (address, size) in self._slots.items():
            start = address - self.base
            noise = self._surroundings(start, size + 2 * GUARD)
            before, after = self.view[start - GUARD : start], self.view[start + size : start + size + GUARD]
            if before != noise[:GUARD]:
                got.damage.append(f"memory before context {number} was changed")
            if after != noise[GUARD + size :]:
                got.damage.append(f"memory behind context {number} ({size} bytes) was changed")

    def _lay_out(self, buffers: tuple[Buffer, ...], edge: str) -> tuple[list[_Region], dict[str, int]]:
        addresses: dict[str, int] = {}
        over = {b.over: b for b in buffers if b.over}
        cursor = CONTEXT_BYTES
        placed: list[Buffer] = []
        regions: list[_Region] = []
        for buffer in buffers:
            if buffer.over:
                addresses[buffer.name] = addresses[buffer.over] + buffer.shift
                continue
            if buffer.name == edge:
                start = ARENA_BYTES - len(buffer.data)
                addresses[buffer.name] = self.base + start
                image = bytearray(self._surroundings(start, GUARD) + buffer.data)
                writable = [(buffer.name, self.base + start, len(buffer.data))] if buffer.use != "in" else []
                regions.append(_Region(self.base + start - GUARD, image, writable))
                continue
            top = over.get(buffer.name)
            room_before, room_behind = (max(0, -top.shift), max(0, top.shift)) if top else (0, 0)
            start = -(-(cursor + GUARD + room_before) // LINE) * LINE + buffer.offset
            addresses[buffer.name] = self.base + start
            cursor = start + len(buffer.data) + room_behind + GUARD
            placed.append(buffer)
        size = cursor - CONTEXT_BYTES
        if size + CONTEXT_BYTES > ARENA_BYTES - GUARD:
            raise UsageError(
                f"buffers of {size} bytes do not fit the {ARENA_BYTES - CONTEXT_BYTES} bytes of check's memory"
            )
        image = bytearray(self._surroundings(CONTEXT_BYTES, size))
        main = _Region(self.base + CONTEXT_BYTES, image)
        for buffer in placed:
            if buffer.use != "out":
                at = addresses[buffer.name] - main.address
                image[at : at + len(buffer.data)] = buffer.data
        main.writable += [(b.name, addresses[b.name], len(b.data)) for b in buffers if b.use != "in" and b.name != edge]
        return [main, *regions], addresses

    def _compare(self, region: _Region, got: Got) -> None:
        start = region.address - self.base
        after = self.view[start : start + len(region.image)]
        allowed = region.image
        for _, address, size in region.writable:
            at = address - region.address
            allowed[at : at + size] = after[at : at + size]
        if allowed != after:
            changed = [i for i, (a, b) in enumerate(zip(allowed, after, strict=True)) if a != b]
            got.damage.append(self._damage(region, changed))

    @staticmethod
    def _damage(region: _Region, changed: list[int]) -> str:
        first, last = region.address + changed[0], region.address + changed[-1]
        near = ""
        for name, address, size in region.writable:
            if address + size <= first < address + size + GUARD:
                near = f", {first - address - size} bytes behind {name}"
            elif address - GUARD <= last < address:
                near = f", {address - last} bytes before {name}"
        return f"{len(changed)} bytes that are not the function's to change were changed{near}"


def _join(join: Join, outputs: dict[str, bytes]) -> None:
    whole = b"".join(outputs[part][: int.from_bytes(outputs[length], "little")] for part, length in join.parts)
    if join.split_at is not None:
        whole, outputs[join.tail] = whole[: join.split_at], whole[join.split_at :]
    outputs[join.name] = whole
