"""Every block's table: reset values, access rules, reserved bits; no block is missed."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import cryplab.blocks
from cryplab.registers import Block, Reg

PATTERNS = (0x0000_0000, 0xFFFF_FFFF, 0x5555_5555, 0xAAAA_AAAA, 0x0F0F_0F0F)
IDENTITY = {"DbgmcuF4": {"IDCODE"}, "DeviceIdF4": {"UID", "FSIZE", "PACKAGE"}, "GpioV2": {"IDR"}}
"Registers whose content is wired in or comes from pins."


def all_blocks() -> Iterator[type[Block]]:
    for module in pkgutil.iter_modules(cryplab.blocks.__path__, "cryplab.blocks."):
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, type) and issubclass(thing, Block) and thing.__module__ == module.name:
                yield thing


BLOCKS = sorted(set(all_blocks()), key=lambda block: block.__name__)
REGISTERS = [
    pytest.param(reg, id=f"{block.__name__}.{name}") for block in BLOCKS for name, reg in block.registers.items()
]


def declared(reg: type[Reg]) -> int:
    return sum(f.bits for f in reg.fields)


@pytest.mark.parametrize("block", BLOCKS)
def test_it_is_documented(block: type[Block]) -> None:
    assert block.__doc__
    lines = block.__doc__.splitlines()
    assert lines[0].rstrip().endswith((".", ":")), "the first line is a sentence"
    for reg in block.registers.values():
        assert reg.fields, f"{reg.__name__} has no field"
        assert all(f.text for f in reg.fields)


@pytest.mark.parametrize("block", BLOCKS)
def test_reset_values(block: type[Block]) -> None:
    fresh = block()
    for offset, place in block.places.items():
        if place.reg.__name__ not in IDENTITY.get(block.__name__, ()):
            assert fresh.peek(offset) == place.reg.reset_value & place.reg.readable, place.name


@pytest.mark.parametrize("block", BLOCKS)
def test_writes_leave_reserved_bits_alone_and_reset_restores_everything(block: type[Block]) -> None:
    used = block()
    before = {offset: used.peek(offset) for offset in block.places}
    for offset, place in block.places.items():
        reserved = ~declared(place.reg) & 0xFFFF_FFFF
        kept = place.reg.reset_value & reserved
        for pattern in PATTERNS:
            used.write(offset, pattern)
            assert used.peek(offset) & reserved == kept, place.name
            assert 0 <= used.read(offset) <= 0xFFFF_FFFF
    used.reset()
    after = {offset: used.peek(offset) for offset in block.places}
    kept_by_battery = {"BKPR"}
    for offset, place in block.places.items():
        if place.reg.__name__ not in kept_by_battery:
            assert after[offset] == before[offset], place.name


@pytest.mark.parametrize("reg", REGISTERS)
def test_access_rules(reg: type[Reg]) -> None:
    for old in PATTERNS:
        for written in PATTERNS:
            state = reg()
            state.value = old
            state.apply(written)
            for f in reg.fields:
                was, new = f.of(old), f.of(written)
                wanted = {
                    "r": was,
                    "rw": new,
                    "w": was | new,
                    "rc_w0": was & new,
                    "rc_w1": was & ~new,
                    "rs": was | new,
                }[f.access]
                assert f.of(state.value) == wanted, f"{f.name} ({f.access})"
            reserved = ~declared(reg) & 0xFFFF_FFFF
            assert state.value & reserved == old & reserved


@pytest.mark.parametrize("block", BLOCKS)
def test_lines_and_requests_exist(block: type[Block]) -> None:
    made = block()
    for name in block.lines + block.dma:
        assert getattr(made, name).name == f"{made.name}.{name}"


def test_the_blocks_of_the_f4_are_among_them() -> None:
    names = {block.__name__ for block in BLOCKS}
    assert names >= {"CrcV1", "CrypV2", "DmaV2", "ExtiV1", "FlashF4", "GpioV2", "HashV2", "PwrF4", "RccF4", "RngV1"}
    assert names >= {"RtcV2", "SyscfgF4", "TimBasicV1", "TimV1", "TimV1Bits16", "UsartV1", "DbgmcuF4", "DeviceIdF4"}
