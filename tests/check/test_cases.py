"""The cases: what there is of them, that they are legal, that they can be made again."""

from collections import Counter

import pytest

from cryplab.check.cases import GROUPS, LEVELS, Level, all_cases
from cryplab.check.oracle import Oracle


@pytest.mark.parametrize("level", ["quick", "default"])
def test_every_case_is_legal_and_has_a_title_of_its_own(level: Level) -> None:
    titles: Counter[str] = Counter()
    for case in all_cases(level, 0):
        titles[case.title] += 1
        oracle = Oracle()
        for step in case.steps:
            oracle.run(step)
    assert max(titles.values()) == 1
    assert {title.split("/")[1] for title in titles} == set(GROUPS)


def test_levels_grow() -> None:
    counts = [sum(1 for _ in all_cases(level, 0)) for level in LEVELS[:2]]
    assert counts[0] > 1500
    assert counts[1] > 4 * counts[0]


def test_same_seed_same_cases() -> None:
    assert list(all_cases("quick", 3)) == list(all_cases("quick", 3))
    assert list(all_cases("quick", 3)) != list(all_cases("quick", 4))


def test_every_length_to_130_around_1_and_64_kib() -> None:
    sizes = {
        len(case.steps[-1].data)
        for case in all_cases("default", 0)
        if case.algorithm == "SHA-256" and case.group in ("lengths", "zero") and case.steps[-1].does == "digest"
    }
    assert sizes == {*range(131), 1023, 1024, 1025, 65535, 65536, 65537}


def test_every_split_and_every_aad() -> None:
    cases = [case for case in all_cases("default", 0) if case.algorithm in ("SHA-256", "AES-GCM")]
    first = {len(c.steps[2].data) for c in cases if c.algorithm == "SHA-256" and c.name.startswith("130 bytes at")}
    assert first == set(range(131))
    aads = {len(c.steps[-1].aad) for c in cases if c.group == "aad"}
    assert aads == {*range(71), 65279, 65280}


def test_two_to_twelve_contexts() -> None:
    cases = [case for case in all_cases("default", 0) if case.algorithm == "mixed"]
    assert {len({step.context for step in case.steps}) for case in cases} == set(range(2, 13))


def test_only_what_is_available() -> None:
    kinds = {"AES", "AES encryption key", "AES decryption key", "AES-ECB"}
    cases = list(all_cases("quick", 0, kinds.__contains__))
    assert {case.algorithm for case in cases} == {"AES-ECB", "mixed"}
    assert all(case.kinds <= kinds for case in cases)


ONE_WAY = {"AES", "AES encryption key", "AES-ECB", "AES-CBC", "AES-CTR"}


def test_one_direction_alone_is_used_in_every_group_that_makes_sense_of_it() -> None:
    cases = list(all_cases("quick", 0, ONE_WAY.__contains__))
    steps = [step for case in cases for step in case.steps]
    assert all(step.encrypt for step in steps if step.does == "setkey" or step.kind in ("ECB", "CBC"))
    assert {case.group for case in cases if case.algorithm == "AES-CBC"} == {
        "vectors", "zero", "lengths", "splits", "in-place", "alignment", "edges", "continuation", "keys", "contexts",
    }  # fmt: skip
    assert "twelve contexts" in {case.name for case in cases if case.algorithm == "AES-ECB"}
    oracle = Oracle()
    for case in cases:
        for step in case.steps:
            oracle.run(step)


def test_decryption_alone_goes_too() -> None:
    kinds = {"AES", "AES decryption key", "AES-ECB", "AES-CBC"}
    steps = [step for case in all_cases("quick", 0, kinds.__contains__) for step in case.steps]
    assert steps
    assert not any(step.encrypt for step in steps if step.does in ("setkey", "crypt"))


def test_a_key_size_that_cannot_be_set_is_left_out() -> None:
    kinds = {"DES3", "DES3 24 encryption key", "DES3 24 decryption key", "DES3-ECB"}
    steps = [step for case in all_cases("quick", 0, kinds.__contains__) for step in case.steps]
    assert {len(step.key) for step in steps if step.does == "setkey"} == {24}


def test_clone_needs_the_function() -> None:
    (case,) = (c for c in all_cases("quick", 0) if c.title == "MD5/clone/after 0 bytes")
    assert "MD5 clone" in case.kinds
