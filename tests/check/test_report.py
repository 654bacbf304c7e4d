"""The result as text, JSON and JUnit, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import wrong
from click.testing import CliRunner
from junitparser import JUnitXml

from cryplab.cli import cli
from firmware_builds import needs_gcc

pytestmark = needs_gcc


def run(*arguments: str, fault: str = "RIGHT") -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["check", str(wrong.build(fault)), "--quick", "-q", "-j", "1", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout


def test_table_of_a_right_driver() -> None:
    code, text = run("--only", "AES-ECB", "--no-findings")
    assert code == 0
    lines = text.splitlines()
    assert lines[0] == "algorithm  calls  verdict  cases by group"
    assert lines[1].startswith("AES-ECB")
    assert "interleave 2" in text
    assert " calls, all right; " in lines[-1]
    assert max(len(line) for line in lines) <= 80


def test_verbose_has_a_line_for_each_group() -> None:
    _, text = run("--only", "AES-ECB", "--no-findings", "-v")
    assert ["AES-ECB", "turnaround", "3", "39", "0", "OK"] in [line.split() for line in text.splitlines()]


def test_json() -> None:
    code, text = run("--only", "AES-ECB/interleave", "--json", fault="SHARED_KEY")
    found = json.loads(text)
    assert code == 1
    assert found["failed"] == 2
    assert found["verdicts"][0]["verdict"] == "FAIL"
    assert found["failures"][0]["python"].startswith("# output is ")
    assert {finding["rule"] for finding in found["findings"]} >= {"O1"}
    assert found["findings"][0]["where"]["file"].endswith("wrong.c")
    missing = {entry["function"]: entry["text"] for entry in found["not_callable"]}
    assert missing["mbedtls_gcm_setkey"].startswith("mbedtls_gcm_setkey: not in the firmware; link its module")


def test_finding_alone_fails_a_case() -> None:
    """The rule sees the shared key; the case has findings even where two results happen to be right."""
    _, text = run("--only", "AES-ECB/contexts", "--json", fault="SHARED_KEY")
    assert json.loads(text)["findings"]


def test_junit_opens_in_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "check.xml"
    code, _ = run("--only", "AES-ECB,RNG", "--junit", str(path), fault="SHARED_KEY")
    assert code == 1
    xml = JUnitXml.fromfile(str(path))
    names = {suite.name: suite for suite in xml}
    assert set(names) == {"AES-ECB", "RNG", "findings"}
    assert names["AES-ECB"].failures > 0
    assert names["RNG"].failures == 0
    failed = next(case for case in names["AES-ECB"] if case.name == "interleave")
    assert "machine.call(" in failed.result[0].text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--inject", "cryp-slo"], "--inject cryp-slo: no such error; did you mean 'cryp-slow'?"),
        (["--inject", "cryp-slow=x"], "--inject cryp-slow=x: 'x' is no number"),
        (["--board", "nucleo-f429zi", "--inject", "cryp-slow"], "--inject cryp-slow: stm32f429zi has no CRYP"),
        (["--init", "main_ini"], "has no symbol 'main_ini'"),
        (["--only", "SHA-3"], "--only SHA-3: no case of this firmware has such a title"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(cli, ["check", str(wrong.build()), "--quick", "-q", *arguments])
    assert message in str(done.exception)
