"""Each timing rule by a few encoded instructions and the cycles that the manuals' rules give by hand.

Encodings are halfwords as an assembler lists them; the comment is the assembly.
"""

from __future__ import annotations

import pytest

from cryplab.cpu.timing import BlockTiming, describe
from cryplab.errors import UsageError

ADDRESS = 0x0800_0100  # word aligned, first of a flash line


def encode(halfwords: str) -> bytes:
    return b"".join(int(h, 16).to_bytes(2, "little") for h in halfwords.split())


def block(halfwords: str, address: int = ADDRESS, core: str = "cortex-m4", **registers: int) -> BlockTiming:
    return describe(core, encode(halfwords), address, registers)


SINGLES = [
    ("2000", 1, "movs r0, #0"),
    ("eb00 0001", 1, "add.w r0, r0, r1"),
    ("fab1 f081", 1, "clz r0, r1"),
    ("bf00", 1, "nop"),
    ("6808", 2, "ldr r0, [r1]"),
    ("7808", 2, "ldrb r0, [r1]"),
    ("f991 0001", 2, "ldrsb.w r0, [r1, #1]"),
    ("4801", 2, "ldr r0, [pc, #4]"),
    ("5888", 2, "ldr r0, [r1, r2]"),
    ("6008", 1, "str r0, [r1]"),
    ("f841 0f04", 1, "str r0, [r1, #4]!"),
    ("5088", 2, "str r0, [r1, r2]"),
    ("e9d1 2300", 3, "ldrd r2, r3, [r1]"),
    ("e9c1 2300", 3, "strd r2, r3, [r1]"),
    ("c938", 4, "ldmia r1!, {r3, r4, r5}"),
    ("c138", 4, "stmia r1!, {r3, r4, r5}"),
    ("b510", 3, "push {r4, lr}"),
    ("bc10", 2, "pop {r4}"),
    ("e851 0f00", 2, "ldrex r0, [r1]"),
    ("e841 2000", 2, "strex r0, r2, [r1]"),
    ("fb01 f002", 1, "mul r0, r1, r2"),
    ("fbb1 f0f2", 8, "udiv r0, r1, r2"),
    ("f3ef 8010", 2, "mrs r0, primask"),
    ("f380 8810", 2, "msr primask, r0"),
    ("b672", 1, "cpsid i"),
    ("f3bf 8f4f", 2, "dsb"),
    ("f3bf 8f6f", 4, "isb"),
    ("ee30 0a81", 1, "vadd.f32 s0, s1, s2"),
    ("ee00 0a81", 3, "vmla.f32 s0, s1, s2"),
    ("eea0 0a81", 3, "vfma.f32 s0, s1, s2"),
    ("ee80 0a81", 14, "vdiv.f32 s0, s1, s2"),
    ("eeb1 0ae0", 14, "vsqrt.f32 s0, s1"),
    ("ee00 0a10", 1, "vmov s0, r0"),
    ("ec51 0a10", 2, "vmov r0, r1, s0, s1"),
    ("ed91 0a00", 2, "vldr s0, [r1]"),
    ("ed91 0b00", 3, "vldr d0, [r1]"),
    ("ed81 0b00", 3, "vstr d0, [r1]"),
    ("ed2d 8b04", 5, "vpush {d8, d9}"),
    ("ecbd 8a03", 4, "vpop {s16-s18}"),
    ("ecb1 0a04", 5, "vldmia r1!, {s0-s3}"),
    ("eef1 0a10", 1, "vmrs r0, fpscr"),
    ("eef1 fa10", 2, "vmrs APSR_nzcv, fpscr"),
    ("f890 f000", 1, "pld [r0]"),
]


@pytest.mark.parametrize(("code", "cycles", "assembly"), SINGLES, ids=[s[2] for s in SINGLES])
def test_one_instruction(code: str, cycles: int, assembly: str) -> None:
    timing = block(code)
    assert (timing.cost, timing.taken, timing.instructions) == (cycles, 0, 1)


@pytest.mark.parametrize(
    ("code", "m4", "m3"),
    [
        ("fb01 f002", 1, 1),  # mul r0, r1, r2
        ("fb01 3002", 1, 2),  # mla r0, r1, r2, r3
        ("fb01 3012", 1, 2),  # mls r0, r1, r2, r3
        ("fba2 0103", 1, 5),  # umull r0, r1, r2, r3
        ("fbe2 0103", 1, 7),  # umlal r0, r1, r2, r3
        ("fb82 0103", 1, 5),  # smull r0, r1, r2, r3
        ("fbc2 0103", 1, 7),  # smlal r0, r1, r2, r3
        ("fbe2 0163", 1, 1),  # umaal r0, r1, r2, r3: not of the M3
    ],
)
def test_multiplies_differ_between_cores(code: str, m4: int, m3: int) -> None:
    """The M3's long ones at the upper end of what its TRM gives: 3 to 5, with accumulation 4 to 7."""
    assert block(code).cost == m4
    assert block(code, core="cortex-m3").cost == m3


PAIRS = [
    ("6808 681a", 3, "ldr r0,[r1]; ldr r2,[r3]: n loads take n + 1"),
    ("6808 681a 6808 681a", 5, "four independent loads"),
    ("681a 6814", 4, "ldr r2,[r3]; ldr r4,[r2]: the address is just being loaded"),
    ("6808 5888", 3, "ldr r0,[r1]; ldr r0,[r1,r2]"),
    ("681a 5888", 4, "ldr r2,[r3]; ldr r0,[r1,r2]: the index is just being loaded"),
    ("4801 6808", 3, "ldr r0,[pc,#4]; ldr r0,[r1]"),
    ("6808 2000 681a", 5, "ldr; movs; ldr: not consecutive"),
    ("6008 6808", 3, "str; ldr: nothing follows a store at once"),
    ("6808 6008", 3, "ldr r0,[r1]; str r0,[r1]"),
    ("681a 6010", 4, "ldr r2,[r3]; str r0,[r2]: the address is just being loaded"),
    ("6808 5088", 3, "ldr r0,[r1]; str r0,[r1,r2]: 1 after a load"),
    ("681a 5088", 4, "ldr r2,[r3]; str r0,[r1,r2]: but not when the load makes its address"),
    ("5088 5088", 4, "str r0,[r1,r2] twice"),
    ("5088 6808", 4, "str r0,[r1,r2]; ldr r0,[r1]"),
    ("681a f851 0b04", 4, "ldr r2,[r3]; ldr r0,[r1],#4: write-back does not pair with the load before"),
    ("f851 0b04 681a", 4, "ldr r0,[r1],#4; ldr r2,[r3]: nor lets the next one pair"),
    ("f851 0f04 5088", 4, "ldr r0,[r1,#4]!; str r0,[r1,r2]"),
    ("6808 e9d1 2300", 5, "ldr; ldrd: never paired"),
    ("e9d1 2300 6808", 5, "ldrd; ldr"),
    ("bc10 6808", 4, "pop; ldr"),
    ("6808 ed91 0a00", 4, "ldr; vldr"),
]


@pytest.mark.parametrize(("code", "cycles", "why"), PAIRS, ids=[p[2] for p in PAIRS])
def test_loads_and_stores_in_a_row(code: str, cycles: int, why: str) -> None:
    assert block(code).cost == cycles


ADDRESSES = [
    ("3104 6808", 4, "adds r1,#4; ldr r0,[r1]: one stall"),
    ("3104 6008", 3, "adds r1,#4; str r0,[r1]"),
    ("f101 0104 5888", 4, "add r1,r1,#4; ldr r0,[r1,r2]"),
    ("f04f 0001 6008", 2, "mov r0,#1; str r0,[r1]: the data may be late"),
    ("3104 2000 6808", 4, "adds r1,#4; movs r0,#0; ldr r0,[r1]: not directly before"),
    ("3104 e9d1 2300", 5, "adds r1,#4; ldrd r2,r3,[r1]"),
    ("b082 b510", 5, "sub sp,#8; push {r4,lr}"),
    ("fb02 f103 6808", 4, "mul r1,r2,r3; ldr r0,[r1]"),
    ("f851 0b04 6808", 4, "ldr r0,[r1],#4; ldr r0,[r1]: a base made by write-back is no data processing"),
    ("2801 6800", 3, "cmp r0,#1; ldr r0,[r0]: compares make no address"),
]


@pytest.mark.parametrize(("code", "cycles", "why"), ADDRESSES, ids=[a[2] for a in ADDRESSES])
def test_address_made_by_the_instruction_before(code: str, cycles: int, why: str) -> None:
    assert block(code).cost == cycles


BRANCHES = [
    ("e002", 1, 1, False, "b"),
    ("f000 b802", 1, 1, False, "b.w"),
    ("f000 f800", 1, 1, False, "bl"),
    ("4770", 1, 2, False, "bx lr"),
    ("4798", 1, 2, False, "blx r3"),
    ("46f7", 1, 2, False, "mov pc, lr"),
    ("b110", 1, 2, True, "cbz"),
    ("d002", 1, 1, True, "beq, flags from before the block"),
    ("2800 d002", 2, 2, True, "cmp; beq"),
    ("2800 f04f 0001 d002", 3, 1, True, "cmp; mov.w; beq: the instruction directly before sets no flags"),
    ("3801 d1fc", 2, 2, True, "subs; bne"),
    ("bd10", 3, 3, False, "pop {r4, pc}"),
    ("f8d1 f000", 2, 3, False, "ldr pc, [r1]"),
    ("e8df f000", 2, 3, False, "tbb [pc, r0]"),
    ("e8df f010", 2, 3, False, "tbh [pc, r0, lsl #1]"),
    ("3001 e8df f000", 4, 3, False, "adds r0,#1; tbb [pc, r0]: address just made"),
]


@pytest.mark.parametrize(("code", "cost", "taken", "conditional", "assembly"), BRANCHES, ids=[b[4] for b in BRANCHES])
def test_branches(code: str, cost: int, taken: int, conditional: bool, assembly: str) -> None:
    timing = block(code)
    assert (timing.cost, timing.taken, timing.conditional) == (cost, taken, conditional)
    assert timing.fall_through == ADDRESS + len(encode(code))


def test_delay_loop_takes_four_cycles_a_round() -> None:
    """SUBS, BNE with the flags set directly before: 1 + 1 + 2."""
    timing = block("3801 d1fc")
    assert timing.cost + timing.taken + timing.entry_extra == 4


IT_BLOCKS = [
    ("bf08 2001", 2, 0, False, "it eq; moveq r0,#1"),
    ("bf1e 6808 681a 4770", 5, 2, True, "ittt ne; ldrne; ldrne; bxne lr"),
    ("bf08 bd10", 2, 5, True, "it eq; popeq {r4,pc}: 1 skipped, 1 + 2 + 3 taken"),
    ("2800 bf18 2001 d102", 4, 1, True, "cmp; it ne; movne r0,#1; bne: MOVNE sets no flags"),
    ("bf18 2800 d102", 3, 2, True, "it ne; cmpne r0,#0; bne: CMPNE does"),
]


@pytest.mark.parametrize(("code", "cost", "taken", "conditional", "why"), IT_BLOCKS, ids=[i[4] for i in IT_BLOCKS])
def test_it_blocks(code: str, cost: int, taken: int, conditional: bool, why: str) -> None:
    timing = block(code)
    assert (timing.cost, timing.taken, timing.conditional) == (cost, taken, conditional)


def test_accesses_inside_it_blocks_are_named() -> None:
    """ldr r0,[r1]; itt ne; ldrne r0,[r1]; strne r0,[r1]; ldr r2,[r3]."""
    assert block("6808 bf1c 6808 6008 681a").it_loads == [ADDRESS + 4, ADDRESS + 6]


WIDE = "eb00 0001 "  # add.w r0, r0, r1
WIDE_STORE = "f8c1 00c8 "  # str.w r0, [r1, #200]


@pytest.mark.parametrize(
    ("code", "offset", "cycles"),
    [
        (WIDE * 2, 2, 2),
        (WIDE * 3, 2, 4),  # the third costs one more
        (WIDE * 6, 2, 7),  # once per run
        (WIDE * 3, 0, 3),  # word aligned: never
        (WIDE * 3 + "bf00 bf00 " + WIDE * 3, 2, 10),  # two runs
        (WIDE * 3 + "bf00 " + WIDE * 3, 2, 8),  # the second run is aligned
        (WIDE * 2 + WIDE_STORE, 2, 3),  # a store third
        (WIDE_STORE * 4, 2, 5),  # at the fourth
        (WIDE * 2 + WIDE_STORE + WIDE, 2, 5),
    ],
)
def test_runs_of_unaligned_wide_instructions(code: str, offset: int, cycles: int) -> None:
    assert block(code, ADDRESS + offset).cost == cycles


@pytest.mark.parametrize(
    ("code", "offset", "extra"), [(WIDE, 2, 1), (WIDE, 0, 0), ("bf00 " + WIDE, 2, 0), ("bf00 " + WIDE, 0, 0)]
)
def test_branch_to_an_unaligned_wide_instruction(code: str, offset: int, extra: int) -> None:
    assert block(code, ADDRESS + offset).entry_extra == extra


def test_offsets_are_halfwords_and_cycles_before() -> None:
    """ldr r0,[r1]; ldr r2,[r3]; add.w; bx lr."""
    assert block("6808 681a eb00 0001 4770").offsets == [(0, 0), (1, 2), (2, 3), (4, 4)]


def test_lines_come_in_order_with_the_cycles_before_them() -> None:
    """Nine NOPs from +2: seven in the first line."""
    assert block("bf00 " * 9, ADDRESS + 2).lines == [(ADDRESS, 0), (ADDRESS + 16, 7)]


def test_a_wide_instruction_across_lines_needs_both_when_it_starts() -> None:
    """Six NOPs from +2, then ADD.W at +14 and BX LR at +18."""
    assert block("bf00 " * 6 + WIDE + "4770", ADDRESS + 2).lines == [(ADDRESS, 0), (ADDRESS + 16, 6)]
    assert block(WIDE, ADDRESS + 14).lines == [(ADDRESS, 0), (ADDRESS + 16, 0)]


@pytest.mark.parametrize(
    ("code", "at", "literals"),
    [
        ("4801", 0, [(ADDRESS + 8, 0)]),  # ldr r0, [pc, #4]
        ("4801", 2, [(ADDRESS + 8, 0)]),  # PC is aligned down to a word
        ("2000 4801 4801", 0, [(ADDRESS + 8, 1), (ADDRESS + 12, 3)]),
        ("f85f 0008", 0, [(ADDRESS - 4, 0)]),  # ldr.w r0, [pc, #-8]
    ],
)
def test_literals_have_addresses(code: str, at: int, literals: list[tuple[int, int]]) -> None:
    timing = block(code, ADDRESS + at)
    assert timing.literals == literals
    assert timing.unknown_loads == 0


RAM, FLASH, IO, SYSTEM = 0x2000_1000, 0x0801_0000, 0x5006_0000, 0x1FFF_7A10


@pytest.mark.parametrize(
    ("code", "registers", "unknown"),
    [
        ("6808", {"r1": RAM}, 0),  # ldr r0, [r1]
        ("6808", {"r1": IO}, 0),
        ("6808", {"r1": FLASH}, 1),
        ("6808", {"r1": SYSTEM}, 1),
        ("6808", {}, 1),
        ("6008", {"r1": FLASH}, 0),  # str r0, [r1]: no read
        ("681a 6814", {"r3": RAM, "r2": RAM}, 1),  # ldr r2,[r3]; ldr r4,[r2]: the base changed
        ("3104 6808", {"r1": RAM}, 0),  # adds r1,#4; ldr r0,[r1]: a constant sum is followed
        ("466a 6850", {}, 0),  # mov r2,sp; ldr r0,[r2,#4]
        ("ab02 681a", {}, 0),  # add r3,sp,#8; ldr r2,[r3]
        ("fb02 f103 6808", {"r1": RAM}, 1),  # mul r1,r2,r3; ldr r0,[r1]
        ("5888", {"r1": RAM, "r2": 8}, 0),  # ldr r0, [r1, r2]
        ("5888", {"r1": 8, "r2": FLASH}, 1),
        ("bc10", {}, 0),  # pop {r4}: the stack is in RAM
        ("c938", {"r1": FLASH}, 1),  # ldmia r1!, {r3, r4, r5}
        ("e8df f000", {"r0": 3}, 1),  # tbb [pc, r0]
        ("bf18 2101 6808", {"r1": RAM}, 1),  # it ne; movne r1,#1; ldr r0,[r1]
    ],
)
def test_loads_are_classed_by_the_registers_at_the_first_meeting(
    code: str, registers: dict[str, int], unknown: int
) -> None:
    # names that are missing stand for registers of which nothing is known
    assert block(code, **registers).unknown_loads == unknown


def test_registers_may_be_asked_by_a_function_and_only_when_needed() -> None:
    asked = []

    def ask(name: str) -> int:
        asked.append(name)
        return RAM

    assert describe("cortex-m4", encode("2000 6808"), ADDRESS, ask).unknown_loads == 0
    assert asked == ["r1"]


@pytest.mark.parametrize(("code", "loop"), [("e7fe", True), ("bf00 e7fe", False), ("e7fd", False), ("f7ff bffe", True)])
def test_endless_loop(code: str, loop: bool) -> None:
    assert block(code).self_loop is loop


def test_a_cut_changes_the_sum_only_by_what_crosses_it() -> None:
    """nop; push; ldr.w; mul; strd; adds; bx, cut anywhere: no rule reaches back, so the parts make the whole."""
    parts = ["bf00", "b510", "f8d1 00c8", "fb02 f403", "e9c1 2300", "3104", "4770"]
    whole = block(" ".join(parts))
    for cut in range(1, len(parts)):
        first, rest = " ".join(parts[:cut]), " ".join(parts[cut:])
        start = ADDRESS + len(encode(first))
        assert block(first).cost + block(rest, start).cost == whole.cost
        assert block(rest, start).taken == whole.taken


def test_unknown_encodings_cost_one() -> None:
    assert block("de00").cost == 1  # udf #0
    assert block("ffff ffff").cost == 1


def test_core_without_rules() -> None:
    with pytest.raises(UsageError, match=r"no timing rules for core 'cortex-m5'; did you mean 'cortex-m4'\?"):
        describe("cortex-m5", b"\x00\xbf", 0)
    with pytest.raises(UsageError, match="There are cortex-m4, cortex-m3"):
        describe("sparc", b"\x00\xbf", 0)
