"""Comparing logs as people paste them: right table or one clear sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cryplab.bench.compare import Comparison, compare
from cryplab.bench.logs import clean, read_log
from cryplab.errors import InputError, UsageError

MBED_2017 = """
  SHA-256                  :       2936 KB/s
  SHA-512                  :        886 KB/s
  AES-CBC-128              :       2315 KB/s
  RSA-2048                 :      20 ms/ public
  RSA-2048                 :     782 ms/ private
  ECDHE-secp256r1          :     461 ms/handshake
"""
MBED_2017_HARDWARE = """
  SHA-256                  :      15081 KB/s
  SHA-512                  :        886 KB/s
  AES-CBC-128              :      31542 KB/s
  RSA-2048                 :      20 ms/ public
  RSA-2048                 :     781 ms/ private
  ECDHE-secp256r1          :     461 ms/handshake
"""
MBED_228 = """
  SHA-256                  :      14000 KiB/s,         11 cycles/byte
  AES-CBC-128              :      30000 KiB/s,          5 cycles/byte
  RSA-2048                 :      50  public/s
"""
WOLF_3 = """
wolfCrypt Benchmark (block bytes 1024, min 1.0 sec each)
RNG                  5 MB took 1.000 seconds,    4.5 MB/s
AES-128-CBC-enc     10 MB took 1.000 seconds,   10.400 MB/s Cycles per byte =  16.1
SHA-256              8 MB took 1.001 seconds,    7.446 MB/s
RSA     2048 public         82 ops took 1.019 sec, avg 12.427 ms, 80.471 ops/sec
Benchmark complete
"""
WOLF_5 = """
------------------------------------------------------------------------------
 wolfSSL version 5.9.0
------------------------------------------------------------------------------
RNG                        950 KiB took 1.012 seconds,  938.735 KiB/s
AES-128-CBC-enc              1 MiB took 1.003 seconds,    1.303 MiB/s
SHA-256                      3 MiB took 1.000 seconds,    2.602 MiB/s
RSA     2048   public       20 ops took 1.019 sec, avg 50.950 ms, 19.627 ops/sec
"""
CTAO = """
AES      1024 kB took 0.822 seconds,   1.22 MB/s
ARC4     1024 KB took 0.219 seconds,   4.57 MB/s
3DES     1024 kB took 3.986 seconds,   0.25 MB/s
RSA 2048 encryption took 111.17 milliseconds, avg over 100 iterations
"""
CTAO_HARDWARE = """
AES      1024 kB took 0.105 seconds,   9.52 MB/s
3DES     1024 kB took 0.141 seconds,   7.09 MB/s
RSA 2048 encryption took 111.09 milliseconds, avg over 100 iterations
"""
MARKDOWN = """
| row | unit | software | hardware |
|---|---|---:|---:|
| SHA-256 | KB/s | 2936 | 15081 |
| AES-CBC-128 | KB/s | 2315 | 31542 |
"""


def stamped(text: str, stamp: str) -> str:
    return "\n".join(stamp % n + line for n, line in enumerate(text.splitlines()))


def of(tmp_path: Path, *contents: str | bytes) -> Comparison:
    paths = []
    for number, content in enumerate(contents):
        path = tmp_path / f"{'abcd'[number]}.log"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        paths.append(path)
    return compare(paths)


def table(comparison: Comparison) -> dict[str, tuple[float | None, ...]]:
    return {row.name: tuple(None if r is None else round(r, 2) for r in row.ratios) for row in comparison.rows}


MBED_RATIOS = {
    "SHA-256": (5.14,),
    "SHA-512": (1.0,),
    "AES-CBC-128": (13.63,),
    "RSA-2048 public": (1.0,),
    "RSA-2048 private": (1.0,),
    "ECDHE-secp256r1 handshake": (1.0,),
}


@pytest.mark.parametrize(
    "noisy",
    [
        MBED_2017_HARDWARE,
        MBED_2017_HARDWARE.replace("\n", "\r\n"),
        "\0\0\xff boot\r\n" + MBED_2017_HARDWARE.replace("\n", "\r\r\n"),
        stamped(MBED_2017_HARDWARE, "[12:00:%02d.123] "),
        stamped(MBED_2017_HARDWARE, "2017-08-14 12:00:%02d.123 -> "),
        stamped(MBED_2017_HARDWARE, "[   %d.004512] "),
        stamped(MBED_2017_HARDWARE, "12:34:%02d> "),
        "\x1b[2J\x1b[1;32m" + MBED_2017_HARDWARE.replace("SHA-256", "\x1b[1mSHA-256\x1b[0m") + "\x1b[0m",
        "U-Boot 2017.01\nStarting...\n[DBG] heap 0x20001000\n" + MBED_2017_HARDWARE + "\nDONE\nmbedtls> ",
        "\n".join(reversed(MBED_2017_HARDWARE.splitlines())),
        MBED_2017_HARDWARE.replace("  SHA-512", "  SHA-512x\x08"),
        ("﻿" + MBED_2017_HARDWARE).encode("utf-16"),
    ],
    ids=[
        "plain", "crlf", "boot-noise", "clock", "date", "kernel", "prompt", "ansi", "chatter", "other-order",
        "backspace", "utf-16",
    ],
)  # fmt: skip
def test_captures_give_the_same_table(tmp_path: Path, noisy: str | bytes) -> None:
    assert table(of(tmp_path, MBED_2017, noisy)) == MBED_RATIOS


def test_units_and_versions_are_evened_out(tmp_path: Path) -> None:
    comparison = of(tmp_path, MBED_2017, MBED_228)
    assert table(comparison) == {"SHA-256": (4.77,), "AES-CBC-128": (12.96,), "RSA-2048 public": (1.0,)}
    assert comparison.only == (["SHA-512", "RSA-2048 private", "ECDHE-secp256r1 handshake"], [])
    comparison = of(tmp_path, WOLF_5, WOLF_3)
    assert table(comparison) == {
        "RNG": (4.91,),
        "AES-128-CBC-enc": (7.98,),
        "SHA-256": (2.86,),
        "RSA 2048 public": (4.1,),
    }
    assert comparison.rows[0].unit == "KiB/s"


def test_slower_rows_are_marked_and_can_fail(tmp_path: Path) -> None:
    comparison = of(tmp_path, CTAO_HARDWARE, CTAO)
    assert [row.name for row in comparison.rows if row.slower] == ["AES", "3DES"]
    assert comparison.worst is not None
    assert comparison.worst.name == "3DES"
    assert comparison.exit_code == 0
    comparison.fail_below = 0.9
    assert comparison.exit_code == 1
    assert comparison.only == ([], ["ARC4"])


def test_two_runs_in_one_file(tmp_path: Path) -> None:
    both = MBED_2017 + "reset\n" + MBED_2017_HARDWARE
    assert table(of(tmp_path, both)) == MBED_RATIOS
    comparison = of(tmp_path, MBED_2017, both)
    assert table(comparison) == MBED_RATIOS
    assert "holds 2 runs; number 2 is used" in comparison.notes[0]
    assert table(compare([f"{tmp_path}/b.log#1", f"{tmp_path}/b.log#2"])) == MBED_RATIOS


def test_three_logs_and_markdown(tmp_path: Path) -> None:
    comparison = of(tmp_path, MBED_2017, MBED_2017_HARDWARE, MBED_228)
    assert table(comparison)["SHA-256"] == (5.14, 4.77)
    assert table(of(tmp_path, MARKDOWN)) == {"SHA-256": (5.14,), "AES-CBC-128": (13.63,)}
    again = of(
        tmp_path, comparison.markdown().replace("a.log", "before").replace("b.log", "after").replace("c.log", "x")
    )
    assert table(again)["AES-CBC-128"] == (13.63,)


def test_json_of_the_bench(tmp_path: Path) -> None:
    rows = [{"name": "SHA-256", "unit": "KB/s", "software": {"value": 2900.0}, "hardware": {"value": 14500.0}}]
    assert table(of(tmp_path, json.dumps({"rows": rows}))) == {"SHA-256": (5.0,)}
    document = of(tmp_path, MBED_2017, json.dumps({"rows": rows})).to_json()
    assert document["rows"] == [
        {"name": "SHA-256", "unit": "KB/s", "before": 2936.0, "after": 14500.0, "ratio": 4.9387}
    ]
    assert document["only_before"][0] == "SHA-512"
    assert document["only_after"] == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "b.log is empty; expected a benchmark's output"),
        ("\r\n\0\0 \n", "b.log is empty"),
        (bytes(range(256)) * 40, "b.log is a binary file; expected a benchmark's output as text"),
        ("hello\nworld\n", "b.log holds no benchmark rows; expected rows as mbed TLS, wolfCrypt"),
        (MBED_2017 + "  SHA-1                    :       29", "b.log line 8: the row is cut short"),
        ("  SHA-256                  :      15081 Kb/s\n", "b.log line 1: unit 'Kb/s' says no size"),
        ("SHA-256 8 blocks took 1.001 seconds, 7.446 MB/s\n", "b.log line 1: 'blocks' is no size"),
        ('{"rows": 3}', "b.log is JSON, but not of `cryplab bench --json`"),
        ('{"rows": [', "b.log begins like JSON and is none"),
        (CTAO, "the logs cannot be compared: no row is in two of them"),
        ("  SHA-256                  :      20 ms/ public\n", "the logs cannot be compared: no row is in two of them"),
    ],
    ids=["empty", "blank", "binary", "no-rows", "cut-short", "bits", "blocks", "other-json", "half-json",
         "nothing-shared", "other-operation"],
)  # fmt: skip
def test_what_cannot_be_compared_is_one_sentence(tmp_path: Path, content: str | bytes, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        of(tmp_path, MBED_2017, content)
    message = str(caught.value).replace(f"{tmp_path}/", "")
    assert message.startswith(sentence)
    assert "\n" not in message


def test_a_missing_file_a_lone_run_and_a_run_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.log cannot be read: no such file or directory"):
        compare(["nowhere.log", "nowhere.log"])
    with pytest.raises(UsageError, match="holds one run; compare needs two logs"):
        of(tmp_path, MBED_2017)
    with pytest.raises(InputError, match="holds 1 run; there is no number 3"):
        read_log(f"{tmp_path}/a.log#3")


def test_cleaning_leaves_rows_alone() -> None:
    assert clean(WOLF_3) == WOLF_3
    assert clean(MBED_2017) == MBED_2017


def test_a_chart_is_drawn_the_same_twice(tmp_path: Path) -> None:
    comparison = of(tmp_path, MBED_2017, MBED_2017_HARDWARE)
    first = comparison.draw(tmp_path / "one.svg").read_bytes()
    assert first == comparison.draw(tmp_path / "two.svg").read_bytes()
    assert b"<svg" in first
    with pytest.raises(UsageError, match=r"expected a name that ends in \.svg, \.png, \.pdf"):
        comparison.draw(tmp_path / "one.txt")
