"""Our drivers through the library's calls, against another implementation: odd lengths, odd addresses, in place,
empty messages, pieces, contexts interleaved."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM

from cryplab.errors import ToolError
from cryplab.guest import build
from cryplab.machine import Machine
from firmware_builds import needs_gcc

pytestmark = [needs_gcc, pytest.mark.slow]
CONTEXT_BYTES = 1024
AES, ENCRYPT, DECRYPT = 2, 1, 0
AUTH_FAILED = {"gcm": -0x12, "ccm": -0x0F}
BAD_LENGTH = -0x22


@dataclass
class Guest:
    """A firmware whose functions are called; buffers at addresses with a chosen misalignment."""

    machine: Machine
    random: random.Random = field(default_factory=lambda: random.Random(7))

    def call(self, name: str, *args: int) -> int:
        code = self.machine.call(f"mbedtls_{name}", *args)
        return code - (1 << 32) if code >= 1 << 31 else code

    def put(self, data: bytes, shift: int | None = None) -> int:
        shift = self.random.randrange(4) if shift is None else shift
        return self.machine.allocate(bytes(shift) + data + bytes(4)) + shift

    def get(self, address: int, size: int) -> bytes:
        return self.machine.read_memory(address, size)

    def context(self, kind: str) -> int:
        address = self.machine.allocate(CONTEXT_BYTES)
        self.call(f"{kind}_init", address)
        return address


@pytest.fixture(scope="module", params=["hardware", "hal-style", "software"])
def firmware(request: pytest.FixtureRequest) -> Machine:
    try:
        elf = build("selftest", "ublox-c030-u201", build=request.param)
    except ToolError as missing:
        pytest.skip(str(missing))
    machine = Machine("ublox-c030-u201")
    machine.load(elf)
    machine.run(seconds=0.01)  # clocks are up
    return machine


@pytest.fixture
def guest(firmware: Machine) -> Iterator[Guest]:
    firmware.free_all()
    yield Guest(firmware)
    assert not firmware.reports.guest_errors


def data(guest: Guest, size: int) -> bytes:
    return guest.random.randbytes(size)


# ---- AES -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("in_place", [False, True])
def test_cbc_in_pieces(guest: Guest, bits: int, in_place: bool) -> None:
    for size in (16, 32, 48, 160, 1024):
        key, iv, text = data(guest, bits // 8), data(guest, 16), data(guest, size)
        cipher = Cipher(algorithms.AES(key), modes.CBC(iv))
        for mode, source in ((ENCRYPT, text), (DECRYPT, cipher.encryptor().update(text))):
            expected = cipher.encryptor().update(text) if mode == ENCRYPT else text
            context, running_iv = guest.context("aes"), guest.put(iv)
            guest.call(f"aes_setkey_{'enc' if mode else 'dec'}", context, guest.put(key), bits)
            into = guest.put(source)
            out = into if in_place else guest.put(bytes(size))
            first = size // 32 * 16
            for start, length in ((0, first), (first, 0), (first, size - first)):
                assert guest.call("aes_crypt_cbc", context, mode, length, running_iv, into + start, out + start) == 0
            assert guest.get(out, size) == expected, (size, mode)
            last = expected[-16:] if mode == ENCRYPT else source[-16:]
            assert guest.get(running_iv, 16) == last


def test_cbc_refuses_a_part_of_a_block(guest: Guest) -> None:
    context = guest.context("aes")
    guest.call("aes_setkey_enc", context, guest.put(bytes(16)), 128)
    assert (
        guest.call("aes_crypt_cbc", context, ENCRYPT, 17, guest.put(bytes(16)), guest.put(bytes(32)), 0) == BAD_LENGTH
    )


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_ecb_both_ways(guest: Guest, bits: int) -> None:
    key, block = data(guest, bits // 8), data(guest, 16)
    expected = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)
    context, out = guest.context("aes"), guest.put(bytes(16))
    guest.call("aes_setkey_enc", context, guest.put(key), bits)
    guest.call("aes_crypt_ecb", context, ENCRYPT, guest.put(block), out)
    assert guest.get(out, 16) == expected
    guest.call("aes_setkey_dec", context, guest.put(key), bits)
    guest.call("aes_crypt_ecb", context, DECRYPT, out, out)
    assert guest.get(out, 16) == block


@pytest.mark.parametrize("iv", [bytes(16), b"\xff" * 16, b"\0" * 12 + b"\xff\xff\xff\xfe", b"\x01" * 12 + b"\xff" * 4])
def test_ctr_in_odd_pieces_across_the_wrap(guest: Guest, iv: bytes) -> None:
    key, text = data(guest, 16), data(guest, 150)
    expected = Cipher(algorithms.AES(key), modes.CTR(iv)).encryptor().update(text)
    context = guest.context("aes")
    guest.call("aes_setkey_enc", context, guest.put(key), 128)
    offset, counter, stream = guest.put(bytes(4), 0), guest.put(iv), guest.put(bytes(16))
    into, out, done = guest.put(text), guest.put(bytes(150)), 0
    for size in (0, 1, 15, 16, 17, 40, 5, 56):
        assert guest.call("aes_crypt_ctr", context, size, offset, counter, stream, into + done, out + done) == 0
        done += size
    assert done == 150
    assert guest.get(out, 150) == expected


@pytest.mark.parametrize("size", [16, 17, 31, 32, 47, 100])
def test_xts(guest: Guest, size: int) -> None:
    key, unit, text = data(guest, 32), data(guest, 16), data(guest, size)
    expected = Cipher(algorithms.AES(key), modes.XTS(unit)).encryptor().update(text)
    context, out = guest.context("aes_xts"), guest.put(bytes(size))
    guest.call("aes_xts_setkey_enc", context, guest.put(key), 256)
    guest.call("aes_crypt_xts", context, ENCRYPT, size, guest.put(unit), guest.put(text), out)
    assert guest.get(out, size) == expected
    guest.call("aes_xts_setkey_dec", context, guest.put(key), 256)
    back = guest.put(bytes(size))  # the library's own XTS cannot steal in place
    guest.call("aes_crypt_xts", context, DECRYPT, size, guest.put(unit), out, back)
    assert guest.get(back, size) == text


# ---- GCM and CCM ---------------------------------------------------------------------------------

AEAD_SHAPES = [
    (12, 0, 0),
    (12, 16, 0),
    (12, 0, 1),
    (12, 5, 15),
    (12, 20, 60),
    (12, 33, 16),
    (12, 7, 100),
    (12, 64, 128),
]
GCM_IVS = [(1, 3, 17), (8, 20, 60), (16, 0, 5), (60, 20, 60), (13, 16, 32)]


@pytest.mark.parametrize(("iv_size", "add_size", "size"), AEAD_SHAPES + GCM_IVS)
def test_gcm(guest: Guest, iv_size: int, add_size: int, size: int) -> None:
    for bits in (128, 192, 256):
        key, iv, add, text = (data(guest, n) for n in (bits // 8, iv_size, add_size, size))
        sealed = reference_gcm(key, iv, add, text)
        context, into, out, tag = guest.context("gcm"), guest.put(text), guest.put(bytes(size)), guest.put(bytes(16))
        guest.call("gcm_setkey", context, AES, guest.put(key), bits)
        where = (guest.put(iv), iv_size, guest.put(add), add_size)
        assert guest.call("gcm_crypt_and_tag", context, ENCRYPT, size, *where, into, out, 16, tag) == 0
        assert guest.get(out, size) + guest.get(tag, 16) == sealed
        assert guest.call("gcm_auth_decrypt", context, size, *where, tag, 16, out, out) == 0
        assert guest.get(out, size) == text
        bad_tag = guest.put(bytes([sealed[size] ^ 1]) + sealed[size + 1 :])
        assert guest.call("gcm_auth_decrypt", context, size, *where, bad_tag, 16, into, out) == AUTH_FAILED["gcm"]
        assert guest.get(out, size) == bytes(size)


def reference_gcm(key: bytes, iv: bytes, add: bytes, text: bytes) -> bytes:
    if len(iv) >= 8:
        return AESGCM(key).encrypt(iv, text, add)
    from cryplab.algorithms.ghash import multiply  # the field only; J0 by SP 800-38D 7.1

    h = int.from_bytes(Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(bytes(16)), "big")

    def ghash(blocks: bytes) -> int:
        state = 0
        for start in range(0, len(blocks), 16):
            state = multiply(state ^ int.from_bytes(blocks[start : start + 16], "big"), h)
        return state

    def padded(part: bytes) -> bytes:
        return part + bytes(-len(part) % 16)

    j0 = ghash(padded(iv) + bytes(8) + (8 * len(iv)).to_bytes(8, "big"))
    first = j0 >> 32 << 32 | (j0 + 1) & 0xFFFF_FFFF
    sealed = Cipher(algorithms.AES(key), modes.CTR(first.to_bytes(16, "big"))).encryptor().update(text)
    sizes = (8 * len(add)).to_bytes(8, "big") + (8 * len(text)).to_bytes(8, "big")
    s = ghash(padded(add) + padded(sealed) + sizes)
    mask = Cipher(algorithms.AES(key), modes.CTR(j0.to_bytes(16, "big"))).encryptor().update(s.to_bytes(16, "big"))
    return sealed + mask


@pytest.mark.parametrize("mode", [ENCRYPT, DECRYPT])
def test_gcm_in_pieces_interleaved(guest: Guest, mode: int) -> None:
    """Two messages under different keys, in pieces, turn about; the last pieces are short."""
    messages = []
    for bits, iv_size, size in ((128, 12, 61), (256, 16, 45)):
        key, iv, add, text = (data(guest, n) for n in (bits // 8, iv_size, 21, size))
        sealed = AESGCM(key).encrypt(iv, text, add)
        source, expected = (text, sealed[:size]) if mode == ENCRYPT else (sealed[:size], text)
        context = guest.context("gcm")
        guest.call("gcm_setkey", context, AES, guest.put(key), bits)
        assert guest.call("gcm_starts", context, mode, guest.put(iv), iv_size, guest.put(add), 21) == 0
        messages.append((context, guest.put(source), guest.put(bytes(size)), size, expected, sealed[size:]))
    for start in range(0, 64, 16):
        for context, into, out, size, _expected, _tag in messages:
            part = min(16, size - start)
            if part > 0:
                assert guest.call("gcm_update", context, part, into + start, out + start) == 0
    for context, _into, out, size, expected, expected_tag in messages:
        tag = guest.put(bytes(16))
        assert guest.call("gcm_finish", context, tag, 16) == 0
        assert guest.get(out, size) == expected
        assert guest.get(tag, 16) == expected_tag


@pytest.mark.parametrize(("iv_size", "add_size", "size"), [*AEAD_SHAPES, (7, 14, 31), (13, 15, 32), (11, 300, 300)])
@pytest.mark.parametrize("tag_size", [4, 8, 16])
def test_ccm(guest: Guest, iv_size: int, add_size: int, size: int, tag_size: int) -> None:
    for bits in (128, 192, 256):
        key, iv, add, text = (data(guest, n) for n in (bits // 8, iv_size, add_size, size))
        sealed = AESCCM(key, tag_size).encrypt(iv, text, add)
        context, into, out, tag = guest.context("ccm"), guest.put(text), guest.put(bytes(size)), guest.put(bytes(16))
        guest.call("ccm_setkey", context, AES, guest.put(key), bits)
        where = (guest.put(iv), iv_size, guest.put(add), add_size)
        assert guest.call("ccm_encrypt_and_tag", context, size, *where, into, out, tag, tag_size) == 0
        assert guest.get(out, size) + guest.get(tag, tag_size) == sealed
        assert guest.call("ccm_auth_decrypt", context, size, *where, out, out, tag, tag_size) == 0
        assert guest.get(out, size) == text
        bad = guest.put(bytes([sealed[size] ^ 1]) + sealed[size + 1 :])
        assert guest.call("ccm_auth_decrypt", context, size, *where, into, out, bad, tag_size) == AUTH_FAILED["ccm"]


# ---- DES -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "set_key", "key_size"), [("des", "setkey", 8), ("des3", "set2key", 16), ("des3", "set3key", 24)]
)
def test_des(guest: Guest, kind: str, set_key: str, key_size: int) -> None:
    for size in (8, 16, 24, 72, 128):
        key, iv, text = data(guest, key_size), data(guest, 8), data(guest, size)
        whole = {8: key * 3, 16: key + key[:8], 24: key}[key_size]
        expected = Cipher(TripleDES(whole), modes.CBC(iv)).encryptor().update(text)
        context, out, running = guest.context(kind), guest.put(bytes(size)), guest.put(iv)
        guest.call(f"{kind}_{set_key}_enc", context, guest.put(key))
        guest.call(f"{kind}_crypt_cbc", context, ENCRYPT, size - 8, running, guest.put(text), out)
        guest.call(f"{kind}_crypt_cbc", context, ENCRYPT, 8, running, guest.put(text[-8:]), out + size - 8)
        assert guest.get(out, size) == expected
        guest.call(f"{kind}_{set_key}_dec", context, guest.put(key))
        guest.call(f"{kind}_crypt_cbc", context, DECRYPT, size, guest.put(iv), out, out)
        assert guest.get(out, size) == text


# ---- digests -------------------------------------------------------------------------------------

DIGESTS = [("md5", "md5", ()), ("sha1", "sha1", ()), ("sha256", "sha256", (0,)), ("sha256", "sha224", (1,))]


@pytest.mark.parametrize(("kind", "name", "starts"), DIGESTS)
def test_digest_of_every_length_to_two_blocks(guest: Guest, kind: str, name: str, starts: tuple[int, ...]) -> None:
    for size in [*range(0, 140), 191, 192, 193, 196, 1000]:
        guest.machine.free_all()
        message = data(guest, size)
        context, out = guest.context(kind), guest.put(bytes(32))
        guest.call(f"{kind}_starts_ret", context, *starts)
        cut = guest.random.randint(0, size)
        into = guest.put(message)
        guest.call(f"{kind}_update_ret", context, into, cut)
        guest.call(f"{kind}_update_ret", context, into + cut, size - cut)
        guest.call(f"{kind}_finish_ret", context, out)
        expected = hashlib.new(name, message).digest()
        assert guest.get(out, len(expected)) == expected, size


def test_digests_interleaved_cloned_and_rolled_back(guest: Guest) -> None:
    """Four algorithms turn about in odd pieces; a clone is made midway and goes another way."""
    jobs = []
    for kind, name, starts in DIGESTS:
        context, clone = guest.context(kind), guest.context(kind)
        guest.call(f"{kind}_starts_ret", context, *starts)
        jobs.append((kind, context, clone, hashlib.new(name)))
    clones = {}
    for turn, size in enumerate((5, 64, 3, 68, 1, 200, 63, 61, 4, 127)):
        for kind, context, clone, expected in jobs:
            piece = data(guest, size)
            guest.call(f"{kind}_update_ret", context, guest.put(piece), size)
            expected.update(piece)
            if turn == 5:
                guest.call(f"{kind}_clone", clone, context)
                clones[clone] = expected.copy()
    for kind, context, clone, expected in jobs:
        for which, reference in ((clone, clones[clone]), (context, expected)):
            out = guest.put(bytes(32))
            guest.call(f"{kind}_update_ret", which, guest.put(b"end"), 3)
            reference.update(b"end")
            guest.call(f"{kind}_finish_ret", which, out)
            assert guest.get(out, reference.digest_size) == reference.digest(), kind


def test_a_copy_put_back_over_its_context(guest: Guest) -> None:
    """The engine may hold a later state of the same address: the context in memory is what counts."""
    context, out = guest.context("sha256"), guest.put(bytes(32))
    first, lost, second = data(guest, 100), data(guest, 100), data(guest, 100)
    guest.call("sha256_starts_ret", context, 0)
    guest.call("sha256_update_ret", context, guest.put(first), 100)
    kept = guest.get(context, CONTEXT_BYTES)
    guest.call("sha256_update_ret", context, guest.put(lost), 100)
    guest.machine.write_memory(context, kept)
    guest.call("sha256_update_ret", context, guest.put(second), 100)
    guest.call("sha256_finish_ret", context, out)
    assert guest.get(out, 32) == hashlib.sha256(first + second).digest()


# ---- all at once ---------------------------------------------------------------------------------


def test_ciphers_of_different_contexts_turn_about(guest: Guest) -> None:
    """The story of the lost key: two AES contexts, then a GCM message and DES, none may disturb another."""
    steps: list[Callable[[], None]] = []
    for bits in (128, 256, 192):
        key, iv = data(guest, bits // 8), data(guest, 16)
        for mode in (ENCRYPT, DECRYPT):
            context, running = guest.context("aes"), guest.put(iv)
            guest.call(f"aes_setkey_{'enc' if mode else 'dec'}", context, guest.put(key), bits)
            cipher = Cipher(algorithms.AES(key), modes.CBC(iv))
            reference = cipher.encryptor() if mode == ENCRYPT else cipher.decryptor()

            def step(context: int = context, running: int = running, mode: int = mode, use: object = reference) -> None:
                text, out = data(guest, 32), guest.put(bytes(32))
                guest.call("aes_crypt_cbc", context, mode, 32, running, guest.put(text), out)
                assert guest.get(out, 32) == use.update(text)  # type: ignore[attr-defined]

            steps.append(step)
    for _turn in range(12):
        guest.random.choice(steps)()
        key, text = data(guest, 16), data(guest, 16)
        context, out = guest.context("des3"), guest.put(bytes(16))
        guest.call("des3_set2key_enc", context, guest.put(key))
        guest.call("des3_crypt_cbc", context, ENCRYPT, 16, guest.put(bytes(8)), guest.put(text), out)
        expected = Cipher(TripleDES(key + key[:8]), modes.CBC(bytes(8))).encryptor().update(text)
        assert guest.get(out, 16) == expected
