"""One register of the declaration language: its fields, what an access word does, hooks, and decoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar, overload

from cryplab.errors import DeclarationError

__all__ = ["Field", "Place", "Reg", "RegArray", "r", "rc_w0", "rc_w1", "rs", "rw", "w"]

AccessWord = Literal["r", "w", "rw", "rc_w0", "rc_w1", "rs"]
WORD = 0xFFFF_FFFF


class Field:
    """A bit or a run of bits of one register; reads and writes as an int on a register's state."""

    __slots__ = ("access", "hi", "lo", "mask", "modelled", "name", "text", "values")

    def __init__(
        self,
        access: AccessWord,
        hi: int,
        lo: int,
        text: str,
        values: dict[int, str] | None,
        modelled: bool,
    ) -> None:
        if not 31 >= hi >= lo >= 0:
            raise DeclarationError(f"field [{hi}:{lo}]: bits must run from 31 down to 0")
        self.access, self.hi, self.lo = access, hi, lo
        self.text, self.values, self.modelled = text, values or {}, modelled
        self.mask = (1 << (hi - lo + 1)) - 1
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def bits(self) -> int:
        """The field's mask in its register."""
        return self.mask << self.lo

    @property
    def span(self) -> str:
        """`[hi:lo]`, or `[bit]`."""
        return f"[{self.hi}]" if self.hi == self.lo else f"[{self.hi}:{self.lo}]"

    def of(self, word: int) -> int:
        """The field's value in a register word."""
        return (word >> self.lo) & self.mask

    @overload
    def __get__(self, reg: None, owner: type) -> Field: ...
    @overload
    def __get__(self, reg: Reg, owner: type) -> int: ...
    def __get__(self, reg: Reg | None, owner: type) -> Field | int:
        if reg is None:
            return self
        return (reg.value >> self.lo) & self.mask

    def __set__(self, reg: Reg, value: int) -> None:
        if value & ~self.mask:
            raise ValueError(f"{type(reg).__name__}.{self.name}: {value:#x} does not fit {self.span}")
        reg.value = reg.value & ~(self.mask << self.lo) | (value << self.lo)


def _word(access: AccessWord) -> Callable[..., Field]:
    def declare(
        hi: int,
        *rest: int | str,
        values: dict[int, str] | None = None,
        modelled: bool = True,
    ) -> Field:
        lo, text = (rest[0], rest[1]) if len(rest) == 2 else (hi, rest[0])
        if not isinstance(lo, int) or not isinstance(text, str):
            raise DeclarationError(f"{access}({hi}, {rest}): expected (bit, text) or (hi, lo, text)")
        return Field(access, hi, lo, text, values, modelled)

    declare.__name__ = access
    declare.__doc__ = f"Declare a field with access `{access}`: ({access})(hi, lo, text) or (bit, text)."
    return declare


r = _word("r")
w = _word("w")
rw = _word("rw")
rc_w0 = _word("rc_w0")
rc_w1 = _word("rc_w1")
rs = _word("rs")

_Hook = TypeVar("_Hook", bound=Callable[..., Any])


class Reg:
    """One register (or an array of equal ones): subclass it inside a `Block`.

    Class arguments: `at` byte offset; `reset` reset value; `array` number of copies; `step` bytes
    between copies; `names` one name per copy (else NAME0, NAME1, ...); `without` inherited fields that this
    version has not: their bits are reserved, their names still read as 0; `privileged` only documents.
    """

    offset: ClassVar[int]
    reset_value: ClassVar[int]
    count: ClassVar[int]
    step: ClassVar[int]
    is_array: ClassVar[bool]
    names: ClassVar[tuple[str, ...]]
    fields: ClassVar[tuple[Field, ...]]
    # masks of the access rules
    readable: ClassVar[int]
    plain: ClassVar[int]
    clear0: ClassVar[int]
    clear1: ClassVar[int]
    set1: ClassVar[int]
    action: ClassVar[int]
    unmodelled: ClassVar[int]
    gone: ClassVar[frozenset[str]] = frozenset()

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: int = self.reset_value

    def __init_subclass__(
        cls,
        at: int | None = None,
        reset: int | None = None,
        array: int = 0,
        step: int = 4,
        names: tuple[str, ...] | None = None,
        without: tuple[str, ...] = (),
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        cls.gone = cls.gone | frozenset(without)
        if at is not None:
            cls.offset, cls.step = at, step
            cls.is_array, cls.count = bool(array), array or 1
            if names is None:
                names = tuple(f"{cls.__name__}{i}" for i in range(array)) if array else (cls.__name__,)
            if len(names) != cls.count:
                raise DeclarationError(f"{cls.__name__}: {len(names)} names for {cls.count} registers")
            cls.names = names
        elif not hasattr(cls, "offset"):
            raise DeclarationError(f"{cls.__name__}: a register needs its offset, at=0x..")
        if reset is not None or not hasattr(cls, "reset_value"):
            cls.reset_value = reset or 0
        found: dict[str, Field] = {}
        for klass in reversed(cls.__mro__):
            for name, thing in vars(klass).items():
                if isinstance(thing, Field):
                    found[name] = thing
        for name in without:
            if name not in found:
                raise DeclarationError(f"{cls.__name__}: there is no field {name} to leave out")
        found = {name: f for name, f in found.items() if name not in cls.gone or name in vars(cls)}
        cls.fields = tuple(sorted(found.values(), key=lambda f: -f.hi))
        for above, below in zip(cls.fields, cls.fields[1:], strict=False):
            if below.hi >= above.lo:
                raise DeclarationError(f"{cls.__name__}: {above.name} {above.span} overlaps {below.name} {below.span}")

        def bits(*words: AccessWord) -> int:
            return sum(f.bits for f in cls.fields if f.access in words)

        cls.readable = WORD & ~bits("w")
        cls.plain, cls.clear0, cls.clear1 = bits("rw"), bits("rc_w0"), bits("rc_w1")
        cls.set1, cls.action = bits("rs"), bits("w")
        cls.unmodelled = sum(f.bits for f in cls.fields if not f.modelled)

    # -- hooks ---------------------------------------------------------------------------------
    @classmethod
    def _hook(cls, kind: str, function: _Hook) -> _Hook:
        marks = getattr(function, "_cryplab_hooks", ())
        function._cryplab_hooks = (*marks, (cls.__name__, kind))  # type: ignore[attr-defined]
        return function

    @classmethod
    def being_read(cls, function: _Hook) -> _Hook:
        """Mark the method that gives the word read; None means the stored one."""
        return cls._hook("being_read", function)

    @classmethod
    def being_written(cls, function: _Hook) -> _Hook:
        """Mark the method that filters a word before the access rules; None ignores the write."""
        return cls._hook("being_written", function)

    @classmethod
    def written(cls, function: _Hook) -> _Hook:
        """Mark the method called after a write took effect."""
        return cls._hook("written", function)

    # -- the access rules ----------------------------------------------------------------------
    def apply(self, value: int) -> None:
        """Let a word written by software take effect, as the fields' access words say."""
        old = self.value
        new = old & ~self.plain | value & self.plain
        if self.clear0:
            new &= value | ~self.clear0
        if self.clear1:
            new &= ~(value & self.clear1)
        if self.set1 or self.action:
            new |= value & (self.set1 | self.action)
        self.value = new

    def neutral(self, value: int, lanes: int) -> int:
        """A whole word for a narrow write: other lanes get what changes nothing there."""
        rest = self.value & self.plain | self.clear0
        return value & lanes | rest & ~lanes

    @classmethod
    def decode(cls, word: int) -> dict[str, int]:
        """Every field that is not 0, from bit 31 down; undeclared bits as `reserved`."""
        known = {f.name: f.of(word) for f in cls.fields if f.of(word)}
        rest = word & ~sum(f.bits for f in cls.fields) & WORD
        if rest & ~cls.reset_value:
            known["reserved"] = rest
        return known

    @classmethod
    def show(cls, word: int) -> str:
        """The word as a trace prints it: `RNGEN DATATYPE=2`."""
        parts = []
        for f in cls.fields:
            value = f.of(word)
            if value:
                named = f.values.get(value)
                single = f.hi == f.lo
                parts.append(f.name if single else f"{f.name}={named or format(value, '#x')}")
        rest = cls.decode(word).get("reserved")
        if rest:
            parts.append(f"reserved={rest:#x}")
        return " ".join(parts)


_R = TypeVar("_R", bound=Reg)


class RegArray(list[_R], Generic[_R]):
    """The copies of a register array, by index."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a register of a block lies: its class and, for arrays, the index."""

    reg: type[Reg]
    index: int
    offset: int

    @property
    def name(self) -> str:
        """The register's name, the copy's own for an array."""
        return self.reg.names[self.index]
