"""Call stacks: from registers at a fault or a report back to the reset handler.

The compiler's call frame table (.debug_frame, .eh_frame) is followed where there is one. Where there
is none (assembly, a ROM, a corrupt stack), the stack is searched for words that look like return
addresses: odd, into the image's code, just behind a call; such frames are marked `sure=False`.
An exception's frame (EXC_RETURN in LR) is stepped over, the FPU part included. A stack ends at the
first function of a thread: the kernel has it return to the beginning of another, which no call precedes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cryplab.debuginfo import SourceLine
from cryplab.loader import Image

__all__ = ["Frame", "call_stack", "show_stack"]

SP, LR, PC = 13, 14, 15
WORD_BYTES = 4
FRAME_WORDS_BASIC, FRAME_WORDS_FPU = 8, 26
FRAME_LR, FRAME_PC, FRAME_XPSR = 5, 6, 7
XPSR_ALIGNED = 1 << 9
EXC_RETURN_FIRST, EXC_RETURN_PSP, EXC_RETURN_BASIC = 0xFFFF_FFE0, 1 << 2, 1 << 4
SEARCHED_WORDS = 256
FRAMES_MOST = 64

ReadWord = Callable[[int], int | None]


@dataclass(frozen=True, slots=True)
class Frame:
    """One function on the stack. `address` is the instruction in progress, or the call in callers."""

    address: int
    function: str
    line: SourceLine | None = None
    sure: bool = True
    exception: bool = False

    def __str__(self) -> str:
        place = f" at {self.line}" if self.line else ""
        return f"{self.address:#010x} {self.function}{place}{'' if self.sure else ' (guessed)'}"


def call_stack(image: Image, registers: Mapping[str, int], read_word: ReadWord) -> list[Frame]:
    """The functions in progress, innermost first.

    Args:
        image: the firmware, for symbols, lines and call frame tables.
        registers: `r0` to `r12`, `sp`, `lr`, `pc`; `psp` or `msp` when an exception is to be stepped over.
        read_word: the guest's word at an address, None where it cannot be read.
    """
    state = [registers.get(f"r{n}", 0) for n in range(13)] + [registers.get(n, 0) for n in ("sp", "lr", "pc")]
    frames: list[Frame] = []
    for address, sure, exception in _walk(image, state, dict(registers), read_word):
        frames.append(Frame(address, image.symbols.describe(address), image.debug.line(address), sure, exception))
        if len(frames) == FRAMES_MOST:
            break
    return frames


def show_stack(frames: list[Frame]) -> str:
    """One line each, numbered as debuggers do."""
    lines = []
    for number, frame in enumerate(frames):
        lines.append(f"#{number:<2} {frame}")
        if frame.exception:
            lines.append("    <exception>")
    return "\n".join(lines)


def _walk(
    image: Image, state: list[int], registers: dict[str, int], read_word: ReadWord
) -> Iterator[tuple[int, bool, bool]]:
    """Address, certainty and whether an exception interrupted the caller, for each frame."""
    address, sure, innermost = state[PC] & ~1, True, True
    while True:
        caller = _caller(image, state, address, read_word, innermost)
        guessed = False
        if caller is None:
            caller = _search(image, state, read_word, innermost)
            guessed = True
        exception = caller is not None and caller[PC] >= EXC_RETURN_FIRST
        yield address, sure, exception
        if caller is None or (not exception and _ends_thread(image, caller[PC])):
            return
        if exception:
            caller = _interrupted(caller, registers, read_word)
            if caller is None:
                return
            address, innermost = caller[PC] & ~1, True
        else:
            # the call lies before the return address; the table's row is that of the call
            address, innermost = (caller[PC] & ~1) - 2, False
        if image.read(address, 2) is None or (caller[SP] <= state[SP] and caller[PC] == state[PC]):
            return
        state, sure = caller, not guessed


def _caller(image: Image, state: list[int], address: int, read_word: ReadWord, innermost: bool) -> list[int] | None:
    """Registers in the caller by the call frame table; None without a table or a readable stack."""
    rules = image.debug.frame_rules(address)
    if rules is None:
        return None
    cfa_rule = rules["cfa"]
    if cfa_rule.reg is None or cfa_rule.reg > PC:
        return None
    cfa = state[cfa_rule.reg] + cfa_rule.offset
    caller = list(state)
    for register in range(PC):
        rule: Any = rules.get(register)
        if rule is None:
            continue
        if rule.type == "OFFSET":
            word = read_word(cfa + rule.arg)
            if word is None:
                return None
            caller[register] = word
        elif rule.type == "REGISTER":
            caller[register] = state[rule.arg]
        elif rule.type == "UNDEFINED" and register == LR:
            return None  # the outermost function says so
    if not innermost and rules.get(LR) is None:
        return None  # only the innermost function may still have its return address in LR
    caller[SP], caller[PC] = cfa, caller[LR]
    returns = caller[PC] >= EXC_RETURN_FIRST or image.read(caller[PC] & ~1, 2) is not None
    return caller if returns and caller[PC] & 1 else None


def _search(image: Image, state: list[int], read_word: ReadWord, innermost: bool) -> list[int] | None:
    """The nearest word that looks like a return address: LR first, then up the stack."""
    caller = list(state)
    if innermost and _after_call(image, state[LR]):
        caller[PC] = state[LR]
        return caller
    for place in range(state[SP] & ~3, (state[SP] & ~3) + SEARCHED_WORDS * WORD_BYTES, WORD_BYTES):
        word = read_word(place)
        if word is None:
            return None
        if _after_call(image, word) or (word >= EXC_RETURN_FIRST and word & 3 == 1):
            caller[SP], caller[PC], caller[LR] = place + WORD_BYTES, word, word
            return caller
    return None


def _after_call(image: Image, address: int) -> bool:
    """Thumb code, and the instruction before it is BL (32 bits) or BLX register (16 bits)."""
    if not address & 1:
        return False
    code = image.read((address & ~1) - 4, 4)
    if code is None:
        return False
    first, second = int.from_bytes(code[:2], "little"), int.from_bytes(code[2:], "little")
    long_call = first & 0xF800 == 0xF000 and second & 0xD000 == 0xD000
    return long_call or second & 0xFF87 == 0x4780


def _ends_thread(image: Image, address: int) -> bool:
    """A return address that a kernel made: the beginning of a function, behind something that is no call."""
    symbol = image.symbols.at(address & ~1)
    return symbol is not None and symbol.entry | 1 == address | 1 and not _after_call(image, address)


def _interrupted(handler: list[int], registers: dict[str, int], read_word: ReadWord) -> list[int] | None:
    """Registers of the code that an exception interrupted, from the frame that the core stacked."""
    exc_return = handler[PC]
    on_psp = bool(exc_return & EXC_RETURN_PSP)
    frame = registers.get("psp", 0) if on_psp else handler[SP]
    words = [read_word(frame + WORD_BYTES * n) for n in range(FRAME_WORDS_BASIC)]
    known = [w for w in words if w is not None]
    if len(known) < FRAME_WORDS_BASIC:
        return None
    size = FRAME_WORDS_BASIC if exc_return & EXC_RETURN_BASIC else FRAME_WORDS_FPU
    before = list(handler)
    before[0:4], before[12] = known[0:4], known[4]
    before[LR], before[PC] = known[FRAME_LR], known[FRAME_PC] | 1
    before[SP] = frame + WORD_BYTES * (size + bool(known[FRAME_XPSR] & XPSR_ALIGNED))
    return before
