"""Text forms: the lines that the programs of their time printed, both ways."""

import pytest

from cryplab.bench.formats import Measurement, read, write
from cryplab.errors import InputError

KIB, MIB = 1024, 1 << 20

MBED_2017 = """\

  SHA-256                  :       2936 KB/s
  AES-CBC-128              :      31542 KB/s
  HMAC_DRBG SHA-256 (NOPR) :        337 KB/s
  RSA-2048                 :      20 ms/ public
  ECDHE-secp384r1          :     696 ms/ handshake

DONE
"""
MBED_228 = """\
  SHA-256                  :     265394 KiB/s,          9 cycles/byte
  RSA-2048                 :    5000  public/s
  RSA-2048                 :     112 private/s
"""
WOLFCRYPT = """\
------------------------------------------------------------------------------
 wolfSSL version 5.5.4
------------------------------------------------------------------------------
wolfCrypt Benchmark (block bytes 1024, min 1.0 sec each)
RNG                850 KB took 1.000 seconds,  850.000 KB/s
AES-128-CBC-enc     10 MB took 1.000 seconds,   10.400 MB/s
SHA-256            150 MiB took 1.012 seconds,  148.214 MiB/s Cycles per byte =  16.10
RSA     2048 public         82 ops took 1.019 sec, avg 12.427 ms, 80.471 ops/sec
ECC   [      SECP256R1]   256  key gen        121 ops took 1.000 sec, avg 8.264 ms, 121.000 ops/sec
Benchmark complete
"""
CTAOCRYPT = """\
AES        1024 kB took 0.822 seconds,   1.22 MB/s
RSA 2048 encryption took 111.17 milliseconds, avg over 100 iterations
"""


def pairs(text: str) -> list[tuple[str, str, float]]:
    return [(m.name, m.unit, m.value) for m in read(text)]


def test_mbed_tls() -> None:
    assert pairs(MBED_2017) == [
        ("SHA-256", "KB/s", 2936),
        ("AES-CBC-128", "KB/s", 31542),
        ("HMAC_DRBG SHA-256 (NOPR)", "KB/s", 337),
        ("RSA-2048 public", "ms", 20),
        ("ECDHE-secp384r1 handshake", "ms", 696),
    ]
    assert pairs(MBED_228) == [
        ("SHA-256", "KiB/s", 265394),
        ("RSA-2048 public", "ops/s", 5000),
        ("RSA-2048 private", "ops/s", 112),
    ]
    assert read(MBED_228)[0].bytes_per_second == 265394 * 1024
    assert read(MBED_228)[1].milliseconds == 0.2


def test_wolfcrypt() -> None:
    rows = read(WOLFCRYPT)
    assert [(m.name, m.unit, m.value) for m in rows] == [
        ("RNG", "KB/s", 850.0),
        ("AES-128-CBC-enc", "MB/s", 10.4),
        ("SHA-256", "MiB/s", 148.214),
        ("RSA 2048 public", "ms", 12.427),
        ("ECC [ SECP256R1] 256 key gen", "ms", 8.264),
    ]
    assert rows[1].bytes_per_second == 10.4 * MIB
    assert (rows[1].data_bytes, rows[1].seconds) == (10 * MIB, 1.0)
    assert (rows[3].calls, rows[3].seconds) == (82, 1.019)
    assert [m.line for m in rows] == [5, 6, 7, 8, 9]


def test_ctaocrypt() -> None:
    aes, rsa = read(CTAOCRYPT)
    assert (aes.name, aes.value, aes.data_bytes, aes.seconds) == ("AES", 1.22, 1024 * KIB, 0.822)
    assert (rsa.name, rsa.unit, rsa.value, rsa.calls) == ("RSA 2048 encryption", "ms", 111.17, 100)


def test_carriage_returns() -> None:
    assert pairs(MBED_2017.replace("\n", "\r\n")) == pairs(MBED_2017)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\nworld\n", "log.txt holds no benchmark rows; expected rows as mbed TLS"),
        ("  SHA-256                  :       2936 Kb/s\n", "log.txt line 1: unit 'Kb/s' says no size; expected"),
        ("AES  10 mB took 1.000 seconds,   10.400 MB/s\n", "log.txt line 1: 'mB' is no size; expected bytes"),
        (MBED_2017[:-20], "log.txt line 6: the row is cut short: 'ECDHE-secp384r1"),
        (WOLFCRYPT[: WOLFCRYPT.index("82 ops") + 20], "log.txt line 8: the row is cut short: 'RSA     2048 public"),
        ("| row | unit | value |\n| - | - | - |\n| AES | KB/s |\n", "log.txt line 3: 2 cells, the table's heading"),
    ],
)  # fmt: skip
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "log.txt")
    assert str(caught.value).startswith(message)


def test_written_as_the_programs_print() -> None:
    """The lines of the command line's contract."""
    sha = Measurement("SHA-256", "KB/s", 2936.7)
    rsa = Measurement("RSA-2048 public", "ms", 20.4)
    assert write([sha, rsa], "mbedtls", 168_000_000) == "\n".join(
        [
            "  SHA-256                  :       2936 KB/s",
            "  RSA-2048                 :      20 ms/ public",
        ]
    )
    assert write([Measurement("SHA-256", "KiB/s", 265394), rsa], "mbedtls-2.28", 2_600_000_000) == "\n".join(
        [
            "  SHA-256                  :     265394 KiB/s,          9 cycles/byte",
            "  RSA-2048                 :      49  public/s",
        ]
    )
    aes = Measurement("AES-128-CBC-enc", "MB/s", 10.4, 10 * MIB, 1.0)
    key = Measurement("RSA 2048 public", "ms", 12.427, 0, 1.019, 82)
    assert write([aes, key], "wolfcrypt", 1) == "\n".join(
        [
            "AES-128-CBC-enc     10 MB took 1.000 seconds,   10.400 MB/s",
            "RSA     2048 public         82 ops took 1.019 sec, avg 12.427 ms, 80.470 ops/sec",
        ]
    )
    old = Measurement("AES", "MB/s", 1.2166, 1024 * KIB, 0.822)
    old_key = Measurement("RSA 2048 encryption", "ms", 111.17, 0, 0, 100)
    assert write([old, old_key], "ctaocrypt", 1) + "\n" == CTAOCRYPT


@pytest.mark.parametrize("form", ["mbedtls", "mbedtls-2.28", "wolfcrypt", "ctaocrypt"])
def test_what_is_written_can_be_read(form: str) -> None:
    rows = [
        Measurement("AES-CBC-128", "KB/s", 31542.4, 24 * KIB, 0.000781),
        Measurement("HMAC_DRBG SHA-256 (NOPR)", "KB/s", 2048.0, 24 * KIB, 0.0711),
        Measurement("RSA-2048 public", "ms", 20.0, 0, 0.02, 1),
    ]
    back = read(write(rows, form, 168_000_000))
    for one, other in zip(rows, back, strict=True):
        assert one.name.replace("-", " ") == other.name.replace("-", " ")
        if one.bytes_per_second is not None:
            assert other.bytes_per_second == pytest.approx(one.bytes_per_second, rel=0.005)
        else:
            assert other.milliseconds == pytest.approx(one.milliseconds, rel=0.03)


def test_unknown_form() -> None:
    with pytest.raises(
        InputError, match=r"^there is no form 'csv'; expected mbedtls, mbedtls-2.28, wolfcrypt, ctaocrypt$"
    ):
        write([], "csv", 1)
