"""wolfCrypt's programs: names, parts, and what they compute on F2 and F4."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cryplab import board as boards
from cryplab.bench import bench
from cryplab.bench.selftest import selftest
from cryplab.errors import CryplabError, ToolError, UsageError
from cryplab.guest import build, programs, sources, wolfssl
from cryplab.guest.targets import BOARDS, Target
from cryplab.layout import layouts
from cryplab.machine import Machine
from firmware_builds import needs_gcc

F2, F4 = BOARDS["stm3221g-eval"], BOARDS["stm32f437i-eval"]
HERE = Path(wolfssl.__file__).parent


def library() -> Path:
    try:
        return sources.library("wolfssl")
    except ToolError as missing:
        pytest.skip(str(missing))


# ---- names ---------------------------------------------------------------------------------------


def test_programs() -> None:
    assert programs("wolfssl") == ("benchmark", "test", "ctaocrypt", "tasks", "check")
    assert wolfssl.program_of("selftest") == "test"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tests", "stm3221g-eval", "wolfssl"), "wolfssl has no program 'tests'; did you mean 'test'"),
        (
            ("test", "stm3221g-eval", "wolfssl", "hal-style"),
            "wolfssl has no hal-style build; there is software, hardware",
        ),
    ],
)
def test_wrong_names(arguments: tuple[str, ...], message: str) -> None:
    if arguments[-1] == "hal-style":
        library()
    with pytest.raises(UsageError, match=message):
        build(*arguments)


def test_wrong_math() -> None:
    with pytest.raises(UsageError, match="--math fst; did you mean 'fast'"):
        wolfssl.math_of(F2, "test", "software", "fst")
    with pytest.raises(UsageError, match="--math goes with --library wolfssl"):
        build("benchmark", "ublox-c030-u201", math="heap")


@pytest.mark.parametrize(
    ("target", "program", "build_name", "math"),
    [
        (F2, "ctaocrypt", "software", "heap"),
        (F2, "ctaocrypt", "hardware", "heap"),
        (F2, "test", "hardware", "sp"),
        (F4, "benchmark", "software", "fast"),
        (F4, "benchmark", "hardware", "sp"),
    ],
)
def test_big_integers_are_those_of_the_published_rows(target: Target, program: str, build_name: str, math: str) -> None:
    assert wolfssl.math_of(target, program, build_name, "") == math
    assert wolfssl.math_of(target, program, build_name, "fast") == "fast"


# ---- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("target", "family", "other"), [(F2, "spl", "hal"), (F4, "hal", "spl")])
def test_the_port_is_wolfssls_own_and_only_what_is_below_it_is_ours(target: Target, family: str, other: str) -> None:
    root = Path("/sources")
    made = wolfssl.parts(root, HERE, "test", "hardware", target, "heap")
    assert root / "wolfcrypt/src/port/st/stm32.c" in made.library
    assert root / "wolfcrypt/test/test.c" in made.library
    assert all(root in source.parents for source in made.library)
    folders = {source.parent.name for source in made.ours}
    assert family in folders
    assert other not in folders
    assert not list((HERE / "ports" / "wolfssl").rglob("wolfssl/*")), (
        "nothing may stand in front of a header of wolfSSL"
    )


def test_sources_of_2012(tmp_path: Path) -> None:
    (tmp_path / "ctaocrypt" / "src").mkdir(parents=True)
    (tmp_path / "ctaocrypt" / "src" / "aes.c").touch()
    assert sources.library("wolfssl", tmp_path) == tmp_path
    made = wolfssl.parts(tmp_path, HERE, "ctaocrypt", "hardware", F2, "heap")
    assert all(source.parent == tmp_path / "ctaocrypt" / "src" for source in made.library)
    with pytest.raises(UsageError, match="has CyaSSL: there is only program ctaocrypt for STM32F2"):
        wolfssl.parts(tmp_path, HERE, "test", "hardware", F2, "heap")
    with pytest.raises(UsageError, match="has CyaSSL"):
        wolfssl.parts(tmp_path, HERE, "ctaocrypt", "hardware", F4, "heap")


def test_the_sources_are_pinned() -> None:
    package = sources.PACKAGES["wolfssl"]
    assert (package.version, package.variable) == ("5.5.4", "CRYPLAB_WOLFSSL")
    assert re.fullmatch(r"[0-9a-f]{64}", package.sha256)


# ---- on the bench --------------------------------------------------------------------------------


@needs_gcc
@pytest.mark.slow
def test_eleven_rows_of_2012() -> None:
    """Within 25 % of the published hardware rows, 30 % of the software rows, but for the digests (docs/wolfssl.md)."""
    library()
    result = bench("stm3221g-eval", library="wolfssl", program="ctaocrypt", jobs=1)
    assert [row.name for row in result.rows] == [
        "AES", "ARC4", "DES", "3DES", "MD5", "SHA", "SHA-256", "RSA 2048 encryption", "RSA 2048 decryption",
        "DH 2048 key generation", "DH 2048 key agreement",
    ]  # fmt: skip
    assert result.exit_code == 0
    for row in result.rows:
        published = {"software": row.published_software, "hardware": row.published_hardware}
        for build_name, limit in (("software", 0.30), ("hardware", 0.25)):
            wanted = row.published_value(published[build_name])
            assert wanted is not None
            got = row.columns[build_name].value
            if (row.name, build_name) in (("MD5", "hardware"), ("SHA", "hardware")):
                assert 0.15 < got / wanted < 0.30, "the port of 5.5.4 feeds HASH word by word"
            else:
                assert abs(got / wanted - 1) < limit, (row.name, build_name, got, wanted)
    text = str(result._text("hardware", "ctaocrypt"))
    assert re.search(r"^AES +32 kB took 0\.00\d seconds, +\d+\.\d\d MB/s$", text, re.MULTILINE)


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("board", ["stm3221g-eval", "stm32f437i-eval", "nucleo-f439zi"])
def test_wolfcrypts_own_test_passes_on_hardware(board: str) -> None:
    library()
    result = selftest(boards.find(board), library="wolfssl", builds=["hardware"])
    cases = {row.case: row for row in result.rows}
    assert result.exit_code == 0
    assert len(cases) > 35
    for case in ("MD5", "SHA", "AES", "AES-GCM", "AES-CCM", "DES3", "RSA", "ECC"):
        assert cases[case].result == "OK"
    assert cases["AES"].operations > 10
    assert cases["SHA-256"].operations == 0 if board == "stm3221g-eval" else cases["SHA-256"].operations > 0
    assert ("HMAC-KDF" in cases) == (board != "stm3221g-eval"), "see docs/wolfssl.md"


def three_tasks(board: str, *, locks: bool = True, **limits: Any) -> tuple[Machine, list[dict[str, int]]]:
    """Run `tasks`, observed; rounds and wrong results of the second and third task."""
    library()
    elf = build("tasks", board, "wolfssl", build="hardware")
    machine = Machine(board)
    machine.load(elf)
    if not locks:
        machine.stub(["wc_LockMutex=0", "wc_UnLockMutex=0"])
    machine.observe()
    machine.run(**limits)
    work, base = layouts(elf, {"work"})["work"], machine.symbol("works").address
    return machine, [
        {name: machine.read_word(base + task * work.size + work[name].offset) for name in ("rounds", "wrong")}
        for task in range(2)
    ]


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("board", ["stm3221g-eval", "stm32f437i-eval"])
def test_three_tasks_share_the_engines(board: str) -> None:
    """Up to the last symmetric test of wolfCrypt; docs/wolfssl.md tells of runs to the end, which take minutes."""
    machine, tasks = three_tasks(board, until="AES-CCM  test passed!", seconds=4)
    assert "AES-CCM  test passed!" in machine.console.text
    assert "failed" not in machine.console.text
    assert [task["wrong"] for task in tasks] == [0, 0]
    assert min(task["rounds"] for task in tasks) > 100
    assert machine.read_word(machine.symbol("tasks_switches").address) > 3000
    assert machine.observer is not None
    assert not machine.observer.findings, machine.observer.findings.show()
    assert machine.reports.guest_errors == {}


@needs_gcc
@pytest.mark.slow
def test_three_tasks_without_locks_are_found_out() -> None:
    """The same with the mutex doing nothing: results are wrong, and the findings say why."""
    machine, tasks = three_tasks("stm32f437i-eval", locks=False, seconds=1.0)
    assert sum(task["wrong"] for task in tasks) > 0
    assert machine.observer is not None
    assert {"O1", "O13"} <= {finding.rule for finding in machine.observer.findings}


@needs_gcc
@pytest.mark.slow
def test_a_benchmark_row_of_wolfcrypts_own_program() -> None:
    library()
    result = bench(
        "stm32f437i-eval", library="wolfssl", builds=["hardware"], rows="AES-128-CBC-enc,RSA 2048 public", jobs=1
    )
    row = result.row("AES-128-CBC-enc")
    published = row.published_value(row.published_hardware)
    assert published is not None
    assert abs(row.columns["hardware"].value / published - 1) < 0.15
    assert row.columns["hardware"].blocks == ("CRYP",)


def test_a_folder_that_is_no_wolfssl(tmp_path: Path) -> None:
    with pytest.raises(CryplabError, match=re.escape("no wolfSSL sources here, wolfcrypt/src/aes.c is missing")):
        build("test", "stm3221g-eval", "wolfssl", source=tmp_path)
