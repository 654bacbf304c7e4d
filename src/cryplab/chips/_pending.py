from cryplab.registers import Block


class CrypV2(Block):
    lines = ("irq",)
    dma = ("dma_in", "dma_out")


class RngV1(Block):
    lines = ("irq",)
