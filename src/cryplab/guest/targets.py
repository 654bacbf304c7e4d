"""What the reference firmware must know of a board: memories, clock settings, console pins.

Written by hand from the data sheets and the boards' published clock set-up, apart from `chips/` and
`boards/`: the guest is an independent witness of those tables. A board that is not listed here can
still be built for when an object with `name`, `chip`, `hse_hz` and `console` is given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cryplab.errors import BoardError, nearest

KIB = 1024
NEWEST_ENGINES = 2
VOLTAGE_SCALE = {  # bits of PWR_CR, where it is not both
    **dict.fromkeys(("stm32f20", "stm32f21"), "0u"), **dict.fromkeys(("stm32f40", "stm32f41"), "(1u << 14)"),
}  # fmt: skip
VCO_INPUT_HZ = 1_000_000  # PLLM brings the crystal down to 1 MHz; N, P, Q below count from there


@dataclass(frozen=True)
class GuestChip:
    """Memories in bytes; `engines` is the version of CRYP and HASH, 0 for none."""

    name: str
    flash: int
    ram: int
    engines: int = 2
    core: str = "cortex-m4"

    @property
    def crypto(self) -> bool:
        """Whether CRYP and HASH are there."""
        return self.engines > 0


@dataclass(frozen=True)
class Console:
    """A USART with its transmit and receive pins (port letter, pin number) and alternate function."""

    usart: str
    bus: int
    enable_bit: int
    port: str
    tx: int
    rx: int
    function: int


@dataclass(frozen=True)
class Ethernet:
    """How the MAC is wired: RMII or MII, pins (`A1` is PA1), the PHY's address on MDIO."""

    rmii: bool
    pins: tuple[str, ...]
    phy_address: int = 0


@dataclass(frozen=True)
class Target:
    """A board as the linker script and the start-up code see it; frequencies in Hz."""

    board: str
    chip: GuestChip
    hse_hz: int
    hse_bypass: bool
    console: Console
    pll_n: int = 336
    pll_p: int = 2
    pll_q: int = 7
    wait_states: int = 5
    ethernet: Ethernet | None = None

    @property
    def core_hz(self) -> int:
        """HCLK; APB1 is a quarter, APB2 a half of it."""
        return VCO_INPUT_HZ * self.pll_n // self.pll_p

    def header(self) -> str:
        """The text of `board.h`."""
        c = self.console
        lines = [
            ("BOARD_NAME", f'"{self.board}"'),
            ("BOARD_HSE_HZ", f"{self.hse_hz}u"),
            ("BOARD_HSE_BYPASS", str(int(self.hse_bypass))),
            ("BOARD_PLL_M", str(self.hse_hz // VCO_INPUT_HZ)),
            ("BOARD_PLL_N", str(self.pll_n)),
            ("BOARD_PLL_P", str(self.pll_p)),
            ("BOARD_PLL_Q", str(self.pll_q)),
            ("BOARD_VOLTAGE_SCALE", VOLTAGE_SCALE.get(self.chip.name[:8], "PWR_CR_VOS")),
            ("BOARD_WAIT_STATES", str(self.wait_states)),
            ("BOARD_CORE_HZ", f"{self.core_hz}u"),
            ("BOARD_CONSOLE", c.usart),
            ("BOARD_CONSOLE_APB", str(c.bus)),
            ("BOARD_CONSOLE_ENABLE", f"(1u << {c.enable_bit})"),
            ("BOARD_CONSOLE_PORT", f"GPIO{c.port}"),
            ("BOARD_CONSOLE_PORT_ENABLE", f"(1u << {ord(c.port) - ord('A')})"),
            ("BOARD_CONSOLE_TX", str(c.tx)),
            ("BOARD_CONSOLE_RX", str(c.rx)),
            ("BOARD_CONSOLE_AF", str(c.function)),
        ]
        if self.ethernet:
            pins = ", ".join(f"{{'{pin[0]}', {pin[1:]}}}" for pin in self.ethernet.pins)
            lines += [
                ("BOARD_ETHERNET_RMII", str(int(self.ethernet.rmii))),
                ("BOARD_ETHERNET_PINS", pins),
                ("BOARD_PHY_ADDRESS", f"{self.ethernet.phy_address}u"),
            ]
        return "/* generated for one board by cryplab.guest.targets */\n" + "".join(
            f"#define {name} {value}\n" for name, value in lines
        )


# source: data sheets; SRAM1 to SRAM3 are contiguous, CCM is not used
CHIPS = {
    chip.name: chip
    for chip in (
        GuestChip("stm32f217ig", 1024 * KIB, 128 * KIB, engines=1, core="cortex-m3"),
        GuestChip("stm32f215rg", 1024 * KIB, 128 * KIB, engines=1, core="cortex-m3"),
        GuestChip("stm32f207ig", 1024 * KIB, 128 * KIB, engines=0, core="cortex-m3"),
        GuestChip("stm32f417ig", 1024 * KIB, 128 * KIB, engines=1),
        GuestChip("stm32f415rg", 1024 * KIB, 128 * KIB, engines=1),
        GuestChip("stm32f407ig", 1024 * KIB, 128 * KIB, engines=0),
        GuestChip("stm32f405rg", 1024 * KIB, 128 * KIB, engines=0),
        GuestChip("stm32f437vg", 1024 * KIB, 192 * KIB),
        GuestChip("stm32f437ii", 2048 * KIB, 192 * KIB),
        GuestChip("stm32f439zi", 2048 * KIB, 192 * KIB),
        GuestChip("stm32f427vg", 1024 * KIB, 192 * KIB, engines=0),
        GuestChip("stm32f429zi", 2048 * KIB, 192 * KIB, engines=0),
    )
}

# APB number and bit of the RCC enable register, pins of the boards below
CONSOLES = {
    "USART1": Console("USART1", 2, 4, "A", 9, 10, 7),
    "USART2": Console("USART2", 1, 17, "A", 2, 3, 7),
    "USART3": Console("USART3", 1, 18, "D", 8, 9, 7),
    "USART6": Console("USART6", 2, 5, "C", 6, 7, 8),
}

USART3_PORT_C = Console("USART3", 1, 18, "C", 10, 11, 7)

NUCLEO_ETHERNET = Ethernet(True, ("A1", "A2", "A7", "B13", "C1", "C4", "C5", "G11", "G13"))
"RMII of the 144-pin Nucleo boards (UM1974)."
EVAL_ETHERNET = Ethernet(
    False,
    ("A0", "A1", "A2", "A7", "B8", "C1", "C2", "C3", "C4", "C5", "G11", "G13", "G14", "H3", "H6", "H7", "I10"),
    phy_address=1,
)
"MII of the evaluation boards of F2 and F4 (UM1057)."

F2_CLOCK = {"pll_n": 240, "pll_q": 5, "wait_states": 3}
"120 MHz and 48 MHz, the most of an F2 at 2.7 V and more."

BOARDS = {
    target.board: target
    for target in (
        Target("ublox-c030-u201", CHIPS["stm32f437vg"], 12_000_000, False, CONSOLES["USART1"]),
        Target("nucleo-f439zi", CHIPS["stm32f439zi"], 8_000_000, True, CONSOLES["USART3"], ethernet=NUCLEO_ETHERNET),
        Target("nucleo-f429zi", CHIPS["stm32f429zi"], 8_000_000, True, CONSOLES["USART3"], ethernet=NUCLEO_ETHERNET),
        Target(
            "stm32f437i-eval",
            CHIPS["stm32f437ii"],
            25_000_000,
            False,
            CONSOLES["USART1"],
            pll_n=320,
            ethernet=EVAL_ETHERNET,
        ),
        Target(
            "stm3221g-eval", CHIPS["stm32f217ig"], 25_000_000, False, USART3_PORT_C, **F2_CLOCK, ethernet=EVAL_ETHERNET
        ),
    )
}


def target_of(board: Any) -> Target:
    """The target of a board's name, or of an object with `name`, `chip`, `hse_hz` and `console`.

    Raises: BoardError when the guest programs cannot be built for it.
    """
    if isinstance(board, Target):
        return board
    name = board if isinstance(board, str) else str(board.name)
    if name in BOARDS and (isinstance(board, str) or not getattr(board, "hse_hz", 0)):
        return BOARDS[name]
    if isinstance(board, str):
        raise BoardError(
            f"no reference firmware for board '{board}'{nearest(board, BOARDS) or '.'} There is {', '.join(BOARDS)}"
        )
    return _from_board(board, name)


def _from_board(board: Any, name: str) -> Target:
    chip_name = str(getattr(board.chip, "name", board.chip)).lower()
    if chip_name not in CHIPS:
        raise BoardError(f"{name}: no reference firmware for chip {chip_name}; there is for {', '.join(CHIPS)}")
    console = str(board.console).upper()
    if console not in CONSOLES:
        raise BoardError(f"{name}: the reference firmware has no console on {console}; it knows {', '.join(CONSOLES)}")
    hse_hz = int(board.hse_hz)
    if hse_hz % VCO_INPUT_HZ or not 2_000_000 <= hse_hz <= 50_000_000:
        raise BoardError(
            f"{name}: the reference firmware needs a crystal of whole megahertz, 2 to 50 MHz, not {hse_hz} Hz"
        )
    known = BOARDS.get(name)
    bypass = known.hse_bypass if known else False
    like = known or BOARDS["stm3221g-eval" if CHIPS[chip_name].core == "cortex-m3" else "ublox-c030-u201"]
    pins = known.console if known and known.console.usart == console else CONSOLES[console]
    return replace(like, board=name, chip=CHIPS[chip_name], hse_hz=hse_hz, hse_bypass=bypass, console=pins)
