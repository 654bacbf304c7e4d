"""wolfCrypt's functions as the rules see them: the table against the library's headers, IVs that a context holds."""

from __future__ import annotations

import re

import pytest

from cryplab.errors import ToolError
from cryplab.guest import library
from cryplab.observe.api import known_functions
from cryplab.observe.api.wolfcrypt import FUNCTIONS
from observe import play
from observe.play import CBC, CTR, ECB, Play

KEY, TEXT, IV = bytes(range(16)), bytes(range(64)), bytes(range(200, 216))
HEADERS = ("aes", "des3", "md5", "sha", "sha256", "hash", "hmac", "random")
PROTOTYPE = re.compile(r"WOLFSSL_API\s+(?:WARN_UNUSED_RESULT\s+)?\w+\s+(wc_\w+)\s*\(([^)]*)\)\s*;")


# -- the table -------------------------------------------------------------------------------------
def prototypes() -> dict[str, int]:
    """Functions of wolfSSL's public headers, and how many arguments they have."""
    try:
        folder = library("wolfssl") / "wolfssl" / "wolfcrypt"
    except ToolError as missing:
        pytest.skip(str(missing))
    text = "\n".join((folder / f"{name}.h").read_text() for name in HEADERS)
    return {name: len(arguments.split(",")) for name, arguments in PROTOTYPE.findall(text)}


@pytest.mark.slow
def test_every_function_is_in_the_headers_with_as_many_arguments() -> None:
    declared = prototypes()
    assert len(declared) > 100
    assert {f.name: len(f.arguments) for f in FUNCTIONS} == {f.name: declared.get(f.name) for f in FUNCTIONS}


def test_no_name_is_there_twice() -> None:
    names = [f.name for f in FUNCTIONS]
    assert len(names) == len(set(names))
    assert set(names) <= set(known_functions())


# -- IVs in the context ----------------------------------------------------------------------------
class Aes:
    """A context of wolfCrypt's with a key; `iv` as the right driver would keep it."""

    def __init__(self, p: Play, iv: bytes | None = IV, *, decrypt: bool = False) -> None:
        self.p, self.address, self.decrypt = p, p.put(bytes(320)), decrypt
        self.iv = iv or bytes(16)
        with p.call("wc_AesSetKey", self.address, p.put(KEY), 16, p.put(iv) if iv else 0, int(decrypt)):
            pass

    def set_iv(self, iv: bytes) -> None:
        with self.p.call("wc_AesSetIV", self.address, self.p.put(iv)):
            self.iv = iv

    def cbc(self, data: bytes, loaded: bytes | None = None, *, result: int = 0) -> None:
        """One call; `loaded` is the IV that a wrong driver starts from."""
        p, target = self.p, self.p.put(bytes(len(data) + 16))
        name = "wc_AesCbcDecrypt" if self.decrypt else "wc_AesCbcEncrypt"
        with p.call(name, self.address, target, p.put(data), len(data), result=result):
            if data:
                made = play.aes(p, CBC, KEY, data, self.iv if loaded is None else loaded, decrypt=self.decrypt)
                p.put(made, target)
                self.iv = (data if self.decrypt else made)[-16:]

    def ctr(self, size: int, counter: int) -> None:
        """One call that makes its key stream from the counter so many behind the IV."""
        p = self.p
        with p.call("wc_AesCtrEncrypt", self.address, p.put(bytes(size + 16)), p.put(TEXT[:size]), size):
            there = (int.from_bytes(IV, "big") + counter).to_bytes(16, "big")
            play.aes(p, CTR, KEY, TEXT[:size].ljust(-(-size // 16) * 16, b"\0"), there)


@pytest.mark.parametrize("decrypt", [False, True])
@pytest.mark.parametrize("iv", [IV, None])
def test_calls_that_go_on_from_each_other(decrypt: bool, iv: bytes | None) -> None:
    """A null pointer sets zeros; an empty call and a new IV are right, too."""
    p = Play()
    aes = Aes(p, iv, decrypt=decrypt)
    for data in (TEXT[:32], b"", TEXT[32:48], TEXT):
        aes.cbc(data)
    aes.set_iv(IV[::-1])
    aes.cbc(TEXT)
    p.observer.finish("finished")
    assert p.found == [], p.observer.findings.show()


@pytest.mark.parametrize("decrypt", [False, True])
def test_a_second_call_that_starts_from_another_value(decrypt: bool) -> None:
    p = Play()
    aes = Aes(p, decrypt=decrypt)
    aes.cbc(TEXT[:32])
    wanted = aes.iv
    aes.cbc(TEXT[:32], loaded=IV)
    finding = p.only("O9")
    assert finding.kind == "iv-not-updated-for-chaining"
    assert f"should go on from the IV {wanted.hex()}" in finding.text


def test_after_an_error_the_iv_is_not_known() -> None:
    p = Play()
    aes = Aes(p)
    aes.cbc(TEXT[:32], result=-107)
    aes.cbc(TEXT[:32], loaded=IV)
    assert p.found == [], p.observer.findings.show()


def test_ctr_goes_on_inside_a_block() -> None:
    """21 bytes need two counters; of the second block's key stream 11 bytes are left, so 16 more need the third."""
    p = Play()
    aes = Aes(p)
    aes.ctr(21, 0)
    aes.ctr(16, 2)
    assert p.found == [], p.observer.findings.show()
    aes.ctr(16, 0)
    assert p.only("O9").kind == "iv-not-updated-for-chaining"


# -- direction, keys, digests ----------------------------------------------------------------------
def des_ecb(decrypting_key: bool, decrypts: bool) -> Play:
    """The direction of single blocks is that of the key; `decrypts` is what the driver does."""
    p = Play()
    des, key = p.put(bytes(160)), bytes.fromhex("8001010101010101")
    with p.call("wc_Des_SetKey", des, p.put(key), 0, int(decrypting_key)):
        pass
    with p.call("wc_Des_EcbEncrypt", des, p.put(bytes(8)), p.put(TEXT[:8]), 8):
        config = 2 << 3 | play.BYTES | (play.DECRYPT if decrypts else 0)
        p.w("CRYP.CR", config)
        for name, word in zip(("K1LR", "K1RR"), play.words(key), strict=True):
            p.w(f"CRYP.{name}", word)
        p.w("CRYP.CR", config | play.CRYPEN)
        play.block(p, TEXT[:8])
        p.w("CRYP.CR", config)
    return p


@pytest.mark.parametrize("decrypting_key", [False, True])
def test_direction_of_the_key(decrypting_key: bool) -> None:
    assert des_ecb(decrypting_key, decrypting_key).found == []
    assert des_ecb(decrypting_key, not decrypting_key).only("O19").title == "ALGODIR does not fit the call"


def test_a_key_of_another_context() -> None:
    """Key sizes come in bytes."""
    p = Play()
    one, other = Aes(p), Aes(p)
    with p.call("wc_AesEncryptDirect", one.address, p.put(bytes(16)), p.put(TEXT[:16])):
        play.aes(p, ECB, KEY, TEXT[:16])
    with p.call("wc_AesSetKey", other.address, p.put(KEY[::-1]), 16, 0, 0):
        pass
    assert p.found == []
    with p.call("wc_AesEncryptDirect", other.address, p.put(bytes(16)), p.put(TEXT[:16])):
        play.aes(p, ECB, KEY, TEXT[:16], load=False)
    assert p.only("O1").kind == "context-lost-on-interleave"


def sha(p: Play, context: int, data: bytes, fed: bytes) -> None:
    """A message with no start: wolfCrypt's contexts are ready again after a digest."""
    with p.call("wc_ShaUpdate", context, p.put(data), len(data)):
        play.hash_start(p, "SHA-1")
        play.hash_feed(p, fed[: len(fed) // 4 * 4])
    with p.call("wc_ShaFinal", context, p.put(bytes(20))):
        play.hash_end(p, "SHA-1", fed[len(fed) // 4 * 4 :])


def test_messages_after_one_start() -> None:
    p = Play()
    context = p.put(bytes(300))
    with p.call("wc_InitSha", context):
        pass
    for size in (20, 33, 7):
        sha(p, context, TEXT[:size], TEXT[:size])
    assert p.found == [], p.observer.findings.show()
    sha(p, context, TEXT[:21], TEXT[:21].ljust(24, b"\0"))
    assert "was given 21 bytes; HASH counts 6 words" in p.only("O8").text


@pytest.mark.parametrize("before", [b"", b"three"])
def test_the_end_of_an_update_is_no_wrong_order(before: bytes) -> None:
    """A word with one byte of the message; with what an earlier word left behind it, it looks like other data."""
    for data in (b"One byte is left after words Data", b"One byte is left after words dad!"):
        p = Play(deep=True)
        context = p.put(bytes(300))
        with p.call("wc_InitSha", context):
            pass
        if before:
            with p.call("wc_ShaUpdate", context, p.put(before), len(before)):
                pass
        with p.call("wc_ShaUpdate", context, p.put(data), len(data)):
            play.hash_start(p, "SHA-1")
            play.hash_feed(p, data[:28] + data[-1:] + data[-4:-1])
        assert p.found == [], p.observer.findings.show()


@pytest.mark.parametrize(("tested", "rules"), [(True, set()), (False, {"O16"})])
def test_a_seed_is_tested_by_who_asked_for_it(tested: bool, rules: set[str]) -> None:
    """A word that comes twice is no fault of the function that hands it on to a test."""
    p = Play()
    p.w("RNG.CR", 4)
    with p.call("wc_InitRng", p.put(bytes(64)), result=-209 if tested else 0):
        place = p.put(bytes(12))
        with p.call("wc_GenerateSeed", 0, place, 12):
            for i in range(3):
                p.wait("RNG.SR", 1, 1)
                p.put(p.r("RNG.DR", 0x5A5A_5A5A if i else None).to_bytes(4, "little"), place + 4 * i)
    assert p.rules == rules, p.observer.findings.show()
