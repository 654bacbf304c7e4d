"""Building the reference firmware: names, tools, cache, and C code without warnings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cryplab.errors import BoardError, ToolError, UsageError
from cryplab.guest import BUILDS, PROGRAMS, build, sources
from cryplab.guest.cross import find_compiler
from cryplab.guest.targets import BOARDS, target_of
from firmware_builds import needs_gcc

module = sys.modules["cryplab.guest.build"]  # the package's name `build` is the function


def need_sources() -> None:
    try:
        sources.library("mbedtls")
    except ToolError as missing:
        pytest.skip(str(missing))


# ---- names and boards ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("benchmrk", "ublox-c030-u201"), "no program 'benchmrk'; did you mean 'benchmark'"),
        (("benchmark", "ublox-c030-u201", "openssl"), "no library 'openssl'"),
        (("benchmark", "ublox-c030-u201", "mbedtls", "hardwear"), "no build 'hardwear'; did you mean 'hardware'"),
        (("benchmark", "nucleo-f429zi", "mbedtls", "hardware"), "stm32f429zi has no CRYP and HASH .* --build software"),
    ],
)
def test_wrong_names(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build(*arguments)


def test_wrong_board() -> None:
    with pytest.raises(BoardError, match="no reference firmware for board 'nucleo-f493zi'; did you mean 'nucleo-f4"):
        build("benchmark", "nucleo-f493zi")


def board(**changes: object) -> SimpleNamespace:
    fields = {"name": "mine", "chip": SimpleNamespace(name="stm32f439zi"), "hse_hz": 25_000_000, "console": "USART6"}
    return SimpleNamespace(**(fields | changes))


def test_target_of_a_board_object() -> None:
    target = target_of(board())
    assert (target.chip.name, target.hse_hz, target.console.usart, target.core_hz) == (
        "stm32f439zi", 25_000_000, "USART6", 168_000_000,
    )  # fmt: skip
    assert "#define BOARD_PLL_M 25\n" in target.header()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chip": SimpleNamespace(name="stm32l562xe")}, "mine: no reference firmware for chip stm32l562xe"),
        ({"hse_hz": 32_768}, "mine: the reference firmware needs a crystal of whole megahertz, 2 to 50 MHz"),
        ({"console": "UART9"}, "mine: the reference firmware has no console on UART9; it knows USART1"),
    ],
)
def test_unfit_board_objects(changes: dict[str, object], message: str) -> None:
    with pytest.raises(BoardError, match=message):
        target_of(board(**changes))


def test_published_clock_of_the_c030() -> None:
    target = BOARDS["ublox-c030-u201"]
    header = target.header()
    for name, value in (("PLL_M", 12), ("PLL_N", 336), ("PLL_P", 2), ("PLL_Q", 7), ("WAIT_STATES", 5)):
        assert f"#define BOARD_{name} {value}\n" in header
    assert target.core_hz == 168_000_000


# ---- tools ---------------------------------------------------------------------------------------


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        ToolError, match="no arm-none-eabi-gcc on this machine; Debian has it in package gcc-arm-none-eabi"
    ):
        build("benchmark", "ublox-c030-u201")


def test_no_c_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "arm-none-eabi-gcc"
    compiler.write_text("#!/bin/sh\necho libc.a\n")  # what GCC prints for a file it does not find
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ToolError, match="no C library for Cortex-M4; Debian has it in package libnewlib-arm-none-eabi"):
        find_compiler()


@needs_gcc
def test_broken_sources_name_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "library").mkdir()
    for name in module.MBEDTLS_MODULES:
        (tmp_path / "library" / f"{name}.c").write_text("int broken = ;\n" if name == "aes" else "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "MODULE_FLAGS", {})
    with pytest.raises(ToolError, match=r"aes.c could not be built by .*arm-none-eabi-gcc: .*error") as error:
        build("benchmark", "ublox-c030-u201", source=tmp_path)
    assert "\n" not in str(error.value)


# ---- the real thing --------------------------------------------------------------------------------


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("build_name", BUILDS)
def test_builds_without_a_warning(
    program: str, build_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_sources()
    source = sources.library("mbedtls")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "OUR_FLAGS", (*module.OUR_FLAGS, "-Werror"))
    lines: list[str] = []
    elf = build(program, "ublox-c030-u201", build=build_name, source=source, progress=lines.append)
    again = build(program, "ublox-c030-u201", build=build_name, source=source, progress=lines.append)
    assert again == elf
    assert len(lines) == 1  # compiled once
    names = symbols(elf)
    assert {"cryplab_filter", "cryplab_filter_magic", "cryplab_exit_code", "cryplab_stopped"} <= names
    assert ("cryp_begin" in names) == (build_name in ("hardware", "faulty"))
    assert ("cryp_aes_cbc_encrypt" in names) == (build_name == "hal-style")


def symbols(elf: Path) -> set[str]:
    listing = subprocess.run(["arm-none-eabi-nm", elf], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listing.splitlines()}


@needs_gcc
@pytest.mark.slow
def test_same_build_same_file_and_other_board_other_file() -> None:
    need_sources()
    first = build("benchmark", "ublox-c030-u201")
    assert build("benchmark", "ublox-c030-u201") == first
    assert build("benchmark", "nucleo-f439zi") != first


@needs_gcc
@pytest.mark.slow
def test_tables_of_aes_are_in_ram() -> None:
    need_sources()
    elf = build("benchmark", "ublox-c030-u201")
    listing = subprocess.run(["arm-none-eabi-nm", elf], capture_output=True, text=True, check=True).stdout
    places = {line.split()[2]: int(line.split()[0], 16) for line in listing.splitlines() if len(line.split()) == 3}
    assert places["FT0"] >= 0x2000_0000
    assert places["mbedtls_internal_aes_encrypt"] < 0x0900_0000
