"""Drivers with one fault each: the fault is found by its rule at its line, the correct twin is clean."""

from __future__ import annotations

import re

import pytest
from tests.firmware_builds import needs_gcc

from cryplab.errors import UsageError
from cryplab.guest.faulty import CASES, HERE, Case, build_faulty, case_of, lines_of
from cryplab.guest.faulty.run import run_case
from cryplab.guest.faulty.table import faults
from cryplab.inject import INJECTIONS
from cryplab.observe.explain import KINDS

LEAST_CASES, COLUMNS = 70, 80
SURVIVED = [name for name, known in INJECTIONS.items() if known.owes == "survive" and not name.startswith("task")]
"Errors that a right driver survives; the other task of a switch is brought by `check`."


def _marked() -> list[object]:
    """One case of each rule and file in the quick run, all in the slow one."""
    seen: set[tuple[str, str]] = set()
    marked: list[object] = []
    for case in CASES:
        quick = (case.rule, case.file) not in seen and case.ends == "finished"
        if quick:
            seen.add((case.rule, case.file))
        marked.append(pytest.param(case, id=case.id, marks=[] if quick else [pytest.mark.slow]))
    return marked


@needs_gcc
@pytest.mark.parametrize("case", _marked())
def test_fault_is_found_and_twin_is_clean(case: Case) -> None:
    """Both run under the same injected error."""
    right = run_case(case, faulty=False)
    assert not right.findings, "\n\n".join(finding.show() for finding in right.findings)
    assert right.clean, (right.outcome, right.wrong)
    faulty = run_case(case, faulty=True)
    shown = "\n\n".join(finding.show() for finding in faulty.findings)
    assert faulty.found, f"{case.rule} at {case.file}:{lines_of(case)} was expected, found was:\n{shown}"
    assert faulty.outcome.reason == case.ends
    assert case.rule in ("check", "crash") or any(finding.rule == case.rule for finding in faulty.findings)


def _right_programs() -> list[Case]:
    """One case for each correct program that needs no error of its own."""
    programs = {(case.file, case.scenario): case for case in reversed(CASES) if not case.inject}
    programs.pop(("tasks.c", "pool_without_clock"), None)
    return list(programs.values())


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize("error", SURVIVED)
def test_correct_twins_survive(error: str) -> None:
    """Slow and fast blocks, an interrupt at each access: right results and no finding."""
    for case in _right_programs():
        run = run_case(case, faulty=False, also=[error])
        assert run.clean, (case.id, error, run.outcome, [finding.show() for finding in run.findings])


def test_there_are_enough_cases_of_all_kinds() -> None:
    """70 at least, each named once, of kinds that the observer knows."""
    assert len(CASES) >= LEAST_CASES
    assert len({case.id for case in CASES}) == len(CASES)
    # not here: a second core, a data cache, PKA, unknown causes
    assert {"context-lost-on-interleave", "stale-config-carryover", "rng-error-unrecovered"} < {c.kind for c in CASES}
    assert {case.kind for case in CASES if case.rule != "crash"} <= set(KINDS)
    assert all(re.fullmatch(r"B\d+( B\d+)*", case.public) for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_declaration_and_source_agree(case: Case) -> None:
    """The C file has the fault, the scenario and the marked lines that the table names."""
    text = (HERE / case.file).read_text()
    assert f"FAULT({case.id})" in text
    assert re.search(rf"^int {case.scenario}\(void\)$", text, re.MULTILINE)
    assert lines_of(case)


def test_every_fault_of_the_sources_is_in_the_table() -> None:
    """No fault is written and never run."""
    written = {name for file in HERE.glob("*.c") for name in re.findall(r"FAULT\((\w+)\)", file.read_text())}
    assert written == {case.id for case in CASES}


@needs_gcc
def test_twins_differ_by_the_fault_alone() -> None:
    """Two programs from one source."""
    assert build_faulty("key_kept", faulty=True) != build_faulty("key_kept", faulty=False)
    assert build_faulty("key_kept") == build_faulty("key_kept", faulty=True)


def test_unknown_case() -> None:
    """One sentence with the nearest."""
    with pytest.raises(UsageError, match="no case 'key_kpt'; did you mean 'key_kept'"):
        case_of("key_kpt")
    with pytest.raises(UsageError, match="no case matches nothing"):
        faults(["nothing"])


@needs_gcc
def test_table_fits_80_columns() -> None:
    """Names the line; counts."""
    table = faults(["key_kept", "rng_software"])
    lines = table.render()
    assert max(map(len, lines)) <= COLUMNS
    assert lines[1].split() == [
        "key_kept", "context-lost-on-interleave", "O1", "run", f"aes.c:{lines_of(case_of('key_kept'))[0]}",
    ]  # fmt: skip
    assert "2 of 2 good: 2 faults of 2 kinds found at the right line, 2 twins clean" in lines
    assert table.exit_code == 0
    assert table.to_json()["cases"][1]["public"] == ["B100"]


@needs_gcc
def test_a_fault_that_is_missed_is_said_so() -> None:
    """A twin in the place of a faulty program is not found."""
    run = run_case(case_of("key_kept"), faulty=False)
    assert not run.found
    assert run.clean


@needs_gcc
@pytest.mark.slow
def test_cases_on_another_board() -> None:
    """The same on the other chip with these blocks."""
    result = faults(["key_kept", "hash_state_left", "rng_four_words"], board="nucleo-f439zi")
    assert result.exit_code == 0


def test_only_cases_that_the_chip_has() -> None:
    """A board without CRYP and HASH has the RNG cases; an empty choice is said so."""
    with pytest.raises(UsageError, match=r"no case matches key_kept; `cryplab faults` lists all 24 for stm32f429zi"):
        faults(["key_kept"], board="nucleo-f429zi")


@needs_gcc
@pytest.mark.slow
def test_cases_on_the_older_engines() -> None:
    """F2: CRYP version 1, RNG."""
    result = faults(["key_*", "cbc_*", "rng_seed*"], board="stm3221g-eval")
    assert result.exit_code == 0
