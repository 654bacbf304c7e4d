"""The command line: bad input is one sentence with its exit code; what runs print; JSON has the contract's fields."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cryplab import cli
from tests import small_firmware
from tests.firmware_builds import build, needs_gcc, objcopy

UBLOX = ("--board", "ublox-c030-u201")
SOURCES = str(Path(cli.__file__).parents[2])


class Done:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def sentence(self) -> str:
        """The one line of standard error, without the program's name."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("cryplab: ")
        return lines[0].removeprefix("cryplab: ")


@pytest.fixture
def cryplab(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch):
    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["cryplab", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsysbinary.readouterr()
        assert isinstance(end.value.code, int)
        return Done(end.value.code, out.decode("utf-8", "replace"), err.decode())

    return run


def process(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
    """The command as a process of its own, for signals and pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "cryplab", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": SOURCES},
        **options,  # type: ignore[call-overload]
    )


def firmware(mode: int) -> Path:
    return build("small", f"-DMODE={mode}")


# -- bad input -------------------------------------------------------------------------------------
def refused(done: Done, code: int, *parts: str) -> None:
    assert done.code == code
    assert done.out == ""
    for part in parts:
        assert part in done.sentence


def test_a_missing_file(cryplab) -> None:
    refused(cryplab("run", "nothing.elf"), 3, "nothing.elf does not exist; expected an ELF32 for 32-bit ARM")


def test_a_folder(cryplab, tmp_path: Path) -> None:
    refused(cryplab("run", tmp_path), 3, "is a folder; expected an ELF32")


def test_a_text_file(cryplab, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("to do: buy milk\n")
    refused(cryplab("run", tmp_path / "notes.txt"), 3, "notes.txt is a text file; expected an ELF32")


def test_an_elf_of_another_architecture(cryplab) -> None:
    refused(cryplab("run", os.path.realpath(sys.executable)), 3, "is a 64-bit ELF for ", "; expected ELF32 for 32-bit")


@needs_gcc
def test_firmware_linked_outside_the_chips_memory(cryplab, tmp_path: Path) -> None:
    elf = small_firmware.build(tmp_path, flash="0x90000000")
    refused(
        cryplab("run", elf, *UBLOX),
        3,
        "fw.elf: ",
        "at 0x90000000..",
        "lies outside the memory of stm32f437vg, which has",
    )


def test_a_corrupt_hex(cryplab, tmp_path: Path) -> None:
    (tmp_path / "fw.hex").write_text(":020000040800F2\n:0400000000010020DC\n:00000001FF\n")
    refused(cryplab("run", tmp_path / "fw.hex"), 3, "fw.hex", "line 2", "checksum")


@needs_gcc
def test_a_bin_without_base_and_one_outside(cryplab) -> None:
    raw = objcopy(firmware(0), "binary")
    refused(cryplab("run", raw), 3, ".bin is a raw binary and does not say where it belongs; give --base, for example")
    refused(cryplab("run", raw, "--base", "0x30000000"), 3, "0x30000000..", "lies outside the memory of stm32f437vg")


def test_an_unknown_board_names_the_nearest(cryplab) -> None:
    refused(
        cryplab("run", "x.elf", "--board", "nucleo-f43zi"),
        3,
        "there is no board 'nucleo-f43zi'; did you mean 'nucleo-f439zi'? Boards: ",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chip = ", "this is no TOML"),
        ('hse = "8MHz"', "the key 'chip' is missing"),
        ('chip = "STM32F999"', "there is no chip 'STM32F999'; did you mean"),
        ('chip = "STM32F437VG"\ncrystal = 8', "unknown key 'crystal'"),
        ('chip = "STM32F437VG"\nhse = true', "hse is True, expected a frequency"),
        ('chip = "STM32F437VG"\nhse = "8 apples"', "'8 apples' is no frequency"),
        ('chip = "STM32F437VG"\nhse = "1GHz"', "is no frequency"),
        ('chip = "STM32F437VG"\nhse = "400MHz"', "hse is 400000000 Hz, expected 0 or 1 to 50 MHz"),
        ('chip = "STM32F437VG"\nconsole = "USART9"', "console 'USART9' is no serial port of stm32f437vg"),
        ("\x00\x01", "this is no TOML"),
    ],
)
def test_a_broken_board_file(cryplab, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "ours.toml").write_text(text)
    refused(cryplab("run", "x.elf", "--board", tmp_path / "ours.toml"), 3, "ours.toml: ", message)


def test_a_board_file_that_is_missing_or_no_text(cryplab, tmp_path: Path) -> None:
    refused(cryplab("boards", tmp_path / "ours.toml"), 3, "there is no such board file; boards by name: ")
    (tmp_path / "ours.toml").write_bytes(b"\xff\xfe\x00")
    refused(cryplab("boards", tmp_path / "ours.toml"), 3, "the board file cannot be read: it is not UTF-8 text")


def test_an_unknown_chip(cryplab) -> None:
    refused(cryplab("run", "x.elf", "--chip", "stm32f432vg"), 3, "no chip 'stm32f432vg'; did you mean 'stm32f437vg'?")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--date", "yesterday"), "'--date': 'yesterday' is no date; expected 2026-01-31 or"),
        (("--base", "flash"), "'--base': 'flash' is no number; expected 0x08000000 or"),
        (("--vectors", "0xg"), "'--vectors': '0xg' is no number"),
        (("--for", "10 apples"), "'--for': '10 apples' is no time; expected 10s, 500ms or 2min"),
        (("--for", "0"), "'--for': '0': expected more than 0"),
        (("--for", "-3s"), "'--for': '-3s': expected more than 0"),
        (("--for", "infs"), "'--for': 'infs': expected more than 0"),
        (("--clock", "slow"), "'--clock': 'slow' is not one of 'exact', 'fast'"),
        (("--seed", "dice"), "'--seed': 'dice' is not a valid integer"),
        (("--fast",), "no such option '--fast'"),
        (("more.elf",), "got unexpected extra argument (more.elf)"),
    ],
)
def test_wrong_usage_of_an_option(cryplab, arguments: tuple[str, ...], message: str) -> None:
    refused(cryplab("run", "x.elf", *arguments), 2, message, "see 'cryplab run --help'")


def test_wrong_usage_of_the_program(cryplab) -> None:
    refused(cryplab("frobnicate"), 2, "no such command 'frobnicate'", "see 'cryplab --help'")
    refused(cryplab("run"), 2, "missing argument 'FIRMWARE'")
    refused(cryplab("run", "x.elf", *UBLOX, "--chip", "stm32f437vg"), 2, "give --board or --chip, not both")
    refused(cryplab("run", "x.elf", "--hse", "8MHz"), 2, "--hse and --console go with --chip")
    refused(cryplab("build"), 2, "which program? There are benchmark, selftest")


@needs_gcc
@pytest.mark.parametrize(
    ("option", "value", "code", "message"),
    [
        ("--set", "RCC.CR", 2, "--set RCC.CR: expected BLOCK.REG.FIELD=VALUE"),
        ("--set", "RCC.CR=1", 3, "'RCC.CR': expected BLOCK.REG.FIELD"),
        ("--set", "RCC.CR.HSERDY=yes", 2, "--set RCC.CR.HSERDY=yes: 'yes' is no number"),
        ("--set", "CRYPT.CR.CRYPEN=1", 3, "no peripheral 'CRYPT'; did you mean 'CRYP'?"),
        ("--set", "RCC.CRR.HSERDY=1", 3, "RCC has no register 'CRR'; did you mean 'CR'?"),
        ("--set", "RCC.CR.HSERDI=1", 3, "RCC.CR has no field 'HSERDI'; did you mean 'HSERDY'?"),
        ("--set", "GPIOC.IDR.33=1", 3, "GPIOC.IDR.33: bits 33 are none of a register; expected 31 down to 0"),
        ("--set", "RCC.CR.HSERDY=2", 3, "RCC.CR.HSERDY=0x2: the field has 1 bit"),
        ("--set", "ADC.SR.EOC=1", 3, "it is not modelled: name an offset and a bit, such as ADC.0x00.1"),
        ("--stub", "outr=1", 3, "has no symbol 'outr'; did you mean 'outer'?"),
        ("--stub", "outer=x", 2, "--stub outer=x: 'x' is no number; expected SYMBOL=VALUE"),
        ("--also", "more.hex", 3, "more.hex does not exist"),
        ("--trace", "/nothing/here.jsonl", 3, "cannot write the trace to /nothing/here.jsonl: No such file"),
    ],
)
def test_options_that_do_not_fit_the_firmware(cryplab, option: str, value: str, code: int, message: str) -> None:
    refused(cryplab("run", firmware(0), *UBLOX, option, value), code, message)


@needs_gcc
def test_a_trace_that_may_not_be_written(cryplab, tmp_path: Path) -> None:
    refused(cryplab("run", firmware(0), *UBLOX, "--trace", tmp_path), 3, "cannot write the trace to ", "Is a directory")


def test_no_compiler(cryplab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    refused(cryplab("build", "benchmark"), 3, "no arm-none-eabi-gcc on this machine; Debian has it in package gcc-arm")


def test_no_source_package(cryplab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tools, cache = tmp_path / "bin", tmp_path / "cache"
    tools.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("CRYPLAB_CACHE", str(cache))
    monkeypatch.delenv("CRYPLAB_MBEDTLS", raising=False)
    monkeypatch.setenv("PATH", str(tools))
    refused(cryplab("build", "--fetch-only"), 3, "no apt-get on this machine; give the sources with --source DIR or")
    for name in ("apt-get", "apt-config"):
        (tools / name).write_text("#!/bin/sh\necho 'E: Unable to locate package' >&2\nexit 100\n")
        (tools / name).chmod(0o755)
    (tools / "sh").symlink_to(shutil.which("sh", path=os.defpath) or "/bin/sh")
    done = cryplab("build", "--fetch-only")
    assert done.code == 3
    assert re.search(r"mbed TLS 2\.28\.\d+: .*; give the sources with --source DIR or CRYPLAB_MBEDTLS$", done.sentence)


@needs_gcc
def test_sources_that_are_none(cryplab, tmp_path: Path) -> None:
    refused(cryplab("build", "benchmark", "--source", tmp_path), 3, "no mbed TLS sources here", "is missing")


@pytest.mark.parametrize(("path", "message"), [("CRPY", "'CRPY'; did you mean 'CRYP'?"), ("CRYP.CX", "register 'CX'")])
def test_registers_of_nothing(cryplab, path: str, message: str) -> None:
    refused(cryplab("regs", path), 3, message)


@needs_gcc
def test_debug_shows_the_traceback_too(cryplab) -> None:
    done = cryplab("run", "nothing.elf", "--debug")
    assert done.err.startswith("Traceback ")
    assert done.err.splitlines()[-1].startswith("cryplab: nothing.elf does not exist")


# -- runs and their ends ---------------------------------------------------------------------------
@needs_gcc
def test_a_run_prints_console_crypto_errors_and_the_end(cryplab) -> None:
    done = cryplab("run", firmware(0), *UBLOX)
    assert done.code == 0
    assert done.err == ""
    head, _, end = done.out.rstrip().rpartition("\n")
    assert head == (
        "hello\nmemory ok\n\ncrypto in hardware\n  none\n\ncrypto in software\n  none seen\n\n"
        "guest errors: none\n\nnot modelled or not mapped: none\n"
    )
    assert re.fullmatch(r"end: asleep, with nothing that could wake it; virtual time 0\.000\d{3} s, \d+ cycles", end)


@needs_gcc
def test_until_never_seen_reports_like_any_other_and_is_exit_5(cryplab) -> None:
    done = cryplab("run", firmware(9), *UBLOX, "--until", "ready", "--for", "10ms")
    assert done.code == 5
    assert "crypto in hardware\n  none\n" in done.out
    assert re.match(r"'ready' was not printed: the time limit was reached; virtual time 0.010\d+ s, \d+", done.sentence)


@needs_gcc
def test_until_seen_is_exit_0(cryplab) -> None:
    done = cryplab("run", firmware(0), *UBLOX, "--until", "hello")
    assert done.code == 0
    assert "end: the awaited text was printed; " in done.out


@needs_gcc
def test_one_that_never_ends_stops_at_its_limit(cryplab) -> None:
    done = cryplab("run", firmware(9), *UBLOX, "--for", "5ms")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"\nend: the time limit was reached; virtual time 0\.0050\d\d s, \d+ cycles\n$", done.out)


@needs_gcc
@pytest.mark.parametrize(("mode", "end"), [(3, "the guest faulted"), (8, "the core locked up")])
def test_a_crash_is_exit_4_with_line_registers_and_call_stack(cryplab, mode: int, end: str) -> None:
    done = cryplab("run", firmware(mode), *UBLOX)
    assert done.code == 4
    assert done.out.startswith("in the fault handler\n\ncrypto in hardware\n")
    report = done.out[done.out.index("\nend: ") + 1 :]
    assert report.startswith(f"end: {end}; virtual time ")
    assert re.search(r"\n(BusFault|HardFault) at 0x[0-9a-f]{8}", report)
    assert re.search(r"\n +r0 [0-9a-f]{8} +r1 [0-9a-f]{8}", report)
    assert re.search(r"\n +#0 .*\n +#1 .*small\.c:\d+", report)


@needs_gcc
def test_a_guest_that_reports_failure_is_exit_1(cryplab) -> None:
    done = cryplab("run", firmware(5), *UBLOX)
    assert done.code == 1
    assert "\nend: finished with code 7; " in done.out


@needs_gcc
def test_text_without_a_line_end_and_text_that_is_no_utf8(cryplab) -> None:
    assert cryplab("run", firmware(11), *UBLOX).out.startswith("no line end\n\ncrypto in hardware\n")
    assert cryplab("run", firmware(12), *UBLOX).out.startswith("caf\u00e9 \ufffd\n\ncrypto in hardware\n")


@needs_gcc
def test_errors_of_the_guest_are_told_with_their_place(cryplab) -> None:
    done = cryplab("run", firmware(13), *UBLOX)
    assert done.code == 1
    assert "\nfindings: 1\n\nO12 clock-not-enabled: CRYP.CR read while" in done.out
    assert re.search(
        r"guest errors: 1\n  0x\w+ \(sum_bytes\+0x\w+, small\.c:\d+\): CRYP\.CR read while its clock", done.out
    )
    assert re.search(r"not modelled or not mapped: 2\n  0x.*: ADC\+0x004 read; remembered only\n", done.out)
    assert re.search(r"\n  0x.* \(main.*: nothing is mapped at 0x40023400, written\n", done.out)
    strict = cryplab("run", firmware(13), *UBLOX, "--strict")
    assert strict.code == 1
    assert re.match(r"not modelled, used at 0x\w+: ADC\+0x004|(guest error|unmapped address) .*0x", strict.sentence)
    assert "\nend: " + strict.sentence in strict.out


@needs_gcc
def test_a_wait_on_what_is_not_modelled_and_how_to_pass_it(cryplab) -> None:
    waiting = cryplab("run", firmware(14), *UBLOX, "--for", "5ms")
    assert "--set ADC.0x000.BIT=VALUE lets it pass" in waiting.out
    assert cryplab("run", firmware(14), *UBLOX, "--for", "5ms", "--set", "ADC.0x000.1=1").out.startswith("converted\n")


@needs_gcc
def test_quiet_shows_only_what_is_wrong_and_verbose_more(cryplab) -> None:
    assert cryplab("run", firmware(0), *UBLOX, "-q").out == "hello\nmemory ok\n"
    assert "guest errors: 1" in cryplab("run", firmware(13), *UBLOX, "-q").out
    assert "#1 " in cryplab("run", firmware(3), *UBLOX, "-q").out
    assert re.search(r"end: .*\n +wall time .* million instructions, .* MIPS\n", cryplab("run", firmware(0), "-v").out)


# -- pipes and signals -----------------------------------------------------------------------------
@needs_gcc
def test_standard_input_goes_to_the_console() -> None:
    run = process("run", firmware(10), *UBLOX, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = run.communicate(b"typed\n", timeout=100)
    assert out.startswith(b"> typed\n\ncrypto in hardware")
    assert run.returncode == 0


@needs_gcc
def test_a_pipe_that_nobody_closes_does_not_hold_the_run() -> None:
    run = process("run", firmware(0), *UBLOX, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert run.wait(timeout=100) == 0
    run.communicate()


@needs_gcc
def test_ctrl_c_ends_with_the_report() -> None:
    run = process("run", firmware(15), *UBLOX, "--for", "10min", stdin=subprocess.DEVNULL, stdout=-1, stderr=-1)
    assert run.stdout is not None
    assert run.stdout.readline() == b"spinning\n"
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=100)
    assert (run.returncode, err) == (130, b"")
    assert b"\nend: stopped; virtual time" in out


@needs_gcc
def test_a_reader_that_goes_away_is_no_traceback() -> None:
    run = process("run", firmware(13), *UBLOX, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.close()
    assert run.wait(timeout=100) == 128 + signal.SIGPIPE
    assert run.stderr.read() == b""
    run.stderr.close()


# -- JSON ------------------------------------------------------------------------------------------
RUN_FIELDS = {
    "console", "seconds", "cycles", "wall_seconds", "operations", "software", "findings", "guest_errors",
    "not_modelled", "end",
}  # fmt: skip


@needs_gcc
def test_json_of_a_run_is_one_document_and_nothing_else(cryplab) -> None:
    done = cryplab("run", firmware(13), *UBLOX, "--json")
    document = json.loads(done.out)
    assert done.err == ""
    assert set(document) >= RUN_FIELDS
    assert set(document["end"]) >= {"reason", "code"}
    assert document["guest_errors"][0]["block"] == "CRYP"
    assert document["not_modelled"][0]["block"] == "ADC"
    assert document["end"]["code"] == 0
    assert json.loads(cryplab("run", firmware(0), *UBLOX, "--json").out)["console"] == "hello\nmemory ok\n"


@needs_gcc
def test_json_of_a_crash_and_of_a_limit(cryplab) -> None:
    crash = cryplab("run", firmware(3), *UBLOX, "--json")
    assert (crash.code, json.loads(crash.out)["end"]["reason"]) == (4, "fault")
    limit = cryplab("run", firmware(9), *UBLOX, "--json", "--until", "x", "--for", "1ms")
    assert (limit.code, json.loads(limit.out)["end"]["reason"]) == (5, "time")


def test_json_of_boards_and_registers(cryplab) -> None:
    boards = json.loads(cryplab("boards", "--json").out)
    assert {"ublox-c030-u201", "nucleo-f439zi", "nucleo-f429zi"} <= {b["name"] for b in boards["boards"]}
    one = json.loads(cryplab("boards", "ublox-c030-u201", "--json").out)
    assert set(one) >= {"name", "chip", "core", "memories", "blocks", "not_modelled", "algorithms"}
    assert {"modelled", "partly"} == {b["state"] for b in one["blocks"]}
    cr = json.loads(cryplab("regs", "CRYP.CR", "--json").out)["registers"][0]
    assert (cr["register"], cr["fields"][0]["name"]) == ("CR", "ALGOMODE3")


@pytest.mark.parametrize(
    "block", ["NVIC", "SYSTICK", "SCB", "MPU", "FPU", "DWT", "ITM", "CRYP", "HASH", "RNG", "CrypV2"]
)
def test_registers_of_every_kind_of_block(cryplab, block: str) -> None:
    done = cryplab("regs", block)
    assert done.code == 0
    assert re.search(r"^\w+  offset 0x\w+  reset 0x\w{8}  ", done.out, re.MULTILINE)
    assert all(line == line.rstrip() for line in done.out.splitlines())


@needs_gcc
@pytest.mark.slow
def test_json_of_bench_and_selftest(cryplab) -> None:
    bench = json.loads(cryplab("bench", "--rows", "SHA-256", "--json").out)
    assert set(bench) >= {"board", "library", "clock_hz", "rows"}
    row = bench["rows"][0]
    assert set(row) >= {"name", "unit", "software", "hardware", "ratio", "limit", "published"}
    assert set(row["software"]) >= {"value", "cycles", "bytes"}
    assert set(row["hardware"]) >= {"value", "cycles", "bytes", "hardware_share", "blocks"}
    assert set(row["limit"]) == {"cpu", "dma"}
    assert set(row["published"]) == {"software", "hardware", "source"}
    done = cryplab("selftest", "--build", "hardware", "--json")
    tests = json.loads(done.out)
    assert done.code == 0
    fields = {"target", "platform", "suite", "case", "passed", "failed", "result", "elapsed"}
    assert all(set(r) >= fields and r["result"] == "OK" for r in tests["rows"])


def test_a_fault_of_ours_is_a_sentence_too(cryplab, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("cryplab.show.registers", broken)
    done = cryplab("regs", "CRYP")
    assert (done.code, done.sentence) == (70, "internal error, KeyError: 'lost'; --debug shows where")
    assert cryplab("regs", "CRYP", "--debug").err.startswith("Traceback ")


def test_choices_are_those_of_the_reference_firmware() -> None:
    """The options name them anew, so that `--help` need not import what builds firmware."""
    from cryplab.cli import options
    from cryplab.guest import BUILDS, LIBRARIES, wolfssl

    assert (options.BUILDS, options.LIBRARIES, options.MATHS) == (BUILDS, LIBRARIES, wolfssl.MATHS)


def test_help_imports_neither_chips_nor_the_core() -> None:
    """They take longer than everything else that `--help` and `--version` need."""
    ask = "import sys, cryplab.cli; print(sorted({'cryplab.chips', 'cryplab.blocks', 'unicorn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout == "[]\n"
