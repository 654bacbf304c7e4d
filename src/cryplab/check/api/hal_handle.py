"""Handles of the vendor's HAL: what a caller writes into them, and what it keeps beside them.

A handle is a C struct whose members differ from release to release; the firmware's debug information says where they
lie. Values of `Init` members are those of the registers, the same in both interfaces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cryplab.check.api import Argument, Call, Chain, Context, Deed, Inside, Plan, Put, Store, Wait
from cryplab.check.script import ALIGNED, Place
from cryplab.layout import Layout
from cryplab.machine import Machine

__all__ = [
    "BASES",
    "BUSY",
    "DATATYPE_8B",
    "FORMS",
    "READY",
    "TIMEOUT_MS",
    "Form",
    "State",
    "Structs",
    "deeds",
    "freed",
    "init",
    "state_of",
    "take_block",
    "words",
]  # fmt: skip

BASES = {"CRYP": 0x5006_0000, "HASH": 0x5006_0400, "RNG": 0x5006_0800}
"Of F2, F4 and F7 (RM0033, RM0090, memory map)."
DATATYPE_8B = {"CRYP": 2 << 6, "HASH": 2 << 4}
"CR.DATATYPE: bytes."
READY, BUSY = 1, 2
"States of all three handles: HAL_x_STATE_READY, HAL_x_STATE_BUSY."
TIMEOUT_MS = 500
WAIT_SECONDS, WAIT_SECONDS_PER_BYTE = 0.02, 10e-6
"Virtual time that a transfer in the background may take."
WORD_BYTES = 4


NVIC_ISER, VTOR = 0xE000_E100, 0xE000_ED08
EXCEPTIONS = 16
SHARED_BY = 3
"A vector that so many others equal is a default handler."
CRYP_HASH_RNG = {79: "CRYP", 80: "HASH_RNG"}
DMA_STREAMS = {68: "DMA2_Stream5", 69: "DMA2_Stream6", 70: "DMA2_Stream7"}


@dataclass(frozen=True, slots=True)
class Form:
    """How functions work: `end` of their names; interrupts (number, name) of which one ends the job."""

    end: str = ""
    interrupts: Mapping[int, str] = field(default_factory=dict)

    @property
    def unfinished(self) -> Callable[[Machine], str] | None:
        """See `Plan.unfinished`."""
        return self._why if self.end else None

    def _why(self, machine: Machine) -> str:
        """What the firmware lacks for this form, in a sentence."""
        enabled = {n for n in self.interrupts if int(machine.bus.read(NVIC_ISER + n // 32 * 4, 4)) >> n % 32 & 1}
        if not enabled:
            names = " or ".join(f"{n} ({name})" for n, name in self.interrupts.items())
            return f"interrupt {names} is not enabled: the firmware's MspInit functions do that for this form"
        table = int(machine.bus.read(VTOR, 4))
        vectors = [machine.read_word(table + 4 * (EXCEPTIONS + n)) for n in range(max(self.interrupts) + 1)]
        for number in sorted(enabled):
            if vectors.count(vectors[number]) > SHARED_BY:
                handler = machine.where(vectors[number] & ~1)
                name = f"{self.interrupts[number]}_IRQHandler"
                return f"interrupt {number} leads to {handler}, as others do: the firmware has no {name}"
        return ""


FORMS = {
    "hal": Form(), "hal-it": Form("_IT", CRYP_HASH_RNG), "hal-dma": Form("_DMA", DMA_STREAMS),
}  # fmt: skip


def words(data: bytes) -> bytes:
    """Bytes as the words that the later interface wants for keys and vectors: the first byte on top."""
    return b"".join(data[i : i + WORD_BYTES][::-1] for i in range(0, len(data), WORD_BYTES))


@dataclass(slots=True)
class State:
    """What the caller knows of a handle.

    `ready`: initialised, and the block not de-initialised since. `last`: no other handle has used the block since.
    `running`: the message that a further call would go on with, empty for none. `fed`: bytes of it so far.
    `pending`: bytes of it that the caller still holds. `place`: where its key lies. `iv`, `aad`: of a message that
    the next call begins. `once`: the handle is set to load key and IV for its first call only. `rekeyed`: it was
    given another key since its last call.
    """

    block: str
    ready: bool = False
    last: bool = False
    running: str = ""
    fed: int = 0
    pending: bytes = b""
    place: Place = ALIGNED
    iv: bytes = b""
    aad: bytes = b""
    aad_place: Place = ALIGNED
    once: bool = False
    rekeyed: bool = False


def state_of(chain: Chain, block: str) -> State:
    """Of a context; made with its first use."""
    if not isinstance(chain.own, State):
        chain.own = State(block)
    return chain.own


def take_block(block: str, chains: Mapping[int, Chain], own: State | None) -> None:
    """A handle uses the block: messages of all others are lost."""
    for chain in chains.values():
        other = chain.own
        if isinstance(other, State) and other.block == block and other is not own:
            other.running, other.last = "", False
    if own is not None:
        own.last = True


def freed(block: str, context: int, state: State, chains: Mapping[int, Chain]) -> Plan:
    """HAL_x_DeInit of a handle: the block is de-initialised for everybody."""
    if not state.ready:
        return Plan()
    for chain in chains.values():
        if isinstance(chain.own, State) and chain.own.block == block:
            chain.own.ready, chain.own.running = False, ""
    return Plan((Call(f"HAL_{block}_DeInit", (Context(context),)),))


@dataclass(frozen=True, slots=True)
class Structs:
    """Structs of the HAL as the firmware has them, by C name."""

    layouts: Mapping[str, Layout] = field(default_factory=dict)

    def has(self, type_: str, member: str) -> bool:
        """The struct has such a member."""
        return type_ in self.layouts and member in self.layouts[type_]

    def size(self, type_: str) -> int:
        """Bytes of a struct; 0 when it is not described."""
        return self.layouts[type_].size if type_ in self.layouts else 0

    def store(self, into: Context | str, type_: str, members: Mapping[str, Argument]) -> Store:
        """Members set; those that this release's struct has not are left out."""
        layout = self.layouts[type_]
        puts = [
            Put(path, layout[path].offset, layout[path].size, value)
            for path, value in members.items()
            if path in layout
        ]
        return Store(into, type_, tuple(puts))

    def wait(self, handle: Context | str, type_: str, data_bytes: int) -> Wait:
        """Until the handle's state is no longer busy."""
        layout = self.layouts[type_]
        seconds = WAIT_SECONDS + WAIT_SECONDS_PER_BYTE * data_bytes
        error = _at(handle, layout["ErrorCode"].offset) if "ErrorCode" in layout else None
        return Wait(_at(handle, layout["State"].offset), BUSY, READY, seconds, error)


def _at(handle: Context | str, offset: int) -> Context | Inside:
    return Context(handle.number, offset) if isinstance(handle, Context) else Inside(handle, offset)


def init(function: str, handle: Context | str) -> Call:
    """HAL_x_Init."""
    return Call(function, (handle,))


def deeds(*parts: Deed | tuple[Deed, ...]) -> tuple[Deed, ...]:
    """One flat sequence."""
    flat: list[Deed] = []
    for part in parts:
        flat += part if isinstance(part, tuple) else (part,)
    return tuple(flat)
