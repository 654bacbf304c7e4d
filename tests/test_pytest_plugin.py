"""The pytest plugin, run by pytest's own `pytester` on a small firmware."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

# `pytester` forgets what a run imports; extension modules cannot be imported twice, so they are here before
import cryplab.check.session
import cryplab.observe.attach
import cryplab.pytest_plugin  # noqa: F401
from firmware_builds import build, needs_gcc

sys.path.insert(0, str(Path(__file__).parent / "check"))
import wrong

pytest_plugins = ["pytester"]
pytestmark = needs_gcc

INSTALLED = any(entry.name == "cryplab" for entry in entry_points(group="pytest11"))
PLUGIN = [] if INSTALLED else ["-p", "cryplab.pytest_plugin"]
"A checkout that is not installed has to be named; an installed plugin would be there twice."

FIVE_LINES = """
def test_sum(machine, call):
    data = machine.allocate(b"123456789")
    assert call("sum_bytes", data, 9) == 477
"""


def run(pytester: pytest.Pytester, source: str, *options: str, firmware: Path | None = None) -> pytest.RunResult:
    pytester.makepyfile(source)
    given = [f"--cryplab-firmware={firmware}"] if firmware else []
    arguments = [*PLUGIN, "-p", "no:xdist", *given, *options]
    return pytester.runpytest_inprocess(*arguments)


def test_five_lines(pytester: pytest.Pytester) -> None:
    result = run(pytester, FIVE_LINES, firmware=build("small"))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["cryplab: *small.elf, board ublox-c030-u201, seed 0"])


def test_each_test_starts_from_the_booted_chip(pytester: pytest.Pytester) -> None:
    source = """
    import pytest
    @pytest.mark.parametrize("number", range(3))
    def test_counts(call, number):
        assert [call("count_calls"), call("count_calls")] == [1, 2]
    """
    run(pytester, source, firmware=build("small")).assert_outcomes(passed=3)


def test_wrong_result_fails(pytester: pytest.Pytester) -> None:
    source = "def test_it(call):\n    assert call('sum_bytes', b'ab', 2) == 1\n"
    result = run(pytester, source, firmware=build("small"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 195 == 1*"])


def test_crash_fails_with_its_place(pytester: pytest.Pytester) -> None:
    result = run(pytester, "def test_it(call):\n    call('bad_load')\n", firmware=build("small"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*bad_load faulted: *bad_load*small.c*"])


SHARED_KEY = """
def test_two_keys(machine, call):
    a, b, output = (machine.allocate(64) for _ in range(3))
    for context, key in ((a, bytes(16)), (b, bytes(range(16)))):
        call("mbedtls_aes_init", context)
        call("mbedtls_aes_setkey_enc", context, key, 128)
    call("mbedtls_aes_crypt_ecb", a, 1, bytes(16), output)
"""


def test_finding_fails_a_test_that_passed(pytester: pytest.Pytester) -> None:
    """No result is looked at: the rule alone sees another context's key."""
    result = run(pytester, SHARED_KEY, firmware=wrong.build("SHARED_KEY"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["O1 *"])


def test_no_finding_on_the_right_driver(pytester: pytest.Pytester) -> None:
    run(pytester, SHARED_KEY, firmware=wrong.build("RIGHT")).assert_outcomes(passed=1)


def test_findings_can_be_allowed(pytester: pytest.Pytester) -> None:
    run(pytester, SHARED_KEY, "--cryplab-no-findings", firmware=wrong.build("SHARED_KEY")).assert_outcomes(passed=1)
    marked = "import pytest\npytestmark = pytest.mark.cryplab(findings=False)\n" + SHARED_KEY
    run(pytester, marked, firmware=wrong.build("SHARED_KEY")).assert_outcomes(passed=1)


def test_marker_injects_an_error(pytester: pytest.Pytester) -> None:
    source = """
    import pytest
    def poll(machine, call):
        output, given = machine.allocate(64), machine.allocate(4)
        return call("mbedtls_hardware_poll", 0, output, 64, given)
    def test_usual(machine, call):
        assert poll(machine, call) == 0
    @pytest.mark.cryplab(inject=["rng-seed-error=3"])
    def test_seed_error(machine, call):
        assert poll(machine, call) != 0
    def test_usual_again(machine, call):
        assert poll(machine, call) == 0
    """
    run(pytester, source, "--cryplab-seed=3", firmware=wrong.build("RIGHT")).assert_outcomes(passed=3)


def test_firmware_from_the_ini_file(pytester: pytest.Pytester) -> None:
    pytester.makeini(f"[pytest]\ncryplab_firmware = {build('small')}\ncryplab_board = nucleo-f439zi\n")
    result = run(pytester, FIVE_LINES)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*board nucleo-f439zi*"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no firmware: give --cryplab-firmware FILE, or cryplab_firmware in the ini file"),
        (["--cryplab-firmware=missing.elf"], "missing.elf does not exist; expected an ELF32*"),
        (["--cryplab-firmware=SMALL", "--cryplab-board=ublox-c030"], "*ublox-c030*did you mean*"),
        (["--cryplab-firmware=SMALL", "--cryplab-inject=rng-seed"], "--inject rng-seed: no such error; did you mean*"),
        (["--cryplab-firmware=SMALL", "--cryplab-init=main_init"], "*has no symbol 'main_init'*"),
    ],
)
def test_bad_input_is_one_sentence(pytester: pytest.Pytester, options: list[str], message: str) -> None:
    options = [option.replace("SMALL", str(build("small"))) for option in options]
    result = run(pytester, FIVE_LINES, *options)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])


def test_plugin_costs_nothing_without_the_fixtures(pytester: pytest.Pytester) -> None:
    run(pytester, "import sys\ndef test_it():\n    assert 1\n").assert_outcomes(passed=1)


WOLFCRYPT = """
def digest(machine, call, *parts):
    context, output = machine.allocate(512), machine.allocate(20)
    assert call("wc_InitSha", context) == 0
    for part in parts:
        assert call("wc_ShaUpdate", context, part, len(part)) == 0
    assert call("wc_ShaFinal", context, output) == 0
    return machine.read_memory(output, 20).hex()

def test_words(machine, call):
    assert digest(machine, call, b"abcd", b"efgh") == "425af12a0743502b322e93a015bcf868e324d56a"

def test_odd_pieces(machine, call):
    digest(machine, call, b"abcde", b"fgh")
"""


@pytest.mark.slow
def test_findings_know_wolfcrypts_contexts(pytester: pytest.Pytester) -> None:
    from cryplab.errors import ToolError
    from cryplab.guest import build as build_guest

    try:
        elf = build_guest("check", "stm3221g-eval", "wolfssl", "hardware")
    except ToolError as missing:
        pytest.skip(str(missing))
    result = run(pytester, WOLFCRYPT, "--cryplab-board=stm3221g-eval", firmware=elf)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*O8 partial-last-block*", "*SHA-1 context 0x* *given 8 bytes*"])
