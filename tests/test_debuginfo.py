"""Source lines for every DWARF version, compared with addr2line; call stacks against known calls."""

import random
import subprocess
from pathlib import Path

import pytest

from cryplab.debuginfo import DebugInfo, SourceLine
from cryplab.loader import Image, load
from cryplab.unwind import call_stack, show_stack
from small_firmware import build, needs_gcc

pytestmark = needs_gcc

SOURCE = """
volatile int sink;
static inline __attribute__((always_inline)) int tiny(int x) { return sink + x; }
extern unsigned _estack;
int __attribute__((noinline)) leaf(int a) {
    sink = tiny(a);
    return sink;
}
int __attribute__((noinline)) middle(int a) {
    volatile int room[12];
    room[a & 7] = leaf(a + 1);
    return room[a & 7] + 1;
}
int __attribute__((noinline)) outer(int a) {
    return middle(a) + middle(a + 1) + 2;
}
void reset(void) {
    sink = outer(sink);
    for (;;) ;
}
__attribute__((section(".isr_vector"), used)) const void *table[16] = { &_estack, (void *)reset };
"""


@pytest.fixture(scope="module", params=["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"])
def elf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dwarf"), "0x08000000", "0x20000000", request.param, source=SOURCE)


def test_lines_are_those_of_addr2line(elf: Path) -> None:
    image = load(elf)
    start, end = image.symbols.find("leaf").address, image.symbols.find("reset").end
    addresses = range(start, end, 2)
    command = ["arm-none-eabi-addr2line", "-e", elf, *(f"{a:#x}" for a in addresses)]
    expected = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for address, theirs in zip(addresses, expected, strict=True):
        ours = image.debug.line(address)
        path, _, line = theirs.split(" ")[0].rpartition(":")
        assert ours is not None
        assert (Path(ours.path).name, str(ours.line)) == (Path(path).name, line), hex(address)
    assert image.debug.line(0x0800_0000) is None
    assert image.debug.line(0x2000_0000) is None


def test_inlined(elf: Path) -> None:
    image = load(elf)
    leaf = image.symbols.find("leaf")
    found = {name for address in range(leaf.address, leaf.end, 2) for name in image.debug.inlined(address)}
    assert found == {"tiny"}
    assert image.debug.inlined(image.symbols.find("reset").address) == []


def call_address(image: Image, caller: str, callee: str) -> int:
    """Address of the first BL in a function to another, found in the disassembly."""
    command = ["arm-none-eabi-objdump", "-d", image.path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    body = text.split(f"<{caller}>:\n")[1].split("\n\n")[0]
    line = next(x for x in body.splitlines() if f"<{callee}>" in x and "bl" in x)
    return int(line.split(":")[0], 16)


def stopped_in_leaf(image: Image, last: int | None = None) -> tuple[dict[str, int], dict[int, int]]:
    """Registers and stack as they are at leaf's first instruction, by the calls' addresses and prologues.

    `last`: where `outer` returns to, if not to `reset`.
    """
    inner = (call_address(image, "middle", "leaf") + 4) | 1
    outer = (call_address(image, "outer", "middle") + 4) | 1
    reset = (call_address(image, "reset", "outer") + 4) | 1
    registers = {"pc": image.symbols.find("leaf").address, "lr": inner, "sp": 0x2000_1000}
    cfa = 0x2000_1000
    memory: dict[int, int] = {}
    for function, returns in (("middle", outer), ("outer", last or reset)):
        rules = image.debug.frame_rules(image.symbols.find(function).end - 4)
        assert rules is not None
        row = image.debug.frame_rules(call_address(image, function, "leaf" if function == "middle" else "middle"))
        assert row is not None
        cfa += row["cfa"].offset
        memory[cfa + row[14].arg] = returns
    return registers, memory


def test_call_stack_by_frame_table(elf: Path) -> None:
    image = load(elf)
    registers, memory = stopped_in_leaf(image)
    frames = call_stack(image, registers, lambda address: memory.get(address, 0))
    assert [f.function.split("+")[0] for f in frames] == ["leaf", "middle", "outer", "reset"]
    assert [f.line.line for f in frames[1:3] if f.line] == [11, 15]
    assert all(f.sure for f in frames[:3])
    assert show_stack(frames).splitlines()[1].startswith("#1  0x0800")
    assert "fw.c:11" in show_stack(frames)


def test_call_stack_ends_with_the_first_function_of_a_thread(elf: Path) -> None:
    """A kernel has it return to a function that ends the thread; nothing before that function calls."""
    image = load(elf)
    registers, memory = stopped_in_leaf(image, last=image.symbols.find("reset").address | 1)
    frames = call_stack(image, registers, lambda address: memory.get(address, 0))
    assert [f.function.split("+")[0] for f in frames] == ["leaf", "middle", "outer"]


def test_call_stack_without_table_is_a_guess(elf: Path) -> None:
    image = load(elf)
    registers, memory = stopped_in_leaf(image)
    image.debug = DebugInfo()
    frames = call_stack(image, registers, lambda address: memory.get(address, 0))
    assert [f.function.split("+")[0] for f in frames] == ["leaf", "middle", "outer", "reset"]
    assert [f.sure for f in frames] == [True, False, False, False]
    assert "(guessed)" in show_stack(frames)


@pytest.mark.parametrize("fpu", [False, True])
def test_exception_is_stepped_over(elf: Path, fpu: bool) -> None:
    """A handler that interrupted leaf, on the main stack; 4 bytes of padding said by bit 9 of xPSR."""
    image = load(elf)
    registers, memory = stopped_in_leaf(image)
    words = 26 if fpu else 8
    frame = registers["sp"] - 4 * words - 4
    stacked = [0, 0, 0, 0, 0, registers["lr"], registers["pc"], 0x0100_0200]
    memory |= {frame + 4 * n: w for n, w in enumerate(stacked)}
    handler = {
        "pc": image.symbols.find("leaf").address,
        "lr": 0xFFFF_FFE9 if fpu else 0xFFFF_FFF9,
        "sp": frame,
    }
    frames = call_stack(image, handler, lambda address: memory.get(address, 0))
    assert [f.function.split("+")[0] for f in frames] == ["leaf", "leaf", "middle", "outer", "reset"]
    assert [f.exception for f in frames] == [True, False, False, False, False]


def test_garbage_registers_end_soon(elf: Path) -> None:
    image = load(elf)
    frames = call_stack(image, {"pc": 0xDEAD_BEEE, "lr": 0xFFFF_FFFF, "sp": 3}, lambda address: None)
    assert len(frames) == 1


def test_damaged_debug_data_never_raise(elf: Path) -> None:
    image = load(elf)
    sound = elf.read_bytes()
    spoil = random.Random(1)
    start = sound.find(image.segments[0].data) + len(image.segments[0].data)
    leaf = image.symbols.find("leaf").address
    for _ in range(40):
        data = bytearray(sound)
        for _ in range(20):
            data[spoil.randrange(start, len(data))] = spoil.randrange(256)
        debug = DebugInfo(bytes(data))
        assert debug.line(leaf) is None or isinstance(debug.line(leaf), SourceLine)
        debug.inlined(leaf)
        debug.frame_rules(leaf)
    assert DebugInfo(b"nonsense").line(leaf) is None
    assert DebugInfo().frame_rules(leaf) is None
