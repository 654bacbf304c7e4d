"""Building the programs with network: C code without warnings, sources of lwIP, the date of the RTC."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cryplab.errors import ToolError, UsageError
from cryplab.guest import build, network, sources
from cryplab.guest.targets import BOARDS
from cryplab.machine import Machine
from firmware_builds import needs_gcc

module = sys.modules["cryplab.guest.build"]
DATES = (946684800, 951868799, 1709164800, 1780272000, 4102444799)
"First and last second of 2000 to 2099, leap days."


def need_sources() -> None:
    for library in ("mbedtls", "lwip"):
        try:
            sources.library(library)
        except ToolError as missing:
            pytest.skip(str(missing))


def test_boards_with_ethernet() -> None:
    able = [name for name, target in BOARDS.items() if target.ethernet]
    assert able == ["nucleo-f439zi", "nucleo-f429zi", "stm32f437i-eval", "stm3221g-eval"]
    with pytest.raises(UsageError, match="ublox-c030-u201: tls_client needs an Ethernet port; nucleo-f439zi, "):
        network.need_ethernet(BOARDS["ublox-c030-u201"], "tls_client")


def test_lwip_beside_the_librarys_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probe = tmp_path / "lwip" / "src" / "core" / "init.c"
    probe.parent.mkdir(parents=True)
    with pytest.raises(ToolError, match=r"lwip: no lwIP sources here, src/core/init.c is missing"):
        network.lwip(tmp_path, print)
    probe.touch()
    assert network.lwip(tmp_path, print) == tmp_path / "lwip"
    monkeypatch.setenv("CRYPLAB_LWIP", str(tmp_path / "lwip"))
    assert network.lwip(None, print) == tmp_path / "lwip"


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("program", network.PROGRAMS)
@pytest.mark.parametrize(("board", "build_name"), [("nucleo-f439zi", "hardware"), ("stm3221g-eval", "software")])
def test_builds_without_a_warning(program: str, board: str, build_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need_sources()
    monkeypatch.setattr(module, "OUR_FLAGS", (*module.OUR_FLAGS, "-Werror"))
    build(program, board, build=build_name)


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("board", ["nucleo-f439zi", "stm3221g-eval"])
def test_date_goes_through_the_rtc(board: str) -> None:
    need_sources()
    machine = Machine(board)
    machine.load(build("tls_client", board, build="hardware"))
    machine.run(seconds=0.002)
    for date in DATES:
        machine.call("date_set", date)
        assert machine.call("date_time", 0) == date
    calendar = machine.blocks["RTC"]
    assert (calendar.read(0), calendar.read(4) & 0xFF_1FFF) == (0x23_5959, 0x99_1231)
