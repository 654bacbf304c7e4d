"""The rules' texts: complete, and of use to somebody who has a finding."""

from __future__ import annotations

import pytest

from cryplab.errors import UsageError
from cryplab.observe import rules
from cryplab.observe.explain import KINDS, RULES, explain
from cryplab.observe.observer import GUEST_ERROR_KINDS


def test_every_rule_has_a_text() -> None:
    assert list(RULES) == [f"O{n}" for n in range(1, 23)]
    for text in RULES.values():
        assert text.meaning.endswith(".")
        assert text.cases


def test_every_rule_but_pka_is_judged() -> None:
    """O20 waits for a chip with a PKA."""
    assert {rule.id for rule in rules.ALL} == set(RULES) - {"O20"}


def test_kinds_of_guest_errors_are_known() -> None:
    assert set(GUEST_ERROR_KINDS.values()) <= set(KINDS)


def test_text_fits_a_terminal() -> None:
    for rule in RULES:
        lines = [str(line) for line in explain(rule.lower()).render()]
        assert all(len(line) <= 80 for line in lines)
        assert lines[0].startswith(f"{rule}: ")
        assert any(line.startswith("  B") for line in lines)


def test_unknown_rule() -> None:
    with pytest.raises(UsageError, match=r"^there is no rule 'O23', only O1 to O22; did you mean 'O\d+'\?$"):
        explain("O23")
