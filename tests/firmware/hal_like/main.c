/* A firmware as a user would bring it: built with the files that vendor tools generate (start-up, linker script,
 * SystemInit), clocks with HAL-like waits, printf of newlib on the console. Every check prints "NAME ok" or
 * "NAME FAILED"; the last line tells how many failed. Proves that such an ELF runs with no option but --board. */
#include <stdio.h>
#include <stdlib.h>
#include "hal.h"

static int checks, failures;
static volatile uint32_t updates, pressed;
__attribute__((section(".ccmram"))) static uint32_t in_ccm[4];

void check(const char *name, int good)
{
    checks++;
    failures += !good;
    printf("%-28s %s\n", name, good ? "ok" : "FAILED");
}

static int near(uint32_t value, uint32_t wanted, uint32_t per_mille)
{
    uint32_t off = value > wanted ? value - wanted : wanted - value;
    return (uint64_t)off * 1000 <= (uint64_t)wanted * per_mille;
}

static void clock_checks(void)
{
    REG(0xE000EDFC) |= 1u << 24;
    REG(DWT) |= 1;
    uint32_t tick = tick_ms;
    while (tick_ms == tick) {
    }
    uint32_t start = REG(DWT + 4);
    while (tick_ms - tick < 11) {
    }
    check("core cycles per tick", near(REG(DWT + 4) - start, system_core_clock / 100, 1));
    check("core clock", system_core_clock == CORE_MHZ * 1000000u);

    /* TIM5: the 1 MHz ticker of a 32-bit timer; its clock is twice PCLK1 when APB1 is divided */
    REG(RCC + 0x40) |= 1u << 3 | 1u;
    REG(TIM5 + 0x28) = 2 * hal_pclk(1) / 1000000 - 1;
    REG(TIM5 + 0x2C) = 0xFFFFFFFFu;
    REG(TIM5 + 0x14) = 1;
    REG(TIM5) = 1;
    start = REG(TIM5 + 0x24);
    hal_delay(9);
    check("TIM5 at 1 MHz", near(REG(TIM5 + 0x24) - start, 9500, 60));

    /* TIM2: an interrupt each 100 microseconds */
    REG(TIM2 + 0x28) = 2 * hal_pclk(1) / 1000000 - 1;
    REG(TIM2 + 0x2C) = 99;
    REG(TIM2 + 0x14) = 1;
    REG(TIM2 + 0x10) = 0;
    REG(TIM2 + 0x0C) = 1;
    hal_enable_irq(28, 6);
    REG(TIM2) = 1;
    start = REG(TIM5 + 0x24);
    while (REG(TIM5 + 0x24) - start < 5050) {
    }
    REG(TIM2) = 0;
    check("TIM2 interrupts", updates == 50);
}

void TIM2_IRQHandler(void)
{
    if (REG(TIM2 + 0x10) & 1) {
        REG(TIM2 + 0x10) = ~1u;
        updates++;
    }
}

static uint32_t rtc_seconds(void)
{
    uint32_t time = REG(RTC);
    (void)REG(RTC + 4);
    return 10 * (time >> 4 & 7) + (time & 15);
}

/* source: 1 LSE, 2 LSI */
static void rtc_checks(uint32_t source, const char *name)
{
    REG(RCC + 0x70) |= 1u << 16; /* the source can only be changed by a reset of the backup domain */
    REG(RCC + 0x70) &= ~(1u << 16);
    if (source == 1) {
        REG(RCC + 0x70) |= 1;
        (void)hal_wait(RCC + 0x70, 2, 2, 5000);
    }
    REG(RCC + 0x70) |= source << 8;
    BITBAND(RCC + 0x70, 15) = 1;
    REG(RTC + 0x24) = 0xCA;
    REG(RTC + 0x24) = 0x53;
    REG(RTC + 0x0C) &= ~(1u << 5);
    int good = hal_wait(RTC + 0x0C, 1u << 5, 1u << 5, 1000) == HAL_OK;
    uint32_t time = REG(RTC), date = REG(RTC + 4);
    printf("date 20%x-%02x-%02x %02x:%02x:%02x\n", (unsigned)(date >> 16 & 0xFF), (unsigned)(date >> 8 & 0x1F),
           (unsigned)(date & 0x3F), (unsigned)(time >> 16 & 0x3F), (unsigned)(time >> 8 & 0x7F), (unsigned)(time & 0x7F));
    uint32_t before = rtc_seconds(), start = tick_ms;
    while (rtc_seconds() == before && tick_ms - start < 1500) {
        __asm__ volatile("wfi");
    }
    start = tick_ms;
    before = rtc_seconds();
    while (rtc_seconds() == before && tick_ms - start < 1500) {
        __asm__ volatile("wfi");
    }
    check(name, good && near(tick_ms - start, 1000, 100));
    REG(RTC + 0x24) = 0xFF;
}

static void pin_checks(void)
{
    hal_pin(GPIOB, 7, 1, 0);
    REG(GPIOB + 0x18) = 1u << 7;
    int on = REG(GPIOB + 0x14) >> 7 & 1 && REG(GPIOB + 0x10) >> 7 & 1;
    REG(GPIOB + 0x18) = 1u << 23;
    check("pin set and reset", on && !(REG(GPIOB + 0x14) >> 7 & 1));
    REG(RCC + 0x44) |= 1u << 14; /* SYSCFG */
    hal_pin(GPIOC, 13, 0, 0);
    REG(SYSCFG + 0x14) = (REG(SYSCFG + 0x14) & ~0xF0u) | 2u << 4;
    REG(EXTI + 0x08) |= 1u << 13;
    REG(EXTI) |= 1u << 13;
    hal_enable_irq(40, 7);
    REG(EXTI + 0x10) = 1u << 13; /* software trigger */
    __asm__ volatile("dsb\n\tisb");
    check("EXTI interrupt", pressed == 1);
}

void EXTI15_10_IRQHandler(void)
{
    if (REG(EXTI + 0x14) & 1u << 13) {
        REG(EXTI + 0x14) = 1u << 13;
        pressed++;
    }
}

static void flash_checks(void)
{
    const uint32_t at = 0x080E0000; /* sector 11, behind the program */
    REG(FLASH + 0x04) = 0x45670123;
    REG(FLASH + 0x04) = 0xCDEF89AB;
    int good = !(REG(FLASH + 0x10) >> 31);
    REG(FLASH + 0x10) = 2u << 8 | 11u << 3 | 1u << 1;
    REG(FLASH + 0x10) |= 1u << 16;
    good &= hal_wait(FLASH + 0x0C, 1u << 16, 0, 50000) == HAL_OK;
    REG(FLASH + 0x10) &= ~(0x1Fu << 3 | 1u << 1);
    good &= REG(at) == 0xFFFFFFFFu;
    REG(FLASH + 0x10) = 2u << 8 | 1;
    for (uint32_t i = 0; i < 16; i++) {
        REG(at + 4 * i) = 0x01010101u * i;
        good &= hal_wait(FLASH + 0x0C, 1u << 16, 0, 100) == HAL_OK;
    }
    REG(FLASH + 0x10) = 0u << 8 | 1;
    *(volatile uint8_t *)(at + 64) = 0x5A;
    good &= hal_wait(FLASH + 0x0C, 1u << 16, 0, 100) == HAL_OK;
    REG(FLASH + 0x10) = 1u << 31;
    for (uint32_t i = 0; i < 16; i++) {
        good &= REG(at + 4 * i) == 0x01010101u * i;
    }
    good &= REG(at + 64) == 0xFFFFFF5Au && !(REG(FLASH + 0x0C) & 0xF2);
    check("flash erased and programmed", good);
}

int main(void)
{
    hal_start_tick();
    hal_status oscillators = hal_oscillators();
    hal_status clocks = hal_clocks();
    console_start();
    setvbuf(stdout, 0, _IONBF, 0);
    printf("core %lu Hz, buses %lu and %lu Hz\n", (unsigned long)system_core_clock, (unsigned long)hal_pclk(1),
           (unsigned long)hal_pclk(2));
    check("oscillators", oscillators == HAL_OK);
    check("clocks", clocks == HAL_OK);
    clock_checks();
    static const char by_interrupt[] = "this by interrupt\n", by_dma[] = "this by DMA\n";
    console_write_it(by_interrupt, sizeof by_interrupt - 1);
    check("console by DMA", console_write_dma(by_dma, sizeof by_dma - 1) == HAL_OK);
    check("printf of a float", snprintf((char *)in_ccm, 16, "%.3f", (double)355 / 113) == 5 && in_ccm[0] == 0x34312E33u);
    check("malloc", malloc(100) != 0);
    pin_checks();
    rtc_checks(1, "RTC by LSE");
    rtc_checks(2, "RTC by LSI");
    BITBAND(RCC + 0x30, 12) = 1;
    REG(CRC + 8) = 1;
    REG(CRC) = 0x12345678;
    check("CRC", REG(CRC) == 0xDF8A8A2Bu); /* the value ST's application notes give */
    check("unique id and flash size", REG(0x1FFF7A10) != 0 && *(volatile uint16_t *)0x1FFF7A22 == FLASH_KIB);
    check("device id", (REG(0xE0042000) & 0xFFF) == 0x419);
    crypto_checks();
    style_checks();
    flash_checks();
#ifdef WITH_ADC
    REG(RCC + 0x44) |= 1u << 8;
    REG(ADC1 + 8) = 1u | 1u << 30;
    check("ADC conversion", hal_wait(ADC1, 2, 2, 10) == HAL_OK);
#endif
    REG(IWDG) = 0xCCCC;
    REG(IWDG) = 0x5555;
    REG(IWDG + 4) = 6;
    REG(IWDG + 8) = 4095;
    check("IWDG started", hal_wait(IWDG + 0x0C, 3, 0, 50) == HAL_OK);
    REG(IWDG) = 0xAAAA;
    printf("done: %d checks, %d failed\n", checks, failures);
    for (;;) {
        __asm__ volatile("wfi");
    }
}
