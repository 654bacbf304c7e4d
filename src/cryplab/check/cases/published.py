"""Published vectors: NIST CAVP and RFC files of `cryptography-vectors` where it is installed, and a few built in.

Here the published output is demanded, not the oracle's.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import islice
from pathlib import Path

from cryplab.check.cases.ciphers import MODES
from cryplab.check.cases.common import Maker, opened
from cryplab.check.hash_vectors import read_hash_vectors
from cryplab.check.script import Case, Step
from cryplab.check.vectors import AeadVector, cavp_ccm, cavp_gcm, cavp_records

__all__ = ["BUILT_IN", "cases", "folder"]

GROUP = "vectors"
AES_SIZES = (128, 192, 256)
AES_KINDS = ("GFSbox", "KeySbox", "MMT", "VarKey", "VarTxt")
TDES_KINDS = ("MMT1", "MMT2", "MMT3", "invperm", "permop", "subtab", "varkey", "vartext")
AES_FILES = {"AES-ECB": "ECB", "AES-CBC": "CBC", "AES-CFB": "CFB128", "AES-OFB": "OFB"}
CCM_KINDS = ("DVPT", "VADT", "VNT", "VPT", "VTT")
HASH_FILES: dict[str, tuple[str, ...]] = {
    "MD5": ("hashes/MD5/rfc-1321.txt",),
    "SHA-1": ("hashes/SHA1/SHA1ShortMsg.rsp", "hashes/SHA1/SHA1LongMsg.rsp"),
    **{
        f"SHA-{n}": (f"hashes/SHA2/SHA{n}ShortMsg.rsp", f"hashes/SHA2/SHA{n}LongMsg.rsp")
        for n in (224, 256, 384, 512)
    },
}  # fmt: skip
HMAC_FILES = {
    "MD5": "rfc-2202-md5",
    "SHA-1": "rfc-2202-sha1",
    **{f"SHA-{n}": f"rfc-4231-sha{n}" for n in (224, 256, 384, 512)},
}
FIPS_197_TEXT = "00112233445566778899aabbccddeeff"
SP800_38A_TEXT = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
SP800_38A_KEY = "2b7e151628aed2a6abf7158809cf4f3c"
ORDERED = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
BUILT_IN: tuple[tuple[str, str, str, str, str, str], ...] = (
    # row, name, key, IV, plaintext, ciphertext
    ("AES-ECB", "FIPS 197 C.1", ORDERED[:32], "", FIPS_197_TEXT, "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("AES-ECB", "FIPS 197 C.2", ORDERED[:48], "", FIPS_197_TEXT, "dda97ca4864cdfe06eaf70a0ec0d7191"),
    ("AES-ECB", "FIPS 197 C.3", ORDERED, "", FIPS_197_TEXT, "8ea2b7ca516745bfeafc49904b496089"),
    ("AES-CBC", "SP 800-38A F.2.1", SP800_38A_KEY, ORDERED[:32], SP800_38A_TEXT,
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"),
    ("AES-CTR", "SP 800-38A F.5.1", SP800_38A_KEY, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", SP800_38A_TEXT,
     "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"),
    ("AES-CFB", "SP 800-38A F.3.13", SP800_38A_KEY, ORDERED[:32], SP800_38A_TEXT,
     "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b"),
    ("AES-OFB", "SP 800-38A F.4.1", SP800_38A_KEY, ORDERED[:32], SP800_38A_TEXT,
     "3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825"),
    ("DES-ECB", "SP 800-17", "8001010101010101", "", "0000000000000000", "95a8d72813daa94d"),
)  # fmt: skip
BUILT_IN_DIGESTS = (
    ("MD5", "900150983cd24fb0d6963f7d28e17f72"),
    ("SHA-1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("SHA-224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    ("SHA-256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
)
"Of `abc`; RFC 1321, FIPS 180-4 and its companion of examples."
GCM_CASE_4 = AeadVector(
    bytes.fromhex("feffe9928665731c6d6a8f9467308308"), bytes.fromhex("cafebabefacedbaddecaf888"),
    bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
    bytes.fromhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"),
    bytes.fromhex("42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
                  "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"),
    bytes.fromhex("5bc94fbc3221a5db94fae95ae7121a47"), True, "GCM specification, test case 4",
)  # fmt: skip
CCM_EXAMPLE_1 = AeadVector(
    bytes.fromhex("404142434445464748494a4b4c4d4e4f"),
    bytes.fromhex("10111213141516"),
    bytes.fromhex("0001020304050607"),
    bytes.fromhex("20212223"),
    bytes.fromhex("7162015b"),
    bytes.fromhex("4dac255d"),
    True,
    "SP 800-38C example 1",
)


def folder() -> Path | None:
    """Where the files of `cryptography-vectors` are, or None."""
    try:
        found: Traversable = files("cryptography_vectors")
    except ModuleNotFoundError:
        return None
    return Path(str(found))


def cases(make: Maker) -> Iterator[Case]:
    """Built-in ones always, of the files a sample by level."""
    yield from _built_in()
    root = folder()
    if root is None:
        return
    yield from _ciphers(make, root / "ciphers")
    yield from _authenticated(make, root / "ciphers" / "AES")
    yield from _digests(make, root)


def _built_in() -> Iterator[Case]:
    for row, name, key, iv, text, cipher in BUILT_IN:
        yield from _both_ways(row, name, *map(bytes.fromhex, (key, iv, text, cipher)))
    for algorithm, digest in BUILT_IN_DIGESTS:
        step = Step("digest", kind=algorithm, data=b"abc")
        yield Case(GROUP, algorithm, "abc", (step,), {0: {"output": bytes.fromhex(digest)}})
    yield from _aead("GCM", GCM_CASE_4)
    yield from _aead("CCM", CCM_EXAMPLE_1)


# -- ciphers ---------------------------------------------------------------------------------------
def _one_way(row: str, name: str, key: bytes, iv: bytes, given: bytes, expected: bytes, encrypt: bool) -> Case:
    mode = next(m for m in MODES if m.row == row)
    steps = mode.opened(key, encrypt)
    size = mode.block if mode.mode == "ECB" else len(given) or 1
    published = {}
    for start in range(0, len(given), size):
        published[len(steps)] = {"output": expected[start : start + size]}
        steps.append(Step("crypt", kind=mode.mode, encrypt=encrypt, iv=iv or None, data=given[start : start + size]))
    return Case(GROUP, row, f"{name}, {'encrypt' if encrypt else 'decrypt'}", tuple(steps), published)


def _both_ways(row: str, name: str, key: bytes, iv: bytes, text: bytes, cipher: bytes) -> Iterator[Case]:
    yield _one_way(row, name, key, iv, text, cipher, True)
    yield _one_way(row, name, key, iv, cipher, text, False)


def _ciphers(make: Maker, root: Path) -> Iterator[Case]:
    wanted: list[tuple[str, Path, int]] = []
    for row, mode in AES_FILES.items():
        kinds = AES_KINDS if make.level != "quick" else ("MMT",)
        wanted += [
            (row, root / "AES" / mode.removesuffix("128") / f"{mode}{kind}{size}.rsp", make.pick(4, 10, 1))
            for kind in kinds
            for size in AES_SIZES
        ]
    wanted += [("AES-CTR", root / "AES" / "CTR" / f"aes-{size}-ctr.txt", 1) for size in AES_SIZES]
    tdes = TDES_KINDS if make.level != "quick" else ("MMT3",)
    wanted += [
        (f"3DES-{mode}", root / "3DES" / mode / f"T{mode}{kind}.rsp", make.pick(4, 6, 1))
        for mode in ("ECB", "CBC")
        for kind in tdes
    ]
    for row, path, every in wanted:
        if path.is_file():
            for record in islice(cavp_records(path.read_text().splitlines()), 0, None, every):
                yield from _record(row, path.stem, record)


def _record(row: str, stem: str, record: dict[str, str]) -> Iterator[Case]:
    text, cipher, iv = (bytes.fromhex(record.get(part, "")) for part in ("PLAINTEXT", "CIPHERTEXT", "IV"))
    if "KEY" in record:
        key = bytes.fromhex(record["KEY"])
    else:
        key = (
            bytes.fromhex(record["KEYS"]) * 3
            if "KEYS" in record
            else bytes.fromhex("".join(record[f"KEY{n}"] for n in (1, 2, 3)))
        )
    encrypt = record["SECTION"] != "DECRYPT"
    given, expected = (text, cipher) if encrypt else (cipher, text)
    name = f"{stem} {record['COUNT']}"
    yield _one_way(row, name, key, iv, given, expected, encrypt)
    if row.startswith("3DES") and key[:8] == key[8:16] == key[16:]:
        yield _one_way(row[1:], name, key[:8], iv, given, expected, encrypt)


# -- authenticated ---------------------------------------------------------------------------------
def _aead(kind: str, vector: AeadVector) -> Iterator[Case]:
    row = f"AES-{kind}"
    steps = opened(kind, vector.key)
    if vector.text is not None and vector.valid:
        sealed = Step("seal", iv=vector.iv, aad=vector.aad, data=vector.text, length=len(vector.tag))
        published = {len(steps): {"output": vector.cipher, "tag": vector.tag}}
        yield Case(GROUP, row, f"{vector.name}, seal", (*steps, sealed), published)
    there = Step("unseal", iv=vector.iv, aad=vector.aad, data=vector.cipher, tag=vector.tag)
    published = {len(steps): {"output": vector.text}} if vector.valid and vector.text is not None else {}
    yield Case(GROUP, row, f"{vector.name}, unseal", (*steps, there), published)


def _authenticated(make: Maker, root: Path) -> Iterator[Case]:
    for kind in CCM_KINDS if make.level != "quick" else ():
        for size in AES_SIZES:
            name = f"{kind}{size}"
            vectors = cavp_ccm((root / "CCM" / f"{name}.rsp").read_text().splitlines(), name)
            for vector in islice(vectors, 0, None, make.pick(1, 12, 1)):
                yield from _aead("CCM", vector)
    for kind in ("EncryptExtIV", "Decrypt") if make.level != "quick" else ():
        for size in AES_SIZES:
            name = f"gcm{kind}{size}"
            vectors = cavp_gcm((root / "GCM" / f"{name}.rsp").read_text().splitlines(), name)
            for vector in islice(vectors, 0, None, make.pick(1, 151, 7)):
                if len(vector.iv) >= 8:  # shorter ones are the published answer's alone, the oracle does not take them
                    yield from _aead("GCM", vector)


# -- hashes ----------------------------------------------------------------------------------------
def _digests(make: Maker, root: Path) -> Iterator[Case]:
    for row, paths in HASH_FILES.items():
        for path in paths[: make.pick(1, 2, 2)]:
            for number, vector in enumerate(read_hash_vectors(root / path)):
                if vector.bits % 8 == 0 and number % make.pick(8, 2, 1) == 0:
                    name = f"{Path(path).stem} line {vector.line}"
                    step = Step("digest", kind=row, data=vector.message)
                    yield Case(GROUP, row, name, (step,), {0: {"output": vector.digest}})
    for row, stem in HMAC_FILES.items():
        for vector in read_hash_vectors(root / "HMAC" / f"{stem}.txt"):
            assert vector.key is not None
            step = Step("hmac", kind=row, key=vector.key, data=vector.message)
            yield Case(GROUP, f"HMAC-{row}", f"{stem} line {vector.line}", (step,), {0: {"output": vector.digest}})
