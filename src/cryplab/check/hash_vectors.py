"""Readers of published hash vectors: NIST CAVP response files and the RFC test cases in the same notation.

Files are lines `Name = value` with comments (`#`), `[L = 20]` headers and blank lines between records; numbers are
decimal, everything else is hexadecimal. A record ends with its `MD`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cryplab.errors import InputError

__all__ = ["HashVector", "MonteVector", "read_hash_vectors", "read_monte_vectors"]


@dataclass(frozen=True, slots=True)
class HashVector:
    """One message and its digest.

    `message` holds `bits` bits, the first one in bit 7 of byte 0; `key` is None for a plain hash; `line` is
    the line of the digest in the file.
    """

    message: bytes
    bits: int
    digest: bytes
    key: bytes | None
    line: int


@dataclass(frozen=True, slots=True)
class MonteVector:
    """One chain of the Monte Carlo test: 1000 digests, each of the last three before it."""

    seed: bytes
    digest: bytes
    line: int

    def run(self, hash_of: Callable[[bytes], bytes]) -> bytes:
        """The chain's last digest, with `hash_of` as the hash."""
        last = [self.seed] * 3
        for _ in range(1000):
            last = [*last[1:], hash_of(b"".join(last))]
        return last[-1]


def _assignments(path: Path) -> Iterator[tuple[int, str, str]]:
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: no vector file: {getattr(error, 'strerror', None) or 'not plain text'}") from error
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith(("#", "[")):
            yield number, name.strip(), value.strip()


def _hexadecimal(path: Path, line: int, name: str, value: str) -> bytes:
    try:
        return bytes.fromhex(value)
    except ValueError:
        raise InputError(
            f"{path}, line {line}: {name} is '{value[:20]}', expected pairs of hexadecimal digits"
        ) from None


def read_hash_vectors(path: Path | str) -> list[HashVector]:
    """The vectors of a `ShortMsg`, `LongMsg` or HMAC file.

    Raises: InputError for a file that cannot be read, has no vectors, or holds a message shorter than its Len.
    """
    path = Path(path)
    found: list[HashVector] = []
    bits, message = 0, b""
    key: bytes | None = None
    for line, name, value in _assignments(path):
        if name == "Len":
            if not value.isdecimal():
                raise InputError(f"{path}, line {line}: Len is '{value}', expected a number of bits")
            bits = int(value)
        elif name == "Key":
            key = _hexadecimal(path, line, name, value)
        elif name == "Msg":
            message = _hexadecimal(path, line, name, value)
            if 8 * len(message) < bits:
                raise InputError(f"{path}, line {line}: Msg has {8 * len(message)} bits, but Len is {bits}")
        elif name == "MD":
            digest = _hexadecimal(path, line, name, value)
            found.append(HashVector(message[: (bits + 7) // 8], bits, digest, key, line))
    if not found:
        raise InputError(f"{path}: no vectors found; expected records of Len, Msg and MD")
    return found


def read_monte_vectors(path: Path | str) -> list[MonteVector]:
    """The chains of a `Monte` file: the first starts from the file's Seed, each later one from the digest before it.

    Raises: InputError for a file that cannot be read or has no chains.
    """
    path = Path(path)
    found: list[MonteVector] = []
    seed = b""
    for line, name, value in _assignments(path):
        if name == "Seed":
            seed = _hexadecimal(path, line, name, value)
        elif name == "MD":
            digest = _hexadecimal(path, line, name, value)
            found.append(MonteVector(seed, digest, line))
            seed = digest
    if not found or not found[0].seed:
        raise InputError(f"{path}: no Monte Carlo chains found; expected a Seed and records of COUNT and MD")
    return found
