"""Consoles: collected text, `until`, semihosting operations, RTT rings."""

import struct

from cryplab.consoles import Console, Rtt, Semihosting, SemihostRequest


def test_text_lines_and_until() -> None:
    console, seen = Console(), []
    console.put(b"old done\n", 5)
    console.watch("done", lambda: seen.append(len(console.data)))
    console.put(b"all do", 10)
    assert seen == []
    console.put(b"ne\nmore", 20)
    assert seen == [22]
    assert console.lines() == [("old done", 5), ("all done", 20)]
    state = console.save()
    console.put(b"!\n", 30)
    console.load(state)
    assert console.text == "old done\nall done\nmore"


class Memory:
    def __init__(self) -> None:
        self.data = bytearray(256)

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.data[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        self.data[address : address + len(data)] = data


def host() -> tuple[Semihosting, Memory, Console]:
    memory, console = Memory(), Console()
    return Semihosting(memory.read, memory.write, console, lambda: 1.5), memory, console


def test_semihosting_writes_reads_and_tells_time() -> None:
    semihosting, memory, console = host()
    memory.write(0, b"hello\0")
    assert semihosting.serve(SemihostRequest(0x04, 0), 1) == 0
    memory.write(16, struct.pack("<III", 1, 0, 4))
    assert semihosting.serve(SemihostRequest(0x05, 16), 2) == 0
    assert console.text == "hellohell"
    semihosting.input += b"ab"
    memory.write(16, struct.pack("<III", 0, 64, 8))
    assert semihosting.serve(SemihostRequest(0x06, 16), 3) == 6
    assert memory.read(64, 2) == b"ab"
    assert semihosting.serve(SemihostRequest(0x10, 0), 4) == 150
    assert semihosting.serve(SemihostRequest(0x99, 0), 5) == 0xFFFF_FFFF


def test_semihosting_exit_codes() -> None:
    semihosting, memory, _ = host()
    semihosting.serve(SemihostRequest(0x18, 0x20026), 0)
    assert semihosting.exit_code == 0
    memory.write(0, struct.pack("<II", 0x20026, 7))
    semihosting.serve(SemihostRequest(0x20, 0), 0)
    assert semihosting.exit_code == 7
    semihosting.serve(SemihostRequest(0x18, 0x20024), 0)
    assert semihosting.exit_code == 1


def test_rtt_reads_a_ring_that_wraps() -> None:
    ram = bytearray(256)
    base = 0x2000_0000
    ram[32 : 32 + 11] = b"SEGGER RTT\0"
    struct.pack_into("<6I", ram, 32 + 24, 0, base + 128, 8, 3, 6, 0)
    ram[128:136] = b"lo!..hel"[:8]
    ram[128:136] = b"lo!...he"
    console = Console()
    rtt = Rtt(console)
    assert rtt.find(None, [(base, memoryview(ram))])
    rtt.poll(9)
    assert console.text == "helo!"
    assert struct.unpack_from("<I", ram, 32 + 24 + 16) == (3,)
    rtt.poll(10)
    assert console.text == "helo!"
