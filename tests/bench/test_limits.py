"""Limits, worked out by hand from the manual's cycles (RM0090: AES 14/16/18, DES 16, TDES 48, SHA-256 50)."""

import pytest

from cryplab.bench.limits import by_cpu, by_dma, job_of, limit_of
from cryplab.chips import find
from cryplab.reports import Operation

F437 = find("stm32f437vg")
F429 = find("stm32f429zi")
HZ = 168_000_000


def kilobytes_per_second(cycles: float, size: int = 1024) -> float:
    return size * HZ / cycles / 1024


def test_bus() -> None:
    # 4 words in: 5 loads + 4 stores; one status read; 4 words out: 5 loads + 4 stores
    assert by_cpu(4, 4) == 9 + 2 + 9
    assert by_dma(4, 4) == 32
    assert by_cpu(16, 0) == 33 + 2


@pytest.mark.parametrize(
    ("row", "cpu_cycles", "dma_cycles"),
    [
        ("AES-CBC-128", 64 * 20, 64 * 32),
        ("AES-CBC-256", 64 * 20, 64 * 32),
        ("AES-256-CBC-enc", 64 * 20, 64 * 32),
        ("AES-GCM-128", 24 + 64 * 20 + 14 + 11, 24 + 64 * 32 + 14 + 11),
        ("AES-CCM-256", 16 + 64 * 33 + 18 + 11, 16 + 64 * 33 + 18 + 11),
        ("3DES", 128 * 48, 128 * 48),
        ("DES", 128 * 16, 128 * 16),
        ("SHA-256", 17 * 50 + 8 * 2 + 1 + 2, 16 * 64 + 50 + 19),
        ("MD5", 17 * 50 + 4 * 2 + 1 + 2, 16 * 64 + 50 + 11),
    ],
)
def test_named_rows(row: str, cpu_cycles: int, dma_cycles: int) -> None:
    limit = limit_of(row, "KB/s", 1024, F437, HZ)
    assert limit.cpu == pytest.approx(kilobytes_per_second(cpu_cycles))
    assert limit.dma == pytest.approx(kilobytes_per_second(dma_cycles))


@pytest.mark.parametrize("row", ["SHA-512", "AES-XTS-128", "CTR_DRBG (NOPR)", "CHACHA"])
def test_no_part_no_limit(row: str) -> None:
    assert limit_of(row, "KB/s", 1024, F437, HZ).cpu is None


def test_no_accelerator_no_limit() -> None:
    assert limit_of("AES-CBC-128", "KB/s", 1024, F429, HZ).to_json() == {"cpu": None, "dma": None}


def test_key_operations_have_no_limit() -> None:
    assert limit_of("RSA-2048 public", "ms", 0, F437, HZ).cpu is None


def test_by_operations() -> None:
    """A DRBG: 2 calls of 1024 bytes took 130 AES blocks of 14 cycles, moved word by word."""
    seen = [Operation("CRYP", "AES", "ECB", key_bits=256, data_bytes=16, busy_cycles=14, words_in=4, words_out=4)] * 130
    limit = limit_of("CTR_DRBG (NOPR)", "KB/s", 1024, F437, HZ, seen, calls=2)
    assert limit.cpu == pytest.approx(kilobytes_per_second(65 * 20))
    assert limit.dma == pytest.approx(kilobytes_per_second(65 * 32))


def test_padding_block() -> None:
    assert limit_of("SHA-256", "KB/s", 55, F437, HZ).cpu == pytest.approx(kilobytes_per_second(31 + 50 + 19, 55))
    assert limit_of("SHA-256", "KB/s", 56, F437, HZ).cpu == pytest.approx(kilobytes_per_second(31 + 100 + 19, 56))


def test_names() -> None:
    assert job_of("SHA") == job_of("SHA-1")
    assert job_of("AES-128-GCM-dec") == job_of("AES-GCM-128")
    assert job_of("HMAC_DRBG SHA-256 (PR)") is None
