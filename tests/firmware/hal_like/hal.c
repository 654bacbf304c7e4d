/* Ticks, clocks and console in the manner of vendor libraries: every wait has a limit in SysTick milliseconds. */
#include "hal.h"

#ifndef HSE_VALUE
#define HSE_VALUE 8000000u
#endif
#if CORE_MHZ == 180
#define PLLN 360u
#else
#define PLLN 336u
#endif

#ifdef CONSOLE_USART1 /* PA9, PA10 */
#define USART 0x40011000u
#define USART_BUS 2
#define USART_IRQ 37
#define TX_DMA DMA2
#define TX_STREAM 7u
#else /* USART3, PD8, PD9 */
#define USART 0x40004800u
#define USART_BUS 1
#define USART_IRQ 39
#define TX_DMA DMA1
#define TX_STREAM 3u
#endif
#define USART_SR (USART + 0x00)
#define USART_DR (USART + 0x04)

volatile uint32_t tick_ms;
uint32_t system_core_clock = 16000000;
static const uint8_t apb_shift[8] = {0, 0, 0, 0, 1, 2, 3, 4};

/* Called before .data is there: nothing but registers. */
void SystemInit(void)
{
    REG(0xE000ED88) |= 0xFu << 20; /* FPU on */
    REG(RCC + 0x00) |= 1;          /* HSI on, and everything else as after a reset */
    REG(RCC + 0x08) = 0;
    REG(RCC + 0x00) &= 0xFEF6FFFFu;
    REG(RCC + 0x04) = 0x24003010u;
    REG(RCC + 0x00) &= 0xFFFBFFFFu;
    REG(RCC + 0x0C) = 0;
    REG(0xE000ED08) = 0x08000000u;
}

void SysTick_Handler(void) { tick_ms++; }

void hal_start_tick(void)
{
    REG(0xE000E014) = system_core_clock / 1000 - 1;
    REG(0xE000E018) = 0;
    REG(0xE000ED20) = (REG(0xE000ED20) & 0x00FFFFFFu) | 0xF0000000u; /* lowest priority */
    REG(0xE000E010) = 7;
}

void hal_delay(uint32_t ms)
{
    uint32_t start = tick_ms;
    while (tick_ms - start < ms + 1) {
    }
}

hal_status hal_wait(uint32_t address, uint32_t mask, uint32_t wanted, uint32_t ms)
{
    uint32_t start = tick_ms;
    while ((REG(address) & mask) != wanted) {
        if (tick_ms - start > ms) {
            return HAL_TIMEOUT;
        }
    }
    return HAL_OK;
}

hal_status hal_oscillators(void)
{
    REG(RCC + 0x40) |= 1u << 28; /* PWR */
    (void)REG(RCC + 0x40);
    REG(PWR) |= 3u << 14; /* scale 1 */
#ifdef HSE_BYPASS
    REG(RCC) |= 1u << 18;
#endif
    REG(RCC) |= 1u << 16;
    if (hal_wait(RCC, 1u << 17, 1u << 17, 100)) {
        return HAL_TIMEOUT;
    }
    BITBAND(RCC + 0x74, 0) = 1; /* LSI, by bit-band as the vendor does */
    if (hal_wait(RCC + 0x74, 2, 2, 2)) {
        return HAL_TIMEOUT;
    }
    BITBAND(PWR, 8) = 1; /* DBP: LSE is in the backup domain */
    if (hal_wait(PWR, 1u << 8, 1u << 8, 2)) {
        return HAL_TIMEOUT;
    }
    REG(RCC + 0x70) |= 1;
    if (hal_wait(RCC + 0x70, 2, 2, 5000)) {
        return HAL_TIMEOUT;
    }
    BITBAND(RCC, 24) = 0;
    if (hal_wait(RCC, 1u << 25, 0, 2)) {
        return HAL_TIMEOUT;
    }
    REG(RCC + 0x04) = HSE_VALUE / 1000000u | PLLN << 6 | 0u << 16 | 1u << 22 | (CORE_MHZ == 180 ? 8u : 7u) << 24;
    BITBAND(RCC, 24) = 1;
    return hal_wait(RCC, 1u << 25, 1u << 25, 2);
}

hal_status hal_clocks(void)
{
#if CORE_MHZ == 180
    BITBAND(PWR, 16) = 1; /* ODEN */
    if (hal_wait(PWR + 4, 1u << 16, 1u << 16, 1000)) {
        return HAL_TIMEOUT;
    }
    BITBAND(PWR, 17) = 1; /* ODSWEN */
    if (hal_wait(PWR + 4, 1u << 17, 1u << 17, 1000)) {
        return HAL_TIMEOUT;
    }
#endif
    *(volatile uint8_t *)FLASH = 5; /* latency by its byte */
    if ((REG(FLASH) & 15) != 5) {
        return HAL_ERROR;
    }
    REG(FLASH) |= 7u << 8; /* prefetch and caches */
    REG(RCC + 8) = (REG(RCC + 8) & ~(7u << 10)) | 7u << 10;
    REG(RCC + 8) = (REG(RCC + 8) & ~(7u << 13)) | 7u << 13; /* slowest buses while the clock changes */
    REG(RCC + 8) &= ~(15u << 4);
    REG(RCC + 8) = (REG(RCC + 8) & ~3u) | 2;
    if (hal_wait(RCC + 8, 3u << 2, 2u << 2, 5000)) {
        return HAL_TIMEOUT;
    }
    REG(RCC + 8) = (REG(RCC + 8) & ~(7u << 10)) | 5u << 10;
    REG(RCC + 8) = (REG(RCC + 8) & ~(7u << 13)) | 4u << 13;
    uint32_t pll = REG(RCC + 4);
    system_core_clock = (uint32_t)((uint64_t)HSE_VALUE * (pll >> 6 & 0x1FF) / (pll & 63)) / (((pll >> 16 & 3) + 1) * 2);
    hal_start_tick();
    return HAL_OK;
}

uint32_t hal_pclk(int bus)
{
    return system_core_clock >> apb_shift[REG(RCC + 8) >> (bus == 1 ? 10 : 13) & 7];
}

/* mode: 0 input, 1 output, 2 alternate function, 3 analog */
void hal_pin(uint32_t port, uint32_t pin, uint32_t mode, uint32_t alternate)
{
    REG(RCC + 0x30) |= 1u << ((port - GPIOA) / 0x400);
    (void)REG(RCC + 0x30);
    REG(port + 0x08) |= 3u << 2 * pin;
    REG(port + 0x04) &= ~(1u << pin);
    REG(port + 0x0C) = (REG(port + 0x0C) & ~(3u << 2 * pin)) | 1u << 2 * pin;
    uint32_t half = port + 0x20 + pin / 8 * 4;
    REG(half) = (REG(half) & ~(15u << 4 * (pin % 8))) | alternate << 4 * (pin % 8);
    REG(port) = (REG(port) & ~(3u << 2 * pin)) | mode << 2 * pin;
}

void hal_enable_irq(uint32_t number, uint32_t priority)
{
    ((volatile uint8_t *)0xE000E400)[number] = (uint8_t)(priority << 4);
    REG(0xE000E100 + number / 32 * 4) = 1u << number % 32;
}

/* ---- console ---- */
static const char *volatile next;
static volatile uint32_t left;

void console_start(void)
{
#ifdef CONSOLE_USART1
    REG(RCC + 0x44) |= 1u << 4;
    hal_pin(GPIOA, 9, 2, 7);
    hal_pin(GPIOA, 10, 2, 7);
#else
    REG(RCC + 0x40) |= 1u << 18;
    hal_pin(GPIOD, 8, 2, 7);
    hal_pin(GPIOD, 9, 2, 7);
#endif
    REG(USART + 0x0C) &= ~(1u << 13);
    REG(USART + 0x10) = 0;
    REG(USART + 0x14) = 0;
    REG(USART + 0x08) = (hal_pclk(USART_BUS) + 57600) / 115200;
    REG(USART + 0x0C) = 3u << 2;
    REG(USART + 0x0C) |= 1u << 13;
    hal_enable_irq(USART_IRQ, 5);
}

int _write(int file, const char *text, int length)
{
    (void)file;
    for (int i = 0; i < length; i++) {
        if (hal_wait(USART_SR, 1u << 7, 1u << 7, 10)) {
            return i;
        }
        REG(USART_DR) = (uint8_t)text[i];
    }
    if (hal_wait(USART_SR, 1u << 6, 1u << 6, 10)) {
        return -1;
    }
    return length;
}

static void console_interrupt(void)
{
    if (REG(USART + 0x0C) & 1u << 7 && REG(USART_SR) & 1u << 7) {
        REG(USART_DR) = (uint8_t)*next++;
        if (--left == 0) {
            REG(USART + 0x0C) = (REG(USART + 0x0C) & ~(1u << 7)) | 1u << 6;
        }
    } else if (REG(USART + 0x0C) & 1u << 6 && REG(USART_SR) & 1u << 6) {
        REG(USART + 0x0C) &= ~(1u << 6);
    }
}

void USART1_IRQHandler(void) { console_interrupt(); }
void USART3_IRQHandler(void) { console_interrupt(); }

void console_write_it(const char *text, uint32_t length)
{
    next = text;
    left = length;
    REG(USART + 0x0C) |= 1u << 7;
    while (REG(USART + 0x0C) & (3u << 6)) {
        __asm__ volatile("wfi");
    }
}

hal_status console_write_dma(const char *text, uint32_t length)
{
    uint32_t stream = TX_DMA + 0x10 + 0x18 * TX_STREAM;
    uint32_t clear = TX_STREAM < 4 ? TX_DMA + 0x08 : TX_DMA + 0x0C;
    uint32_t flag = 1u << (TX_STREAM % 4 == 3 ? 27 : 5);
    REG(RCC + 0x30) |= TX_DMA == DMA1 ? 1u << 21 : 1u << 22;
    REG(stream) &= ~1u;
    if (hal_wait(stream, 1, 0, 5)) {
        return HAL_TIMEOUT;
    }
    REG(clear) = 0x3Du << (TX_STREAM % 4 == 3 ? 22 : 0);
    REG(stream + 0x08) = USART_DR;
    REG(stream + 0x0C) = (uint32_t)text;
    REG(stream + 0x04) = length;
    REG(stream + 0x14) = 0;
    REG(stream) = 4u << 25 | 1u << 10 | 1u << 6 | 1;
    REG(USART_SR) = ~(1u << 6);
    REG(USART + 0x14) |= 1u << 7;
    hal_status status = hal_wait(TX_DMA + (TX_STREAM < 4 ? 0 : 4), flag, flag, 100);
    if (!status) {
        status = hal_wait(USART_SR, 1u << 6, 1u << 6, 100);
    }
    REG(USART + 0x14) &= ~(1u << 7);
    return status;
}
