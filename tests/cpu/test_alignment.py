"""Which accesses must be aligned (ARMv7-M Architecture Reference Manual, A3.2.1), and on what that depends."""

import pytest
from snippets import FLASH, RAM, Guest, assemble

from cryplab.cpu.alignment import CHECK, alignment_checks
from cryplab.cpu.timing import describe

CASES = [
    ("ldm r0, {r1, r2}", [(0, 0, 0)]),
    ("adds r0, #4\nldm r0!, {r1, r2}\nldm r0, {r3, r4}", [(0, 0, 1)]),
    ("ldrd r1, r2, [r3, #8]", [(3, 0, 0)]),
    ("mov r5, r7\nadds r5, #2\nldrd r1, r2, [r5]", [(7, 2, 2)]),
    ("ldr r1, [r0], #4\nldrd r2, r3, [r0]", [(0, 0, 1)]),
    ("ldr r1, [r0], #3\nldrd r2, r3, [r0]", [(0, 3, 1)]),
    ("strb r2, [r0, #1]!\nldrd r2, r3, [r0]", [(0, 1, 1)]),
    ("strd r1, r2, [r0], #8\nstrd r1, r2, [r0], #8", [(0, 0, 0)]),
    ("vldr s0, [r4, #4]", [(4, 0, 0)]),
    ("vldmia r0!, {s0-s3}\nvldmia r0!, {s0-s3}", [(0, 0, 0)]),
    ("ldrex r1, [r2]", [(2, 0, 0)]),
    # loaded, computed, conditional, or no access that must be aligned
    ("ldr r0, [r1]\nldm r0, {r1, r2}", []),
    ("lsls r1, r0, #2\nldm r1, {r2, r3}", []),
    ("ldm r0, {r0, r1}\nldm r0, {r1, r2}", [(0, 0, 0)]),
    ("it eq\nldmeq r0, {r1, r2}\nldm r0, {r2, r3}", [(0, 0, 2)]),
    ("ldr r1, [r0, #1]\nldrh r1, [r0, #1]\nstr r1, [r0, #3]", []),
    ("push {r4, lr}\nldrd r0, r1, [sp]", []),
    ("vmov r0, r1, d0\ntbb [r0, r1]\nldrexb r0, [r1]", []),
]


@pytest.mark.parametrize(("source", "expected"), CASES)
def test_checks(source, expected):
    code = assemble(source + "\n")
    halfwords = [halfword for halfword, _ in describe("cortex-m4", code, FLASH).offsets]
    assert list(CHECK.iter_unpack(alignment_checks("cortex-m4", code, halfwords))) == expected


def test_a_word_loop_over_a_byte_pointer_faults_as_on_the_chip():
    """A copy by LDM works on an aligned buffer and faults on the next one."""
    copy = "copy: ldmia r1!, {r2, r3}\nstmia r0!, {r2, r3}\nsubs r4, #1\nbne copy\nbx lr\n"
    guest = Guest(
        f"movs r4, #4\nldr r0, ={RAM}\nldr r1, ={FLASH}\nbl copy\nmovs r4, #4\nldr r1, ={FLASH + 2}\nbl copy\n",
        {3: "hard"},
        copy + "hard: b hard\n",
    )
    assert guest.core.run().reason == "fault"
    assert guest.word(RAM) == guest.word(FLASH)
    fault = guest.core.fault
    assert (fault.kind, fault.cause) == ("UsageFault", "access that is not aligned")
    assert guest.core.read_memory(fault.pc, 2) == b"\x0c\xc9"
    assert fault.registers["r4"] == 4
