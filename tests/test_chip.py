"""A chip description is checked when it is built, and relatives are derived."""

from __future__ import annotations

import pytest

from cryplab import chips
from cryplab.blocks.rcc_f4 import RccF4
from cryplab.blocks.rng_v1 import RngV1
from cryplab.blocks.usart_v1 import UsartV1
from cryplab.chip import At, Chip, DmaWire, Flash, KiB, MiB, NotModelled, Ram
from cryplab.errors import BoardError, DeclarationError

RCC = At("RCC", 0x4002_3800, RccF4, irq=5, bus="AHB1")
RNG = At("RNG", 0x5006_0800, RngV1, irq=80, clock="RCC.AHB2ENR.RNGEN")
FLASH = Flash("FLASH", 0x0800_0000, 64 * KiB)
SRAM = Ram("SRAM", 0x2000_0000, 16 * KiB)


def chip(
    *peripherals: At | NotModelled, memory: tuple[Flash | Ram, ...] = (FLASH, SRAM), dma: tuple[DmaWire, ...] = ()
) -> Chip:
    return Chip(
        name="stm32test", core="cortex-m4", manual="RM0090", memory=memory, peripherals=peripherals, dma=dma,
        interrupts=91,
    )  # fmt: skip


def test_a_sound_chip() -> None:
    made = chip(RCC, RNG, NotModelled("CAN1", 0x4000_6400))
    assert [p.name for p in made.modelled] == ["RCC", "RNG"]
    assert [p.name for p in made.not_modelled] == ["CAN1"]
    assert made.flash is FLASH
    assert made.find(0x5006_0808) is RNG
    assert made.find(0x2000_3FFF) is SRAM
    assert made.find(0x2000_4000) is None


def test_bus_and_reset_bit_follow_the_clock_bit() -> None:
    assert (RNG.bus, RNG.reset) == ("AHB2", "RCC.AHB2RSTR.RNGRST")
    assert At("RNG", 0, RngV1, clock="RCC.AHB2ENR.RNGEN", reset="").reset == ""
    assert NotModelled("CAN1", 0, clock="RCC.APB1ENR.CAN1EN").bus == "APB1"


@pytest.mark.parametrize(
    ("peripherals", "message"),
    [
        (
            (RCC, RNG, NotModelled("PKA", 0x5006_0A00)),
            "stm32test: PKA at 0x50060a00..0x50060dff overlaps RNG at 0x50060800..0x50060bff",
        ),
        ((RCC, NotModelled("X", 0x2000_3C00)), "stm32test: X at 0x20003c00..0x20003fff overlaps SRAM at 0x20000000"),
        ((RCC, RCC), "stm32test: there are two peripherals named RCC"),
        ((NotModelled("X", 0x4000_0002),), "stm32test: X at 0x40000002 with 0x400 bytes: base and size must be multip"),
        (
            (NotModelled("X", 0x4000_0000, size=0),),
            "with 0x0 bytes: base and size must be multiples of 4, and the size",
        ),
        (
            (NotModelled("X", 0xFFFF_FE00),),
            "stm32test: X at 0xfffffe00..0x1000001ff is outside the 32-bit address space",
        ),
        (
            (RCC, At("RNG", 0x5006_0800, RngV1, clock="RCC.AHB2ENR.RGNEN")),
            "stm32test: RNG: clock RCC.AHB2ENR.RGNEN: RCC.AHB2ENR has no field RGNEN; did you mean 'RNGEN'?",
        ),
        (
            (RCC, At("RNG", 0x5006_0800, RngV1, clock="RCC.AHB9ENR.RNGEN")),
            "stm32test: RNG: clock RCC.AHB9ENR.RNGEN: RCC has no register AHB9ENR; did you mean 'AHB",
        ),
        (
            (RCC, At("RNG", 0x5006_0800, RngV1, clock="RCC.AHB2ENR.RNGEN", reset="RCC.AHB2RSTR.RNG")),
            "stm32test: RNG: reset RCC.AHB2RSTR.RNG: RCC.AHB2RSTR has no field RNG; did you mean 'RNGRST'?",
        ),
        (
            (RCC, At("RNG", 0x5006_0800, RngV1, clock="RNGEN")),
            "stm32test: RNG: clock RNGEN: expected BLOCK.REGISTER.FIELD, such as RCC.AHB2ENR.CRYPEN",
        ),
        ((RNG,), "stm32test: RNG: clock RCC.AHB2ENR.RNGEN: the chip has no modelled block RCC"),
        ((RCC, At("RNG", 0x5006_0800, RngV1, irq=91)), "stm32test: RNG.irq is interrupt 91, the chip has 0 to 90"),
        (
            (RCC, At("RNG", 0x5006_0800, RngV1, irq={"irk": 80})),
            "stm32test: RNG has no line 'irk'; did you mean 'irq'? It has irq",
        ),
    ],
)
def test_what_contradicts_itself_cannot_be_built(peripherals: tuple[At | NotModelled, ...], message: str) -> None:
    with pytest.raises(DeclarationError) as raised:
        chip(*peripherals)
    assert message in str(raised.value)


def test_sectors_must_fill_the_flash() -> None:
    with pytest.raises(DeclarationError, match=r"the sectors of FLASH make 0x8000 bytes, its size is 0x10000"):
        chip(RCC, memory=(Flash("FLASH", 0x0800_0000, 64 * KiB, sectors=(16 * KiB, 16 * KiB)),))


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        (
            DmaWire("DMA2", 1, 1, "USART1.dma_tx"),
            "DMA wire DMA2 stream 1 channel 1: the chip has no modelled block DMA2",
        ),
        (DmaWire("RCC", 1, 1, "USART9.dma_tx"), "USART9.dma_tx: the chip has no modelled block USART9"),
        (DmaWire("RCC", 1, 1, "USART1.dma"), "USART1 has no request 'dma'; it has dma_rx, dma_tx"),
    ],
)
def test_dma_wires_are_checked(wire: DmaWire, message: str) -> None:
    with pytest.raises(DeclarationError) as raised:
        chip(RCC, At("USART1", 0x4001_1000, UsartV1), dma=(wire,))
    assert message in str(raised.value)


def test_deriving() -> None:
    base = chips.find("stm32f437vg")
    less = base.without("CRYP", "hash").renamed("stm32f427vg")
    assert less.name == "stm32f427vg"
    assert not less.has("CRYP")
    assert base.has("CRYP")
    assert {p.name for p in base.peripherals} - {p.name for p in less.peripherals} == {"CRYP", "HASH"}
    assert {w.request for w in base.dma} - {w.request for w in less.dma} == {
        "CRYP.dma_in", "CRYP.dma_out", "HASH.dma_in",
    }  # fmt: skip
    more = base.plus(NotModelled("LTDC", 0x4001_6800)).with_memory(Flash("FLASH", 0x0800_0000, 2 * MiB))
    assert more.peripheral("LTDC").base == 0x4001_6800
    assert more.flash.size == 2 * MiB
    assert len(more.memory) == len(base.memory)


def test_unknown_peripheral_names_the_nearest() -> None:
    with pytest.raises(BoardError) as raised:
        chips.find("stm32f437vg").peripheral("CRPY")
    assert str(raised.value) == "stm32f437vg has no peripheral 'CRPY'; did you mean 'CRYP'?"
    with pytest.raises(BoardError):
        chips.find("stm32f427vg").without("CRYP")


def test_memories_of_the_chips() -> None:
    sizes = {c.name: (c.flash.size // KiB, c.flash.sectors) for c in chips.CHIPS.values()}
    bank = (16 * KiB,) * 4 + (64 * KiB,) + (128 * KiB,) * 7
    for name, (size, sectors) in sizes.items():
        assert (size, sectors) == ((1024, bank) if name.endswith("g") else (2048, bank * 2)), name
    for known in chips.CHIPS.values():
        rams = {m.name: (m.base, m.size // KiB, m.dma, m.code) for m in known.memory if isinstance(m, Ram)}
        lacking = {"f2": {"CCM", "SRAM3"}, "f40": {"SRAM3"}, "f41": {"SRAM3"}}
        gone = next((names for family, names in lacking.items() if family in known.name), set[str]())
        assert rams.keys() & gone == set()
        assert {name: ram for name, ram in EVERY_RAM.items() if name not in gone} == rams


EVERY_RAM = {
    "CCM": (0x1000_0000, 64, False, False),
    "SRAM1": (0x2000_0000, 112, True, True),
    "SRAM2": (0x2001_C000, 16, True, True),
    "SRAM3": (0x2002_0000, 64, True, True),
    "BKPSRAM": (0x4002_4000, 4, True, True),
}


@pytest.mark.parametrize(
    "name", ["stm32f437vg", "STM32F437VG", "STM32F437VGT6", "stm32f437vgtx", " f437vg ", "F437VGT6"]
)
def test_chips_are_found_by_the_names_that_people_use(name: str) -> None:
    assert chips.find(name).name == "stm32f437vg"


def test_unknown_chip_names_the_nearest() -> None:
    with pytest.raises(BoardError) as raised:
        chips.find("stm32f473vg")
    assert str(raised.value).startswith("there is no chip 'stm32f473vg'; did you mean 'stm32f437vg'? Chips: stm32f2")
    with pytest.raises(BoardError, match=r"there is no chip 'zzz'\. Chips: "):
        chips.find("zzz")


def test_with_and_without_crypto() -> None:
    for known in chips.CHIPS.values():
        expected = known.name[5:8] in ("f43", "f41", "f21")
        assert (known.has("CRYP"), known.has("HASH"), known.has("RNG")) == (expected, expected, True)


def test_every_block_of_every_chip_can_be_built() -> None:
    for known in chips.CHIPS.values():
        for at in known.modelled:
            block = at.block(at.name, **at.options)
            assert block.name == at.name
