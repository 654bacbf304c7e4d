"""The observer on a running machine: calls by symbol, source lines, stacks, threads, snapshots, other listeners."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cryplab.errors import UsageError
from cryplab.machine import Machine
from cryplab.observe.trace import TraceWriter
from tests.small_firmware import build, needs_gcc

SOURCE = """
typedef unsigned u32;
typedef unsigned char u8;
#define R(a) (*(volatile u32 *)(a))
#define CRYP(o) R(0x50060000 + (o))
extern u32 _estack;
#define API __attribute__((noinline, noclone, used))
API int mbedtls_aes_setkey_enc(u32 *ctx, const u32 *key, u32 bits)
{
    for (int i = 0; i < 4; i++) CRYP(0x30 + 4 * i) = __builtin_bswap32(key[i]); /* key */
    return 0;
}
API int mbedtls_aes_crypt_ecb(u32 *ctx, int mode, const u32 *in, u32 *out)
{
    CRYP(0) = 4 << 3 | 2 << 6 | 1 << 15;
    for (int i = 0; i < 4; i++) CRYP(8) = in[i]; /* data */
    while (!(CRYP(4) & 4)) {}
    for (int i = 0; i < 4; i++) out[i] = CRYP(12);
    CRYP(0) = 0;
    return 0;
}
u32 a[80], b[80], result[4];
const u32 key_a[4] = {1, 2, 3, 4}, key_b[4] = {5, 6, 7, 8}, text[4] = {9, 9, 9, 9};
API int shared(void)
{
    mbedtls_aes_setkey_enc(a, key_a, 128);
    mbedtls_aes_setkey_enc(b, key_b, 128);
    return mbedtls_aes_crypt_ecb(a, 1, text, result);
}
API int alone(void)
{
    mbedtls_aes_setkey_enc(a, key_a, 128);
    return mbedtls_aes_crypt_ecb(a, 1, text, result);
}
API void cryplab_stopped(void) { for (;;) {} }
u32 cryplab_exit_code;
u32 ticks;
void tick(void) { ticks++; }
void reset(void)
{
    R(0x40023834) |= 1 << 4; /* the clock of CRYP */
    R(0xE000E014) = 100;
    R(0xE000E010) = 7;
    for (int i = 0; i < 20; i++) alone();
#ifdef SHARED
    shared();
#endif
    cryplab_stopped();
}
void *fault(void) { for (;;) {} }
__attribute__((section(".isr_vector"), used)) const void *table[16] = {
    &_estack, reset, fault, fault, [15] = tick };
"""
UBLOX = "ublox-c030-u201"


def line_of(mark: str) -> int:
    return next(n for n, line in enumerate(SOURCE.split("\n"), 1) if f"/* {mark} */" in line)


def machine(folder: Path, *flags: str) -> Machine:
    made = Machine(UBLOX)
    made.load(build(folder, "0x08000000", "0x20000000", "-g", "-fno-optimize-sibling-calls", *flags, source=SOURCE))
    return made


@needs_gcc
def test_a_run_with_a_fault_names_contexts_line_and_callers(tmp_path: Path) -> None:
    m = machine(tmp_path, "-DSHARED")
    observer = m.observe()
    assert m.run(seconds=1).reason == "finished"
    (finding,) = observer.findings
    a, b = m.symbol("a").address, m.symbol("b").address
    assert (finding.rule, finding.context) == ("O1", f"AES context {a:#010x}")
    assert (Path(finding.where.file).name, finding.where.line) == ("fw.c", line_of("data"))
    assert finding.where.function.startswith("mbedtls_aes_crypt_ecb+")
    assert finding.earlier is not None
    assert finding.earlier.where.line == line_of("key")
    assert finding.earlier.context == f"AES context {b:#010x}"
    functions = [frame.split()[1].split("+")[0] for frame in finding.stack]
    assert functions[:2] == ["mbedtls_aes_crypt_ecb", "shared"]


@needs_gcc
def test_a_right_run_under_interrupts_has_no_findings_and_the_same_cycles(tmp_path: Path) -> None:
    plain, watched = machine(tmp_path), machine(tmp_path)
    observer = watched.observe()
    assert plain.run(seconds=1) == watched.run(seconds=1)
    assert plain.clock.now == watched.clock.now
    assert list(observer.findings) == []
    assert watched.read_word(watched.symbol("ticks").address) > 5
    assert len(observer.contexts.objects) == 1


@needs_gcc
def test_calls_from_the_bench_and_snapshots(tmp_path: Path) -> None:
    m = machine(tmp_path)
    observer = m.observe()
    m.run(seconds=1)
    booted = m.snapshot()
    assert m.call("alone") == 0
    assert len(observer.findings) == 0
    for _ in range(3):
        m.restore(booted)
        m.call("shared")
    assert [(f.rule, f.count) for f in observer.findings] == [("O1", 3)]
    m.restore(booted)
    assert len(observer.contexts.objects) == 1
    assert observer.contexts.current is None


@needs_gcc
def test_trace_and_observer_hear_the_same(tmp_path: Path) -> None:
    m = machine(tmp_path, "-DSHARED")
    observer = m.observe()
    with TraceWriter(m, tmp_path / "trace.jsonl"):
        m.run(seconds=1)
    lines = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    assert sum(line["register"] == "DIN" for line in lines) == 21 * 4
    assert len(observer.findings) == 1


def test_firmware_comes_first() -> None:
    with pytest.raises(UsageError, match=r"^load the firmware before observing"):
        Machine(UBLOX).observe()
