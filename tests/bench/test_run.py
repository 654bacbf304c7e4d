"""The bench from end to end: reference firmware's rows from memory, a user's rows from what it prints."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from cryplab import guest
from cryplab.bench import BenchResult, bench
from cryplab.bench.formats import read
from cryplab.errors import GuestCrash, InputError, ToolError, UsageError
from small_firmware import build, needs_gcc

pytestmark = needs_gcc
BOARD = "ublox-c030-u201"


def reference(builds: list[str], rows: str, jobs: int = 1) -> BenchResult:
    try:
        guest.library("mbedtls")
    except ToolError as missing:
        pytest.skip(str(missing))
    return bench(BOARD, builds=builds, rows=rows, jobs=jobs)


@pytest.fixture(scope="module")
def software() -> BenchResult:
    return reference(["software"], "sha-256,rsa-2048 public")


def test_software_rows(software: BenchResult) -> None:
    document = json.loads(json.dumps(software.to_json()))
    sha, rsa = document["rows"]
    assert (document["board"], document["library"], document["clock_hz"]) == (BOARD, "mbedtls", 168_000_000)
    assert (sha["name"], sha["unit"], sha["hardware"], sha["ratio"]) == ("SHA-256", "KB/s", None, None)
    measured = sha["software"]
    assert measured["value"] == pytest.approx(measured["bytes"] * 168e6 / measured["cycles"] / 1024, abs=0.001)
    assert measured["value"] == pytest.approx(2936, rel=0.25)  # published; the bar is another test's
    assert sha["published"] == {"software": 2936, "hardware": 15081, "source": "mbed-os pull request 4898 (2017)"}
    assert (rsa["name"], rsa["unit"], rsa["limit"]) == ("RSA-2048 public", "ms", {"cpu": None, "dma": None})
    assert rsa["software"]["value"] == pytest.approx(rsa["software"]["cycles"] / 168e3, abs=0.001)


def test_the_row_agrees_with_what_the_firmware_printed(software: BenchResult) -> None:
    printed = {m.name: m.value for m in read(software.console["software"])}
    assert printed["SHA-256"] == int(software.row("SHA-256").columns["software"].value)
    assert printed["RSA-2048 public"] == pytest.approx(software.row("rsa-2048 PUBLIC").columns["software"].value, abs=1)


@pytest.mark.slow
def test_hardware_beside_software() -> None:
    result = reference(["software", "hardware"], "SHA-256,SHA-512,AES-CBC-128", jobs=2)
    sha, sha512, aes = (row.to_json(result.before, result.after) for row in result.rows)
    for row, block in ((sha, "HASH"), (aes, "CRYP")):
        assert row["hardware"]["blocks"] == [block]
        assert 0.3 < row["hardware"]["hardware_share"] <= 1
        assert row["ratio"] == pytest.approx(row["hardware"]["value"] / row["software"]["value"], rel=0.001)
        assert row["software"]["value"] < row["hardware"]["value"] < row["limit"]["cpu"]
    assert (sha512["hardware"]["blocks"], sha512["hardware"]["hardware_share"]) == ([], 0)
    assert sha512["ratio"] == pytest.approx(1, abs=0.05)
    again = reference(["hardware"], "SHA-256,SHA-512,AES-CBC-128", jobs=2)
    assert again.builds == ("software", "hardware")  # an accelerated build alone is compared with software
    assert [r.columns for r in again.rows] == [r.columns for r in result.rows]


def test_no_such_row(software: BenchResult) -> None:
    with pytest.raises(UsageError, match=r"^no row matches 'SHA-265'; did you mean 'SHA-256'\?"):
        reference(["software"], "SHA-265")
    with pytest.raises(UsageError, match=r"^there is no row 'SHA-265'; did you mean 'SHA-256'\?"):
        software.row("SHA-265")


PRINTING = """
typedef unsigned u32;
extern u32 _estack;
static void call(u32 op, const void *p) {
    register u32 r0 __asm("r0") = op;
    register const void *r1 __asm("r1") = p;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
void reset(void) {
    for (volatile int i = 0; i < 1000; i++) ;
    call(4, "a benchmark of mine\\n");
    for (volatile int i = 0; i < 2000; i++) ;
    call(4, "AES-128-CBC-enc     10 MB took 1.000 seconds,   10.400 MB/s\\n");
    call(4, "RSA     2048 public         82 ops took 1.019 sec, avg 12.427 ms, 80.471 ops/sec\\n");
    LAST
    for (;;) ;
}
__attribute__((section(".isr_vector"), used)) const void *table[16] = { &_estack, (void *)reset };
"""


def printing(folder: Path, last: str = "") -> Path:
    return build(folder, "0x08000000", "0x20000000", source=PRINTING.replace("LAST", last))


def test_a_users_firmware(tmp_path: Path) -> None:
    result = bench(BOARD, firmware=[printing(tmp_path)], jobs=1)
    assert result.builds == ("software",)
    aes, rsa = result.rows
    assert (aes.name, aes.unit, aes.columns["software"].value) == ("AES-128-CBC-enc", "MB/s", 10.4)
    assert aes.columns["software"].data_bytes == 10 << 20
    assert (rsa.columns["software"].value, rsa.columns["software"].calls) == (12.427, 82)
    assert aes.limit.cpu == pytest.approx(16 * 16e6 / 20 / (1 << 20))  # the firmware never left 16 MHz


def test_before_and_after(tmp_path: Path) -> None:
    """Two files, side by side in two processes."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    before, after = printing(tmp_path / "a"), tmp_path / "b"
    fast = PRINTING.replace("10.400 MB/s", "20.800 MB/s").replace("avg 12.427", "avg  6.2135")
    faster = build(after, "0x08000000", "0x20000000", source=fast.replace("LAST", ""))
    result = bench(BOARD, firmware=[before, faster], jobs=2)
    assert [row.ratio("software", "hardware") for row in result.rows] == [pytest.approx(2), pytest.approx(2)]


def test_a_firmware_that_prints_no_rows(tmp_path: Path) -> None:
    source = printing(tmp_path).parent / "fw.c"
    quiet = build(tmp_path, source=source.read_text().replace("took", "in"))
    with pytest.raises(InputError, match=r"^what fw.elf printed holds no benchmark rows; expected rows as mbed TLS"):
        bench(BOARD, firmware=[quiet], jobs=1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_firmware_that_crashes(tmp_path: Path, jobs: int) -> None:
    """The report comes through from another process too."""
    crashing = printing(tmp_path, '*(volatile u32 *)0xFFFFFFF0 = 1; __asm volatile("udf #0");')
    with pytest.raises(GuestCrash) as caught:
        bench(BOARD, firmware=[crashing] * jobs, jobs=jobs)
    assert "fw.elf" in str(caught.value)
    assert "reset" in caught.value.report


def test_three_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^3 firmware files; expected one, or two: before and after$"):
        bench(BOARD, firmware=["a", "b", "c"])


def test_table_fits_80_columns(software: BenchResult) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(software.render())
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "u-blox C030-U201 (STM32F437VG), mbedtls, 168 MHz, exact clock"
    assert any(line.startswith("RSA-2048 public") and line.endswith("20/20") for line in lines)
