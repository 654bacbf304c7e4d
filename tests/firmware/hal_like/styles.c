/* Other ways to reach registers: bit-band, bytes and halfwords, as older vendor libraries and bare code do. */
#include "hal.h"

#define BYTE(address) (*(volatile uint8_t *)(address))
#define HALF(address) (*(volatile uint16_t *)(address))

static int bit_band(void)
{
    BITBAND(RCC + 0x30, 1) = 0; /* GPIOB clock off and on by one bit */
    int off = !(REG(RCC + 0x30) & 2);
    BITBAND(RCC + 0x30, 1) = 1;
    int good = off && REG(RCC + 0x30) & 2 && BITBAND(RCC + 0x30, 1) == 1;
    BITBAND(GPIOB + 0x14, 0) = 1;
    good &= (REG(GPIOB + 0x14) & 1) && BITBAND(GPIOB + 0x14, 0) == 1;
    BITBAND(GPIOB + 0x14, 0) = 0;
    static uint32_t in_ram = 0x80;
    uint32_t alias = 0x22000000u + ((uint32_t)&in_ram - 0x20000000u) * 32;
    good &= REG(alias + 7 * 4) == 1 && REG(alias) == 0;
    REG(alias) = 1;
    return good && in_ram == 0x81 && !(REG(GPIOB + 0x14) & 1);
}

static int bytes_and_halfwords(void)
{
    /* the old library's GPIO: set and reset halves of BSRR */
    HALF(GPIOB + 0x18) = 1u << 3;
    int good = (HALF(GPIOB + 0x14) >> 3 & 1) && (BYTE(GPIOB + 0x14) >> 3 & 1);
    HALF(GPIOB + 0x1A) = 1u << 3;
    good &= !(HALF(GPIOB + 0x14) >> 3 & 1);
    /* HSE bits of RCC_CR by their byte, interrupt flags by theirs */
    uint32_t before = REG(RCC);
    BYTE(RCC + 2) = BYTE(RCC + 2);
    BYTE(RCC + 0x0C + 2) = 0x9F;
    good &= REG(RCC) == before;
    /* 16-bit timer accesses */
    HALF(TIM2 + 0x28) = 9;
    HALF(TIM2 + 0x2C) = 999;
    good &= REG(TIM2 + 0x28) == 9 && HALF(TIM2 + 0x2C) == 999;
    /* NVIC by bytes */
    BYTE(0xE000E400 + 50) = 0x70;
    good &= (REG(0xE000E400 + 48) >> 16 & 0xFF) == 0x70;
    BYTE(CRC + 4) = 0xA5;
    return good && BYTE(CRC + 4) == 0xA5;
}

static int read_modify_write(void)
{
    /* rc_w0 flags: writing ones clears nothing; rc_w1: what is read and written back clears everything pending */
    REG(TIM2 + 0x14) = 1;
    int good = REG(TIM2 + 0x10) & 1;
    REG(TIM2 + 0x10) = 0xFFFF;
    good &= REG(TIM2 + 0x10) & 1;
    REG(TIM2 + 0x10) &= ~1u;
    good &= !(REG(TIM2 + 0x10) & 1);
    REG(EXTI) &= ~(1u << 13);
    REG(EXTI + 0x10) = 1u << 13;
    good &= !(REG(EXTI + 0x14) & 1u << 13);
    return good;
}

void style_checks(void)
{
    check("bit-band", bit_band());
    check("bytes and halfwords", bytes_and_halfwords());
    check("read-modify-write", read_modify_write());
}
