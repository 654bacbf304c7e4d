"""MPU through its registers."""


def test_mpu_remembers_each_region(bench):
    mpu = bench.block["MPU"]
    mpu.write(0x8, 2)
    mpu.write(0xC, 0x2000_0000)
    mpu.write(0x10, 0x0306_0021)
    mpu.write(0xC, 0x0800_0000 | 1 << 4 | 5)  # VALID, region 5
    mpu.write(0x10, 0x0602_0027)
    assert mpu.read(0x8) == 5
    assert (mpu.read(0xC), mpu.read(0x10)) == (0x0800_0005, 0x0602_0027)
    mpu.write(0x8, 2)
    assert (mpu.read(0xC), mpu.read(0x10)) == (0x2000_0002, 0x0306_0021)
