"""The table of the HAL's functions: roles from the handle, and whose call it is when a library calls them."""

from __future__ import annotations

import pytest

from cryplab.layout import Layout, Member
from cryplab.observe.api import hal, known_functions
from cryplab.observe.contexts import Contexts
from cryplab.observe.events import CallEntry
from cryplab.observe.shadow.base import Stamp
from cryplab.observe.shadow.cryp import Aead

HANDLE, AES, STACK = 0x2000_0100, 0x2000_0200, 0x2000_8000
LAYOUTS = {
    hal.CRYP: Layout(32, {"Init.Algorithm": Member(4, 4), "Init.DataWidthUnit": Member(8, 4)}),
    hal.HASH: Layout(8, {"Phase": Member(5, 1)}),
}


class Memory:
    def __init__(self) -> None:
        self.data = bytearray(0x1000)

    def read(self, address: int, size: int) -> bytes | None:
        start = address - 0x2000_0000
        return bytes(self.data[start : start + size]) if 0 <= start <= len(self.data) - size else None

    def put(self, address: int, value: int, size: int = 4) -> None:
        start = address - 0x2000_0000
        self.data[start : start + size] = value.to_bytes(size, "little")


def contexts(memory: Memory, described: bool = True) -> Contexts:
    return Contexts(known_functions(), memory.read, LAYOUTS.get if described else lambda name: None)


def entry(function: str, *arguments: int, sp: int = STACK) -> CallEntry:
    return CallEntry(1, function, 0x0800_0000, sp, 0x0800_1001, arguments, ())


def test_both_interfaces_are_known() -> None:
    names = known_functions()
    for name in (
        "HAL_CRYP_AESCBC_Encrypt", "HAL_CRYP_TDESECB_Decrypt_DMA", "HAL_CRYPEx_AESGCM_Finish", "HAL_CRYP_Encrypt_IT",
        "HAL_CRYPEx_AESCCM_GenerateAuthTAG", "HAL_HASH_MD5_Start", "HAL_HASHEx_SHA256_Accumulate",
        "HAL_HASH_SHA1_Accmlt_End_IT", "HAL_HASHEx_SHA224_Start_DMA", "HAL_HASH_MD5_Finish", "HAL_HMAC_SHA1_Start",
        "HAL_HMACEx_SHA256_Start_IT", "HAL_HMACEx_MD5_Step2_3_DMA", "HAL_RNG_GenerateRandomNumber", "HAL_RNG_DeInit",
    ):  # fmt: skip
        assert names[name].arguments[0] == "ctx", name
        assert names[name].driver
        assert names[name].handle in (hal.CRYP, hal.HASH, hal.RNG)


@pytest.mark.parametrize(("algorithm", "what"), [(0x28, ("AES", "CBC")), (0x10, ("DES", "ECB")), (0x8_0000, ("", ""))])
def test_the_handle_says_the_algorithm(algorithm: int, what: tuple[str, str]) -> None:
    memory = Memory()
    memory.put(HANDLE + 4, algorithm)
    memory.put(HANDLE + 8, 1)
    call = contexts(memory).enter(entry("HAL_CRYP_Encrypt", HANDLE, 0x2000_0300, 48, 0x2000_0400, 100))
    assert (call.function.algorithm, call.function.mode) == what
    assert (call.get("length"), call.encrypts) == (48, True)
    assert str(call) == f"HAL_CRYP_Encrypt({HANDLE:#010x}, 48 bytes)"


def test_a_length_in_words_becomes_bytes_and_one_of_unknown_unit_is_none() -> None:
    memory = Memory()
    call = contexts(memory).enter(entry("HAL_CRYP_Decrypt_DMA", HANDLE, 0x2000_0300, 12, 0x2000_0400))
    assert call.get("length") == 48
    unknown = contexts(memory, described=False).enter(entry("HAL_CRYP_Decrypt", HANDLE, 0x2000_0300, 12, 0x2000_0400))
    assert "length" not in unknown.arguments
    assert unknown.behind_output == b""


@pytest.mark.parametrize(("phase", "does", "data_bytes"), [(1, "crypt", 10), (2, "finish", 74)])
def test_a_hash_begins_or_goes_on_as_the_handle_says(phase: int, does: str, data_bytes: int) -> None:
    memory = Memory()
    seen = contexts(memory)
    memory.put(HANDLE + 5, 1, 1)
    first = seen.enter(entry("HAL_HASH_SHA1_Accumulate", HANDLE, 0x2000_0300, 64))
    assert (first.function.does, first.object.data_bytes) == ("starts", 64)
    seen.leave(0x0800_1000, STACK)
    memory.put(HANDLE + 5, phase, 1)
    last = seen.enter(entry("HAL_HASH_SHA1_Start", HANDLE, 0x2000_0300, 10, 0x2000_0400))
    assert (last.function.does, last.object.data_bytes) == (does, data_bytes)


def test_inside_a_librarys_call_the_handle_stands_for_its_context() -> None:
    memory = Memory()
    seen = contexts(memory)
    outer = seen.enter(entry("mbedtls_aes_crypt_ecb", AES, 1, 0x2000_0300, 0x2000_0400))
    inner = entry("HAL_CRYP_AESECB_Encrypt", HANDLE, 0x2000_0300, 16, 0x2000_0400, sp=STACK - 64)
    assert seen.covers(inner)
    seen.leave(0x0800_1000, STACK)
    assert not outer.open
    handler = seen.enter(entry("HAL_CRYP_IRQHandler", HANDLE))
    assert handler.object is outer.object


def test_alone_it_is_a_call_of_its_own_and_a_tail_call_is_part_of_it() -> None:
    seen = contexts(Memory())
    assert not seen.covers(entry("HAL_HASH_SHA1_Accmlt_End", HANDLE))
    seen.enter(entry("HAL_HASH_SHA1_Accmlt_End", HANDLE))
    assert seen.covers(entry("HAL_HASH_SHA1_Start", HANDLE))
    assert not seen.covers(entry("HAL_HASH_SHA1_Start", HANDLE + 64, sp=STACK - 64))


def test_a_handlers_call_does_not_outlive_the_handler() -> None:
    """Its return is the exception's, which is no return to an address."""
    seen = contexts(Memory())
    seen.switch(-95)
    call = seen.enter(entry("HAL_CRYP_IRQHandler", HANDLE))
    seen.begin(-95)
    assert not call.open
    assert not seen.covers(entry("HAL_CRYP_IRQHandler", HANDLE))


def test_a_masked_block_of_a_call_of_its_own_ends_no_gcm_message() -> None:
    """The later HAL feeds it before it returns; the lengths follow in HAL_CRYPEx_AESGCM_GenerateAuthTAG."""
    message = Aead("GCM", Stamp(0, 0, None), (0, 0, 0, 2), 128)
    assert not message.ended
    message.excursion_blocks = 1
    message.final.append((1, 2, 3, 0))
    assert not message.ended
    message.final.append((0, 0, 0, 96))
    assert message.ended
    assert Aead("CCM", Stamp(0, 0, None), (0, 0, 0, 2), 128, excursion_blocks=1, final=[(0, 0, 0, 0)]).ended
