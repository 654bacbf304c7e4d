"""All private peripherals together."""


def test_blocks_lie_in_order_and_do_not_overlap(bench):
    end = 0xE000_0000
    for base, size, block in bench.private.slots():
        assert base >= end, block.name
        end = base + size
    assert end <= 0xE010_0000


def test_every_register_can_be_read_and_written_back(bench):
    for _, _, block in bench.private.slots():
        for offset in block.places:
            block.write(offset, block.read(offset))


def test_state_survives_a_snapshot(bench):
    states = [block.save() for _, _, block in bench.private.slots()]
    bench.block["MPU"].write(0x8, 3)
    bench.block["NVIC"].write(0x300, 0x8040_2010)
    for (_, _, block), state in zip(bench.private.slots(), states, strict=True):
        block.load(state)
    assert bench.block["MPU"].read(0x8) == 0
    assert bench.block["NVIC"].read(0x300) == 0
