"""AES as an engine with key preparation sees it: the block cipher and its key schedule, run both ways.

Blocks are 16 bytes, keys 16, 24 or 32 bytes, most significant byte first, as FIPS 197 prints them.

An engine without room for a whole schedule keeps one key's worth of round key words and derives
the next as it goes. Encryption starts at the cipher key and walks forward. Decryption starts at the last words
of the schedule and walks back: that is what key preparation leaves in the key registers, and why
a decryption without it gives wrong data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

__all__ = ["block_decryption", "block_encryption", "cipher_key", "prepared_key"]

BlockFunction = Callable[[bytes], bytes]
"Takes and gives one block."


@lru_cache(maxsize=256)
def block_encryption(key: bytes) -> BlockFunction:
    """AES encryption of single blocks under `key`."""
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update


@lru_cache(maxsize=256)
def block_decryption(key: bytes) -> BlockFunction:
    """AES decryption of single blocks under `key` (the cipher key, not the prepared one)."""
    return Cipher(algorithms.AES(key), modes.ECB()).decryptor().update


def _substitution_box() -> bytes:
    """FIPS 197, 5.1.1: the inverse in GF(2^8), then the affine transformation."""
    inverse = [0] * 256
    value = other = 1
    for _ in range(255):  # 3 generates the field, 0xF6 is its inverse
        inverse[value] = other
        value ^= _double(value)
        other = _times_f6(other)
    return bytes(i ^ _rotate(i, 1) ^ _rotate(i, 2) ^ _rotate(i, 3) ^ _rotate(i, 4) ^ 0x63 for i in inverse)


def _double(byte: int) -> int:
    return (byte << 1) ^ (0x11B if byte & 0x80 else 0)


def _times_f6(byte: int) -> int:
    product = 0
    for bit in range(8):
        if 0xF6 >> bit & 1:
            product ^= byte
        byte = _double(byte)
    return product


def _rotate(byte: int, left: int) -> int:
    return (byte << left | byte >> (8 - left)) & 0xFF


_SBOX = _substitution_box()


def _sub_word(word: bytes) -> bytes:
    return word.translate(_SBOX)


def _mix(previous: bytes, index: int, words_in_key: int) -> bytes:
    """What word `index` of the schedule is XORed with, besides the word one key length before."""
    if index % words_in_key == 0:
        rcon = 1
        for _ in range(index // words_in_key - 1):
            rcon = _double(rcon)
        mixed = _sub_word(previous[1:] + previous[:1])
        return bytes((mixed[0] ^ rcon,)) + mixed[1:]
    if words_in_key == 8 and index % words_in_key == 4:
        return _sub_word(previous)
    return previous


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _words(data: bytes) -> list[bytes]:
    return [data[i : i + 4] for i in range(0, len(data), 4)]


def _schedule_length(words_in_key: int) -> int:
    return 4 * (words_in_key + 7)  # one round key for each round and one before


@lru_cache(maxsize=256)
def prepared_key(key: bytes) -> bytes:
    """The last words of the key schedule, as many as the key has (FIPS 197, 5.2)."""
    size = len(key) // 4
    schedule = _words(key)
    for index in range(size, _schedule_length(size)):
        schedule.append(_xor(schedule[index - size], _mix(schedule[index - 1], index, size)))
    return b"".join(schedule[-size:])


@lru_cache(maxsize=256)
def cipher_key(prepared: bytes) -> bytes:
    """The key whose schedule ends in `prepared`: the inverse of `prepared_key`."""
    size = len(prepared) // 4
    schedule = _words(prepared)
    for index in range(_schedule_length(size) - 1, size - 1, -1):
        schedule.insert(0, _xor(schedule[-1], _mix(schedule[-2], index, size)))
        schedule.pop()
    return b"".join(schedule)
