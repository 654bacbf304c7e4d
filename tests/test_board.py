"""Boards by name, from a file, and bare chips."""

from __future__ import annotations

from pathlib import Path

import pytest

from cryplab import board
from cryplab.errors import BoardError


def test_the_boards() -> None:
    assert board.names() == ["nucleo-f429zi", "nucleo-f439zi", "stm3221g-eval", "stm32f437i-eval", "ublox-c030-u201"]
    c030 = board.find("ublox-c030-u201")
    assert (c030.chip.name, c030.hse_hz, c030.console, c030.hse_bypass) == (
        "stm32f437vg", 12_000_000, "USART1", False,
    )  # fmt: skip
    nucleo = board.find("NUCLEO-F439ZI")
    assert (nucleo.chip.name, nucleo.hse_hz, nucleo.console, nucleo.hse_bypass, nucleo.phy) == (
        "stm32f439zi", 8_000_000, "USART3", True, "LAN8742A",
    )  # fmt: skip
    assert not board.find("nucleo-f429zi").chip.has("CRYP")


def test_unknown_board_names_the_nearest() -> None:
    with pytest.raises(BoardError) as raised:
        board.find("nucleo-f493zi")
    assert str(raised.value) == (
        "there is no board 'nucleo-f493zi'; did you mean 'nucleo-f439zi'? "
        "Boards: nucleo-f429zi, nucleo-f439zi, stm3221g-eval, stm32f437i-eval, ublox-c030-u201"
    )


def test_a_bare_chip() -> None:
    made = board.bare("STM32F437VGT6", "25MHz", "usart3")
    assert (made.name, made.hse_hz, made.lse_hz, made.console) == ("stm32f437vg", 25_000_000, 32_768, "USART3")
    assert board.bare("f437vg").hse_hz == 0
    with pytest.raises(BoardError) as raised:
        board.bare("f437vg", console="USART9")
    assert str(raised.value).startswith(
        "stm32f437vg: console 'USART9' is no serial port of stm32f437vg; did you mean 'USART"
    )


@pytest.mark.parametrize(
    ("text", "hz"),
    [("8MHz", 8_000_000), ("12 mhz", 12_000_000), ("32.768kHz", 32_768), ("25000000", 25_000_000), (0, 0), ("0", 0),
     ("32768 Hz", 32_768), (8_000_000, 8_000_000), ("1_000_000Hz", 1_000_000)],
)  # fmt: skip
def test_frequencies(text: str | int, hz: int) -> None:
    assert board.parse_hz(text) == hz


@pytest.mark.parametrize("text", ["fast", "8GHz", "8MHzz", "", "MHz", "-8MHz", "nan", "inf", True, 1.5, None])
def test_no_frequencies(text: object) -> None:
    with pytest.raises(BoardError, match=r"^hse: .* is no frequency; expected"):
        board.parse_hz(text, "hse")  # type: ignore[arg-type]


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_a_board_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        title = "Our gateway"
        chip = "STM32F439ZIT6"
        hse = "25MHz"
        bypass = true
        lse = 0
        console = "UART7"
        phy = "LAN8742A"
        phy_address = 1
        """,
    )
    made = board.find(path)
    assert (made.name, made.title, made.chip.name) == ("mine", "Our gateway", "stm32f439zi")
    assert (made.hse_hz, made.hse_bypass, made.lse_hz) == (25_000_000, True, 0)
    assert (made.console, made.phy, made.phy_address) == ("UART7", "LAN8742A", 1)


def test_defaults_of_a_board_file(tmp_path: Path) -> None:
    made = board.find(str(write(tmp_path, 'chip = "f437vg"')))
    assert (made.name, made.title, made.hse_hz, made.lse_hz, made.console) == ("mine", "mine", 0, 32_768, "USART1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chip = ", "this is no TOML: "),
        ("", "the key 'chip' is missing; expected a line such as chip = \"STM32F437VG\""),
        ('chip = "f437vg"\ncolour = 1', "unknown key 'colour'. Keys: name, title, chip"),
        ('chip = "f437vg"\nconsol = "USART1"', "unknown key 'consol'; did you mean 'console'? Keys: "),
        ("chip = 437", "chip is 437, expected a text in quotes"),
        ('chip = "f437vg"\nbypass = 1', "bypass is 1, expected true or false"),
        ('chip = "f437vg"\nphy_address = true', "phy_address is True, expected a number"),
        ('chip = "f437vg"\nhse = true', 'hse is True, expected a frequency such as "8MHz"'),
        ('chip = "stm32h999"', "there is no chip 'stm32h999'"),
        ('chip = "f437vg"\nhse = "8 parsec"', "hse: '8 parsec' is no frequency; expected one such as 8MHz"),
        ('chip = "f437vg"\nhse = "8kHz"', "hse is 8000 Hz, expected 0 or 1 to 50 MHz"),
        ('chip = "f437vg"\nconsole = "COM1"', "console 'COM1' is no serial port of stm32f437vg"),
    ],
)
def test_a_broken_board_file_is_one_sentence_with_its_path(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(BoardError) as raised:
        board.find(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_board_file(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    with pytest.raises(BoardError) as raised:
        board.find(path)
    assert str(raised.value).startswith(f"{path}: there is no such board file; boards by name: nucleo-f429zi")


def test_a_board_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BoardError, match="the board file cannot be read: it is not UTF-8 text"):
        board.find(path)
