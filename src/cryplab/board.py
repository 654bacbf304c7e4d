"""A board as data: a chip, its crystals, its console, what is wired to it.

`find` gives a named board or loads a user's TOML file; `bare` makes a board of a chip alone. A board
file needs a chip, the rest has defaults:

    name    = "my-board"
    title   = "Our gateway, revision C"
    chip    = "STM32F437VGT6"
    hse     = "25MHz"          # crystal or clock input, 0 when there is none
    bypass  = false            # the HSE is a clock fed in, not a crystal
    lse     = "32768Hz"        # 0 when there is none
    console = "USART3"
    phy     = "LAN8742A"       # Ethernet PHY, empty when there is none
    phy_address = 0
    phy_interface = "RMII"     # how it is wired, RMII or MII; empty: not checked
    sram_base = 0x6400_0000    # external SRAM at bank 1 of FSMC or FMC, and its size
    sram_kib = 2048            # 0 when there is none
    note    = "what one should know"
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryplab import chips
from cryplab.blocks.external_bank import SELECT_BYTES, ExternalBank
from cryplab.chip import Chip, KiB
from cryplab.errors import BoardError, nearest

__all__ = ["Board", "bare", "find", "load", "names", "parse_hz"]

LSE_HZ = 32_768
HSE_RANGE_HZ = (1_000_000, 50_000_000)
UNITS = {"hz": 1, "khz": 1_000, "mhz": 1_000_000}


@dataclass(frozen=True)
class Board:
    """A board. Frequencies are hertz; `console` names a USART of the chip; 0 or empty means there is none.

    Raises: BoardError when the console is no modelled USART of the chip or the HSE is out of range.
    """

    name: str
    title: str
    chip: Chip
    hse_hz: int = 0
    lse_hz: int = 0
    console: str = ""
    hse_bypass: bool = False
    phy: str = ""
    phy_address: int = 0
    phy_interface: str = ""
    sram_base: int = 0
    sram_kib: int = 0
    note: str = ""

    def __post_init__(self) -> None:
        low, high = HSE_RANGE_HZ
        if self.hse_hz and not low <= self.hse_hz <= high:
            raise BoardError(
                f"{self.name}: hse is {self.hse_hz} Hz, expected 0 or {low // 10**6} to {high // 10**6} MHz"
            )
        if self.phy_interface not in ("", "RMII", "MII"):
            raise BoardError(f"{self.name}: phy_interface is '{self.phy_interface}', expected RMII or MII")
        if self.lse_hz < 0:
            raise BoardError(f"{self.name}: lse is {self.lse_hz} Hz, expected 0 or more")
        self._check_sram()
        serials = _serials(self.chip)
        if self.console and self.console not in serials:
            raise BoardError(
                f"{self.name}: console '{self.console}' is no serial port of {self.chip.name}"
                f"{nearest(self.console, serials) or '.'} It has {', '.join(serials) or 'none'}"
            )

    def _check_sram(self) -> None:
        if not self.sram_kib:
            return
        bank = next((p for p in self.chip.modelled if p.block is ExternalBank), None)
        if bank is None:
            raise BoardError(f"{self.name}: sram_kib is {self.sram_kib}, but {self.chip.name} has no FSMC or FMC")
        first, size = self.sram_base, self.sram_kib * KiB
        if not bank.base <= first < bank.end or not 0 < size <= SELECT_BYTES - first % SELECT_BYTES:
            raise BoardError(
                f"{self.name}: SRAM of {self.sram_kib} KiB at {first:#010x}: expected it within one of the four "
                f"64 MiB at {bank.base:#010x}..{bank.end - 1:#010x}"
            )


def _serials(chip: Chip) -> list[str]:
    return sorted((p.name for p in chip.modelled if "ART" in p.name), key=lambda name: name[-1])


def names() -> list[str]:
    """Names of the boards that come with cryplab."""
    from cryplab.boards import BOARDS

    return sorted(BOARDS)


def find(name_or_path: str | Path) -> Board:
    """A named board, in any case of letters, or the board of a TOML file.

    Raises: BoardError naming the nearest board, or what is wrong in the file.
    """
    from cryplab.boards import BOARDS

    text = str(name_or_path)
    known = BOARDS.get(text.lower())
    if known is not None:
        return known
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.is_file() or "/" in text:
        return load(path)
    raise BoardError(f"there is no board '{text}'{nearest(text, BOARDS) or '.'} Boards: {', '.join(sorted(BOARDS))}")


def bare(chip: str | Chip, hse: str | int = 0, console: str = "", lse: str | int = LSE_HZ) -> Board:
    """A board that is a chip alone; `hse` as `"8MHz"` or hertz; console default the chip's first serial port.

    Raises: BoardError for an unknown chip or console, or a frequency that is none.
    """
    found = chips.find(chip) if isinstance(chip, str) else chip
    ports = _serials(found)
    return Board(
        name=found.name,
        title=f"{found.name.upper()} alone",
        chip=found,
        hse_hz=parse_hz(hse, "hse"),
        lse_hz=parse_hz(lse, "lse"),
        console=console.upper() or (ports[0] if ports else ""),
    )


def parse_hz(value: str | int, what: str = "frequency") -> int:
    """Hertz of `"8MHz"`, `"32.768 kHz"`, `"25 MHz"` or a plain number. Raises: BoardError."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BoardError(f'{what}: {value!r} is no frequency; expected a text such as "8MHz" or a number of hertz')
    if isinstance(value, int):
        hz = float(value)
    else:
        text = value.strip().lower().replace("_", "")
        number = text.rstrip("hzkm ")
        unit = text[len(number) :].strip() or "hz"
        try:
            hz = float(number) * UNITS[unit]
        except (ValueError, KeyError):
            raise BoardError(f"{what}: '{value}' is no frequency; expected one such as 8MHz, 32.768kHz or 0") from None
    if not 0 <= hz < float("inf"):
        raise BoardError(f"{what}: '{value}' is no frequency; expected 0 or more")
    return round(hz)


# -- board files -------------------------------------------------------------------------------
KEYS: dict[str, type | tuple[type, ...]] = {
    "name": str, "title": str, "chip": str, "hse": (str, int), "bypass": bool, "lse": (str, int),
    "console": str, "phy": str, "phy_address": int, "phy_interface": str, "note": str,
    "sram_base": int, "sram_kib": int,
}  # fmt: skip


def load(path: Path) -> Board:
    """The board that a TOML file describes. Raises: BoardError, one sentence that begins with the path."""
    data = _read(path)
    for key, value in data.items():
        if key not in KEYS:
            raise BoardError(f"{path}: unknown key '{key}'{nearest(key, KEYS) or '.'} Keys: {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]) or (isinstance(value, bool) and KEYS[key] is not bool):
            raise BoardError(f"{path}: {key} is {value!r}, expected {_expected(key)}")
    if "chip" not in data:
        raise BoardError(f"{path}: the key 'chip' is missing; expected a line such as chip = \"STM32F437VG\"")
    try:
        chip = chips.find(data["chip"])
        alone = bare(chip, data.get("hse", 0), data.get("console", ""), data.get("lse", LSE_HZ))
        return Board(
            name=data.get("name", path.stem),
            title=data.get("title", data.get("name", path.stem)),
            chip=chip,
            hse_hz=alone.hse_hz,
            lse_hz=alone.lse_hz,
            console=alone.console,
            hse_bypass=data.get("bypass", False),
            phy=data.get("phy", ""),
            phy_address=data.get("phy_address", 0),
            phy_interface=data.get("phy_interface", ""),
            sram_base=data.get("sram_base", 0),
            sram_kib=data.get("sram_kib", 0),
            note=data.get("note", ""),
        )
    except BoardError as error:
        raise BoardError(f"{path}: {error}") from None


def _expected(key: str) -> str:
    if key in ("hse", "lse"):
        return 'a frequency such as "8MHz"'
    return {str: "a text in quotes", int: "a number", bool: "true or false"}[KEYS[key]]  # type: ignore[index]


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BoardError(f"{path}: there is no such board file; boards by name: {', '.join(names())}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BoardError(f"{path}: the board file cannot be read: {reason}") from None
    except tomllib.TOMLDecodeError as error:
        raise BoardError(f"{path}: this is no TOML: {error}") from None
