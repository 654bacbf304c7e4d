"""NVIC through its registers."""


def test_enable_pending_and_clear(bench):
    nvic = bench.block["NVIC"]
    nvic.write(0x08, 0xFFFF_FFFF)  # ISER2: interrupts 64 to 90 exist
    assert nvic.read(0x08) == nvic.read(0x88) == 0x07FF_FFFF
    nvic.write(0x88, 0xF)
    assert nvic.read(0x08) == 0x07FF_FFF0
    nvic.write(0x100, 1 << 5)
    assert nvic.read(0x100) == nvic.read(0x180) == 1 << 5
    nvic.write(0x180, 1 << 5)
    assert nvic.read(0x100) == 0


def test_an_input_that_is_high_stays_pending(bench):
    nvic = bench.block["NVIC"]
    bench.core.set_interrupt(7, True)
    nvic.write(0x180, 1 << 7)
    assert nvic.read(0x100) == 1 << 7
    bench.core.set_interrupt(7, False)
    assert nvic.read(0x100) == 1 << 7  # latched
    nvic.write(0x180, 1 << 7)
    assert nvic.read(0x100) == 0


def test_priorities_by_byte_keep_their_neighbours_and_have_four_bits(bench):
    nvic = bench.block["NVIC"]
    nvic.write(0x300 + 81, 0xA7, 1)
    nvic.write(0x300 + 82, 0xFF, 1)
    assert nvic.read(0x300 + 80) == 0x00F0_A000
    assert nvic.read(0x300 + 81, 1) == 0xA0
    assert bench.core.engine.priority(16 + 81) == 0xA0


def test_software_trigger(bench):
    bench.block["STIR"].write(0, 33)
    assert bench.block["NVIC"].read(0x104) == 2
