"""Contexts and calls: which crypto function runs, for which object, and what the object was told before.

An object is a context pointer between `init` and `free`; used again at the same address it is another one. Calls
nest; the innermost known one owns the accesses, but a driver's function inside a library's call is part of that, and
its handle stands for the library's context from then on. Two accesses belong together when one call is inside the
other, or when a context is shared by both chains of calls: compilers put functions in line, so a table function may
do its work without being seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cryplab.observe.api import Function
from cryplab.observe.chaining import COUNTER_BLOCK, next_value
from cryplab.observe.events import CallEntry

if TYPE_CHECKING:
    from cryplab.layout import Layout

__all__ = ["Call", "Contexts", "Object", "ReadMemory"]

ReadMemory = Callable[[int, int], bytes | None]
DEEPEST = 64
KEY_BYTES_MOST = 32
SNAPSHOT_BYTES_MOST = 4096


@dataclass(slots=True, eq=False)
class Object:
    """A context of a crypto API.

    `key` as given by setkey, `set_by` that call; `message` counts starts; `data_bytes` of the message so far;
    `whole`: every part of this message was seen, so that `data_bytes` can be relied on.
    """

    address: int
    algorithm: str = ""
    generation: int = 0
    serial: int = 0
    "Unlike any other object's of the run."
    key: bytes | None = None
    key_words: dict[Any, list[int]] = field(default_factory=dict)
    "The key as register words, by algorithm and first register."
    key_bits: int = 0
    key_pointer: int = 0
    set_by: Call | None = None
    message: int = 0
    data_bytes: int = 0
    aad_bytes: int = 0
    fed_message: int = -1
    "The last message of which a hash block has seen data."
    whole: bool = False
    chain: tuple[int, ...] | None = None
    marked: bool = False
    "A block has worked for it."
    iv: bytes | None = None
    "The IV or counter that it holds, where its API keeps it there (`held_iv`); None when not known."
    offset: int = 0
    "Bytes used of the counter block before that counter."
    ended: bool = False
    "Its message has ended, and more data begins the next one (`restarts`)."

    def __str__(self) -> str:
        kind = f"{self.algorithm} " if self.algorithm else ""
        return f"{kind}context {self.address:#010x}" if self.address else f"{kind}one call"


@dataclass(slots=True, eq=False)
class Call:
    """A known function in progress (or that was, when it is kept as the owner of an earlier access)."""

    function: Function
    entry: CallEntry
    arguments: dict[str, int]
    object: Object
    caller: Call | None
    thread: int = 0
    message: int = 0
    open: bool = True
    blocks: set[str] = field(default_factory=set)
    "Blocks that it used."
    iv_before: bytes = b""
    input_before: bytes = b""
    behind_output: bytes = b""
    output_before: bytes = b""
    marks: dict[Any, Any] = field(default_factory=dict)
    "What rules remember about this call."
    stack: list[str] | None = None

    def get(self, role: str, default: int = 0) -> int:
        """An argument by its role."""
        return self.arguments.get(role, default)

    @property
    def encrypts(self) -> bool | None:
        """True, False, or None when neither the function nor an argument says it."""
        if self.function.direction:
            return self.function.direction == "encrypt"
        if "dir" in self.arguments:
            return not self.arguments["dir"]
        return bool(self.arguments["mode"]) if "mode" in self.arguments else None

    @property
    def objects(self) -> set[tuple[int, int]]:
        """Address and generation of the contexts in this chain of calls."""
        found, call = set(), self
        while True:
            if call.object.address:
                found.add((call.object.address, call.object.generation))
            if call.caller is None:
                return found
            call = call.caller

    @property
    def continues(self) -> bool:
        """A hash block has seen some of this context's message already."""
        return bool(self.object.address) and self.object.fed_message == self.object.message

    def within(self, other: Call) -> bool:
        """This call is `other` or inside it."""
        call: Call | None = self
        while call is not None:
            if call is other:
                return True
            call = call.caller
        return False

    def related(self, other: Call | None) -> bool:
        """Both belong to one operation, see the module's text."""
        if other is None:
            return True
        if self.within(other) or other.within(self):
            return True
        return self.object is other.object or bool(self.objects & other.objects)

    def __str__(self) -> str:
        target = f"{self.object.address:#010x}" if self.object.address else "..."
        length = f", {self.arguments['length']} bytes" if "length" in self.arguments else ""
        return f"{self.function.name}({target}{length})"


class Contexts:
    """Objects by address, and the stack of calls of each thread."""

    def __init__(
        self,
        functions: dict[str, Function],
        read_memory: ReadMemory,
        layout: Callable[[str], Layout | None] = lambda name: None,
    ) -> None:
        self.functions, self.read_memory, self.layout = functions, read_memory, layout
        self.objects: dict[int, Object] = {}
        self.stacks: dict[int, list[Call]] = {}
        self.thread = 0
        self.current: Call | None = None
        self._serial = 0

    # -- snapshot ------------------------------------------------------------------------------
    def save(self) -> dict[str, Any]:
        """What a snapshot keeps."""
        return {name: getattr(self, name) for name in ("objects", "stacks", "thread", "current", "_serial")}

    def load(self, state: dict[str, Any]) -> None:
        """Take back what `save` gave."""
        for name, value in state.items():
            setattr(self, name, value)

    # -- threads -------------------------------------------------------------------------------
    def switch(self, thread: int) -> None:
        """Another thread (or an exception handler, by a number of its own) runs on."""
        self.thread = thread
        stack = self.stacks.get(thread)
        self.current = stack[-1] if stack else None

    def begin(self, thread: int) -> None:
        """A handler starts anew: calls of its last run whose return was not seen (it is the handler's own) are over."""
        for call in self.stacks.pop(thread, ()):
            call.open = False

    # -- calls ---------------------------------------------------------------------------------
    def covers(self, entry: CallEntry) -> bool:
        """A driver's function inside a library's call, or one for the same handle: it is not a call of its own."""
        function = self.functions[entry.function]
        stack = self._stack(entry)
        if not function.driver or not stack:
            return False
        handle, target = function.bind(entry.arguments).get("ctx", 0), stack[-1].object
        if stack[-1].function.driver:
            return handle == target.address
        if handle and target.address:
            self.objects[handle] = target
        return True

    def _stack(self, entry: CallEntry) -> list[Call]:
        """The calls that this one is made from."""
        stack = self.stacks.setdefault(self.thread, [])
        while stack and (stack[-1].entry.sp < entry.sp or len(stack) >= DEEPEST):
            stack.pop().open = False  # left by longjmp, or its return was not seen
        return stack

    def enter(self, entry: CallEntry) -> Call:
        """A known function begins."""
        function = self.functions[entry.function]
        stack = self._stack(entry)
        arguments = function.bind(entry.arguments)
        if function.inside:
            self._look_inside(function, arguments)
            function = function.settled(arguments)
        caller = stack[-1] if stack else None
        target = self._object(function, arguments)
        call = Call(function, entry, arguments, target, caller, self.thread)
        self._learn(call)
        call.message = target.message
        stack.append(call)
        self.current = call
        return call

    def leave(self, address: int, sp: int, result: int = 0) -> list[Call]:
        """The instruction at a return address runs: the calls that have ended, innermost first."""
        stack = self.stacks.get(self.thread)
        ended: list[Call] = []
        while stack and stack[-1].entry.sp <= sp:
            top = stack[-1]
            if top.entry.sp == sp and top.entry.lr & ~1 != address & ~1:
                break
            stack.pop().open = False
            if top.entry.sp == sp:
                ended.append(top)
                if top.function.does == "finish":
                    top.object.whole, top.object.ended = False, "restarts" in top.arguments
                if "held_iv" in top.arguments and top.function.does == "crypt":
                    self._hold_iv(top, result)
                if top.function.does == "free":
                    self.objects.pop(top.object.address, None)
        self.current = stack[-1] if stack else None
        return ended

    def _look_inside(self, function: Function, arguments: dict[str, int]) -> None:
        """Roles that lie in the handle."""
        layout, handle = self.layout(function.handle), arguments.get("ctx", 0)
        for role, path in function.inside.items():
            if handle and layout is not None and path in layout:
                member = layout[path]
                data = self._bytes(handle + member.offset, member.size)
                if data:
                    arguments[role] = int.from_bytes(data, "little")

    # -- objects -------------------------------------------------------------------------------
    def _object(self, function: Function, arguments: dict[str, int]) -> Object:
        address = arguments.get("ctx", 0)
        known = self.objects.get(address)
        self._serial += 1
        if not address:
            return Object(0, function.algorithm, serial=self._serial)
        if known is None or function.does == "init":
            generation = known.generation + 1 if known else len(self.objects) + 1
            known = self.objects[address] = Object(address, function.algorithm, generation, self._serial)
        if function.algorithm:
            known.algorithm = function.algorithm
        return known

    def _hold_iv(self, call: Call, result: int) -> None:
        """What the context holds behind a call."""
        target, length = call.object, call.get("length")
        chained = call.function.mode in ("CBC", "CTR") and bool(call.iv_before) and not result
        target.iv = next_value(call, target.offset, self.read_memory) if chained else None
        target.offset = (target.offset + length) % COUNTER_BLOCK

    def _learn(self, call: Call) -> None:
        """What the object is told by this call."""
        does, target = call.function.does, call.object
        if does in ("setkey", "iv") and "held_iv" in call.arguments:
            size = call.get("held_iv")
            target.iv = self._bytes(call.get("iv"), size) if call.get("iv") else bytes(size)
            target.offset = 0
        if target.ended and does in ("update", "finish"):
            target.message, target.data_bytes, target.whole = target.message + 1, 0, True
        target.ended = target.ended and does not in ("starts", "crypt", "update", "finish", "clone")
        if does == "setkey":
            target.key_bits, target.key_pointer = call.get("key_bits") or 8 * call.get("key_bytes"), call.get("key")
            target.key = self._bytes(target.key_pointer, min(target.key_bits // 8, KEY_BYTES_MOST))
            target.set_by, target.chain, target.key_words = call, None, {}
        elif does in ("starts", "crypt"):
            target.message += 1
            target.data_bytes, target.aad_bytes = call.get("length"), call.get("aad_length")
            target.whole, target.chain = True, None
        elif does in ("update", "finish"):
            target.data_bytes += call.get("length")
        elif does == "clone":
            source = self.objects.get(call.get("src"))
            if source is None:
                target.whole = False
            else:
                target.message += 1
                target.data_bytes, target.whole = source.data_bytes, source.whole
                target.key, target.key_words = source.key, {}
        self._look(call)

    def _look(self, call: Call) -> None:
        """Memory as it was at entry, for the rules about buffers and chaining."""
        sizes = call.function.sizes
        if "iv" in call.arguments:
            size = sizes.get("iv", call.get("iv_length"))
            call.iv_before = self._bytes(call.get("iv"), min(size, 64)) or b""
        elif "held_iv" in call.arguments:
            call.iv_before = call.object.iv or b""
        length = call.get("length")
        if call.function.algorithm == "" or not length:
            return
        if "input" in call.arguments and length <= SNAPSHOT_BYTES_MOST:
            call.input_before = self._bytes(call.get("input"), length) or b""
        if "output" in call.arguments and not call.function.algorithm.startswith(("MD5", "SHA-", "HMAC")):
            call.behind_output = self._bytes(call.get("output") + length, 16) or b""
            if call.function.does == "random":
                call.output_before = self._bytes(call.get("output"), min(length, SNAPSHOT_BYTES_MOST)) or b""

    def _bytes(self, address: int, size: int) -> bytes | None:
        return self.read_memory(address, size) if size > 0 else b""
