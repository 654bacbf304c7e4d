"""DWT and ITM through their registers."""


def test_cycle_counter_needs_both_enables(bench):
    dwt, debug = bench.block["DWT"], bench.block["COREDEBUG"]
    dwt.write(0, 0x4000_0001)
    bench.clock.advance(10)
    assert dwt.read(4) == 0
    debug.write(0xC, 1 << 24)
    bench.clock.advance(10)
    assert dwt.read(4) == 10
    dwt.write(4, 0xFFFF_FFFE)
    bench.clock.advance(5)
    assert dwt.read(4) == 3
    debug.write(0xC, 0)
    bench.clock.advance(5)
    assert dwt.read(4) == 3


def test_stimulus_port_0_is_text(bench):
    sent = []
    bench.private.itm_output = sent.append
    itm = bench.block["ITM"]
    assert itm.read(0) & 1
    itm.write(0, ord("A"), 1)
    itm.write(0, 0x4443, 2)
    itm.write(0, 0x4847_4645)
    itm.write(4, 0x49, 1)
    itm.write(0xE80, 0)
    itm.write(0, 0x4A, 1)
    assert b"".join(sent) == b"ACDEFGH"
