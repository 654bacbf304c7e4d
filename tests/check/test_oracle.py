"""The oracle against published vectors; what it refuses to judge."""

import pytest

from cryplab.check.cases import published
from cryplab.check.cases.aead import iv_of_counter, pair
from cryplab.check.cases.common import Maker
from cryplab.check.oracle import Misuse, Oracle, plaintext
from cryplab.check.script import Case, Step

KEY, IV, TEXT = bytes(range(16)), bytes(range(16, 32)), bytes(range(100, 164))


def outputs(*steps: Step) -> list[dict[str, bytes]]:
    oracle = Oracle()
    return [dict(oracle.run(step).outputs) for step in steps]


def agreeing(cases: list[Case]) -> int:
    """Published outputs that the oracle gives, too."""
    done = 0
    for case in cases:
        oracle = Oracle()
        for number, step in enumerate(case.steps):
            expected = oracle.run(step)
            for name, value in case.published.get(number, {}).items():
                assert expected.outputs[name] == value, case.title
                done += 1
    return done


def test_built_in_vectors() -> None:
    assert agreeing(list(published._built_in())) == 2 * len(published.BUILT_IN) + 4 + 2 * 3


@pytest.mark.skipif(published.folder() is None, reason="cryptography-vectors is not installed")
def test_files_of_vectors() -> None:
    cases = list(published.cases(Maker("default", 0)))
    assert agreeing(cases) > 2500
    assert {case.algorithm for case in cases} >= {
        "AES-GCM",
        "AES-CCM",
        "3DES-CBC",
        "DES-ECB",
        "SHA-224",
        "HMAC-SHA-512",
    }


def test_chaining_is_the_same_as_one_call() -> None:
    for mode in ("CBC", "CTR", "CFB", "OFB"):
        start = [Step("open", kind="AES"), Step("setkey", key=KEY)]
        whole = outputs(*start, Step("crypt", kind=mode, iv=IV, data=TEXT))[-1]
        parts = outputs(
            *start, Step("crypt", kind=mode, iv=IV, data=TEXT[:32]), Step("crypt", kind=mode, data=TEXT[32:])
        )[-2:]
        assert parts[0]["output"] + parts[1]["output"] == whole["output"]
        assert parts[1]["iv"] == whole["iv"]


def test_counter_of_the_caller_wraps_at_128_bits() -> None:
    steps = [
        Step("open", kind="AES"),
        Step("setkey", key=KEY),
        Step("crypt", kind="CTR", iv=b"\xff" * 16, data=TEXT[:32]),
    ]
    assert outputs(*steps)[-1]["iv"] == bytes(15) + b"\x01"


def test_wrong_tag_names_the_plaintext_that_must_not_leak() -> None:
    import random

    for kind in ("GCM", "CCM"):
        sealed, unsealed = pair(random.Random(1), kind, KEY, 45)
        oracle = Oracle()
        oracle.run(Step("open", kind=kind))
        oracle.run(Step("setkey", key=KEY))
        wrong = Step("unseal", iv=unsealed.iv, aad=unsealed.aad, data=unsealed.data, tag=bytes(16))
        expected = oracle.run(wrong)
        assert (expected.status, expected.forbidden["output"]) == ("refused", sealed.data)
        assert oracle.run(unsealed).outputs["output"] == sealed.data


def test_iv_that_gives_a_counter_about_to_wrap() -> None:
    """J0 is E(K, J0) in the tag of an empty message: the tag shows which counter block was used."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    counter = 0x0123456789ABCDEF01234567_FFFFFFFF
    context = Cipher(algorithms.AES(KEY), modes.GCM(iv_of_counter(KEY, counter))).encryptor()
    context.finalize()
    block = Cipher(algorithms.AES(KEY), modes.ECB()).encryptor().update(counter.to_bytes(16, "big"))
    assert context.tag == block
    assert plaintext("GCM", KEY, iv_of_counter(KEY, counter), b"", bytes(16), 16) != bytes(16)


AES = [Step("open", kind="AES"), Step("setkey", key=KEY)]
GCM = [Step("open", kind="GCM"), Step("setkey", key=KEY), Step("starts", iv=IV)]
CTR = Step("crypt", kind="CTR", iv=IV, data=b"1")
HASH = [Step("open", kind="SHA-256"), Step("starts")]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([Step("open", kind="AES"), Step("crypt", kind="ECB", data=bytes(16))], "no key"),
        ([*AES, Step("crypt", kind="ECB", data=bytes(17))], "not one block"),
        ([*AES, Step("crypt", kind="ECB", encrypt=False, data=bytes(16))], "the key was set for the other direction"),
        ([*AES, Step("crypt", kind="CTR", data=bytes(16))], "nothing to go on from"),
        ([*AES, CTR, Step("crypt", kind="CFB", data=b"1")], "nothing to go on from"),
        ([*HASH, Step("finish"), Step("update", data=b"1")], "not started"),
        ([Step("open", kind="GCM"), Step("seal", iv=IV, data=b"1", length=16)], "no key or IV"),
        ([*GCM, Step("update", data=b"1"), Step("update", data=b"2")], "behind a part that was no whole block"),
        ([*HASH, Step("free"), Step("update", data=b"1")], "0"),
        ([Step("open", kind="CTR-DRBG"), Step("random", length=4)], "no seed"),
    ],
)  # fmt: skip
def test_steps_that_the_api_does_not_allow(steps: list[Step], message: str) -> None:
    oracle = Oracle()
    for step in steps[:-1]:
        oracle.run(step)
    with pytest.raises(Misuse, match=message):
        oracle.run(steps[-1])
