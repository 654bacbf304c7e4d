"""Vector file readers: what they read, and what they say of a file that is none."""

import hashlib
from pathlib import Path

import pytest

from cryplab.check.hash_vectors import read_hash_vectors, read_monte_vectors
from cryplab.errors import InputError

MESSAGES = """#  CAVS 11.0
[L = 20]

Len = 0
Msg = 00
MD = da39a3ee5e6b4b0d3255bfef95601890afd80709

Len = 5
Msg = 98
MD = 29826b003b906e660eff4027ce98af3531ac75ba
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "vectors.rsp"
    path.write_text(text)
    return path


def test_messages(tmp_path: Path) -> None:
    empty, bits = read_hash_vectors(write(tmp_path, MESSAGES))
    assert (empty.message, empty.bits, empty.key, empty.line) == (b"", 0, None, 6)
    assert (bits.message, bits.bits, bits.digest[:2].hex()) == (b"\x98", 5, "2982")


def test_keys(tmp_path: Path) -> None:
    path = write(tmp_path, 'Len = 16\n# "Je"\nKey = 4a65\nMsg = 7768\nMD = effc\n')
    (vector,) = read_hash_vectors(path)
    assert (vector.key, vector.message, vector.bits) == (b"Je", b"wh", 16)


def test_monte_chain(tmp_path: Path) -> None:
    path = write(tmp_path, "[L = 20]\nSeed = dd4d\n\nCOUNT = 0\nMD = 11\n\nCOUNT = 1\nMD = 22\n")
    first, second = read_monte_vectors(path)
    assert (first.seed.hex(), first.digest.hex(), second.seed.hex(), second.line) == ("dd4d", "11", "11", 8)


def test_monte_of_the_standard_library() -> None:
    vectors = pytest.importorskip("cryptography_vectors", reason="cryptography-vectors is not installed")
    folder = Path(vectors.__file__).parent / "hashes" / "SHA1"
    first = read_monte_vectors(folder / "SHA1Monte.rsp")[0]
    assert first.run(lambda message: hashlib.sha1(message).digest()) == first.digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing here\n", "no vectors found; expected records of Len, Msg and MD"),
        ("Len = many\n", "line 1: Len is 'many', expected a number of bits"),
        ("Len = 8\nMsg = xy\n", "line 2: Msg is 'xy', expected pairs of hexadecimal digits"),
        ("Len = 16\nMsg = 00\n", "line 2: Msg has 8 bits, but Len is 16"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_hash_vectors(write(tmp_path, text))
    assert message in str(caught.value)


def test_missing_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no vector file: No such file"):
        read_hash_vectors(tmp_path / "none.rsp")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="no vector file: not plain text"):
        read_hash_vectors(tmp_path / "binary")
    with pytest.raises(InputError, match="no Monte Carlo chains found"):
        read_monte_vectors(write(tmp_path, "COUNT = 0\nMD = 11\n"))
