/* Start-up and system blocks used as vendor code uses them; every check prints "NAME ok" or "NAME FAILED".
 * Proves that RCC, PWR, FLASH, USART, TIM, DMA, EXTI, RTC, CRC and identity work on a running core. */
#include <stdint.h>

#ifndef PLLM
#define PLLM 12 /* crystal in MHz: the PLL's input is 1 MHz */
#endif
#ifdef ON_USART3
#define UART 0x40004800u
#define UART_CLOCK 42000000u
#define UART_IRQ 39
#else
#define UART 0x40011000u
#define UART_CLOCK 84000000u
#define UART_IRQ 37
#endif

#define REG(address) (*(volatile uint32_t *)(address))
#define RCC(offset) REG(0x40023800u + (offset))
#define PWR(offset) REG(0x40007000u + (offset))
#define FLASH(offset) REG(0x40023C00u + (offset))
#define USART(offset) REG(UART + (offset))
#define TIM2(offset) REG(0x40000000u + (offset))
#define TIM5(offset) REG(0x40000C00u + (offset))
#define DMA2(offset) REG(0x40026400u + (offset))
#define EXTI(offset) REG(0x40013C00u + (offset))
#define RTC(offset) REG(0x40002800u + (offset))
#define CRC(offset) REG(0x40023000u + (offset))
#define ENABLE_IRQ(n) (REG(0xE000E100u + 4 * ((n) / 32)) = 1u << ((n) % 32))

extern uint32_t _estack, _sidata, _sdata, _edata, _sbss, _ebss;
static volatile uint32_t ticks, updates, dma_done, exti_done, got;
static volatile char input[8];

/* ---- waits as a vendor's library makes them: until a flag shows, at most so many milliseconds of SysTick ---- */
static int wait(volatile uint32_t *reg, uint32_t mask, uint32_t wanted, uint32_t milliseconds)
{
    uint32_t start = ticks;
    while ((*reg & mask) != wanted) {
        if (ticks - start > milliseconds) {
            return 0;
        }
    }
    return 1;
}

static int start_clocks(void)
{
    int good = 1;
    RCC(0x40) |= 1u << 28; /* PWR clock */
    (void)RCC(0x40);
    PWR(0x00) |= 3u << 14; /* voltage scale 1 */
#ifdef BYPASS
    RCC(0x00) |= 1u << 18;
#endif
    RCC(0x00) |= 1u << 16; /* HSE */
    good &= wait(&RCC(0x00), 1u << 17, 1u << 17, 100);
    RCC(0x00) &= ~(1u << 24); /* PLL off to configure it */
    good &= wait(&RCC(0x00), 1u << 25, 0, 2);
    RCC(0x04) = PLLM | 336u << 6 | 0u << 16 | 1u << 22 | 7u << 24;
    RCC(0x00) |= 1u << 24;
    good &= wait(&RCC(0x00), 1u << 25, 1u << 25, 2);
    PWR(0x00) |= 1u << 16; /* over-drive */
    good &= wait(&PWR(0x04), 1u << 16, 1u << 16, 1000);
    PWR(0x00) |= 1u << 17;
    good &= wait(&PWR(0x04), 1u << 17, 1u << 17, 1000);
    good &= wait(&PWR(0x04), 1u << 14, 1u << 14, 1000); /* VOSRDY */
    FLASH(0x00) = 5u | 7u << 8;
    good &= (FLASH(0x00) & 15u) == 5u;
    RCC(0x08) = (RCC(0x08) & ~0xFCF0u) | 5u << 10 | 4u << 13; /* APB1 / 4, APB2 / 2 */
    RCC(0x08) = (RCC(0x08) & ~3u) | 2u;
    good &= wait(&RCC(0x08), 3u << 2, 2u << 2, 5000);
    REG(0xE000E014u) = 168000 - 1; /* SysTick 1 ms at 168 MHz */
    REG(0xE000E018u) = 0;
    return good;
}

static void put(char c)
{
    while (!(USART(0x00) & 1u << 7)) {
    }
    USART(0x04) = (uint8_t)c;
}

static void print(const char *text)
{
    while (*text) {
        put(*text++);
    }
}

static void number(uint32_t value)
{
    for (int shift = 28; shift >= 0; shift -= 4) {
        put("0123456789abcdef"[value >> shift & 15]);
    }
}

static void report(const char *name, int good)
{
    print(name);
    print(good ? " ok\n" : " FAILED\n");
}

static void start_console(void)
{
    RCC(0x44) |= 1u << 4;  /* USART1 */
    RCC(0x40) |= 1u << 18; /* USART3 */
    RCC(0x30) |= 1u << 0 | 1u << 3;
    (void)RCC(0x30);
    USART(0x08) = (UART_CLOCK + 57600) / 115200;
    USART(0x0C) = 1u << 13 | 1u << 3 | 1u << 2;
}

static int timers(void)
{
    RCC(0x40) |= 1u << 3 | 1u << 0;
    (void)RCC(0x40);
    TIM5(0x28) = 84 - 1; /* microseconds: the timer clock is twice APB1 */
    TIM5(0x14) = 1;
    TIM5(0x00) = 1;
    uint32_t start = ticks;
    while (ticks == start) {
    }
    uint32_t from = TIM5(0x24), tick = ticks;
    while (ticks - tick < 5) {
    }
    uint32_t took = TIM5(0x24) - from;
    TIM2(0x28) = 84 - 1;
    TIM2(0x2C) = 100 - 1;
    TIM2(0x14) = 1;
    TIM2(0x10) = 0;
    TIM2(0x0C) = 1;
    ENABLE_IRQ(28);
    TIM2(0x00) = 1;
    from = TIM5(0x24);
    while (updates < 10) {
        __asm__ volatile("wfi");
    }
    uint32_t slept = TIM5(0x24) - from;
    TIM2(0x00) = 0;
    return took >= 4995 && took <= 5005 && slept >= 999 && slept <= 1005;
}

static int program_flash(void)
{
    volatile uint32_t *place = (volatile uint32_t *)0x080E0000u;
    int good = 1;
    FLASH(0x04) = 0x45670123u;
    FLASH(0x04) = 0xCDEF89ABu;
    good &= !(FLASH(0x10) >> 31);
    for (int round = 0; round < 2; round++) {
        FLASH(0x10) = 2u << 8 | 11u << 3 | 1u << 1;
        FLASH(0x10) |= 1u << 16;
        good &= wait(&FLASH(0x0C), 1u << 16, 0, 50000);
        good &= place[0] == 0xFFFFFFFFu && place[0x7FFF] == 0xFFFFFFFFu;
        FLASH(0x10) = 2u << 8 | 1u;
        for (uint32_t n = 0; n < 16; n++) {
            place[n] = n * 0x01010101u + (uint32_t)round;
            good &= wait(&FLASH(0x0C), 1u << 16, 0, 50000);
        }
        for (uint32_t n = 0; n < 16; n++) {
            good &= place[n] == n * 0x01010101u + (uint32_t)round;
        }
    }
    good &= (FLASH(0x0C) & 0xF3u) == 0;
    FLASH(0x10) = 1u << 31;
    return good;
}

static int copy(uint32_t from, uint32_t to, uint32_t words)
{
    DMA2(0x08) = 0x3Du;
    DMA2(0x18) = from;
    DMA2(0x1C) = to;
    DMA2(0x14) = words;
    DMA2(0x24) = 1u << 2 | 3u;
    dma_done = 0;
    DMA2(0x10) = 2u << 6 | 1u << 9 | 1u << 10 | 2u << 11 | 2u << 13 | 1u << 4 | 1u << 2;
    DMA2(0x10) |= 1u;
    while (!dma_done) {
        __asm__ volatile("wfi");
    }
    return (int)dma_done;
}

static int dma(void)
{
    static uint32_t from[64], to[64];
    RCC(0x30) |= 1u << 22;
    (void)RCC(0x30);
    ENABLE_IRQ(56);
    for (uint32_t n = 0; n < 64; n++) {
        from[n] = n * 0x9E3779B9u;
    }
    int good = copy((uint32_t)from, (uint32_t)to, 64) == 1 << 5;
    for (uint32_t n = 0; n < 64; n++) {
        good &= to[n] == from[n];
    }
    return good && (copy(0x10000000u, (uint32_t)to, 4) & 1 << 3); /* core-coupled memory: transfer error */
}

static int exti(void)
{
    RCC(0x44) |= 1u << 14;
    ENABLE_IRQ(23);
    EXTI(0x00) = 1u << 7;
    EXTI(0x10) = 1u << 7;
    uint32_t start = ticks;
    while (!exti_done && ticks - start < 2) {
    }
    return exti_done == 1;
}

static int crc(void)
{
    RCC(0x30) |= 1u << 12;
    (void)RCC(0x30);
    CRC(0x08) = 1;
    CRC(0x00) = 0x12345678u;
    return CRC(0x00) == 0xDF8A8A2Bu;
}

static int rtc(void)
{
    int good = 1;
    PWR(0x00) |= 1u << 8;
    good &= wait(&PWR(0x00), 1u << 8, 1u << 8, 2);
    RCC(0x70) |= 1u;
    good &= wait(&RCC(0x70), 2u, 2u, 5000);
    RCC(0x70) |= 1u << 8 | 1u << 15;
    RTC(0x24) = 0xCA;
    RTC(0x24) = 0x53;
    RTC(0x0C) &= ~(1u << 5 | 1u << 7);
    good &= wait(&RTC(0x0C), 1u << 5, 1u << 5, 1000);
    uint32_t time = RTC(0x00), date = RTC(0x04);
    print("date ");
    number(date);
    print(" time ");
    number(time);
    print("\n");
    return good;
}

static void identity(void)
{
    print("id ");
    number(REG(0x1FFF7A10u));
    number(REG(0x1FFF7A14u));
    number(REG(0x1FFF7A18u));
    print(" flash ");
    number(*(volatile uint16_t *)0x1FFF7A22u);
    print(" device ");
    number(REG(0xE0042000u));
    print("\n");
}

static int backup_memory(void)
{
    RCC(0x30) |= 1u << 18;
    (void)RCC(0x30);
    REG(0x40024000u) = 0x600DF00Du;
    return REG(0x40024000u) == 0x600DF00Du;
}

static void echo(void)
{
    ENABLE_IRQ(UART_IRQ);
    USART(0x0C) |= 1u << 5;
    print("type>");
    while (got < 5) {
        __asm__ volatile("wfi");
    }
    for (uint32_t n = 0; n < 5; n++) {
        put(input[n]);
    }
    put('\n');
}

int main(void)
{
    int clocks = start_clocks();
    start_console();
    if (RCC(0x74) & 1u << 28) { /* came from the software reset below */
        report("reset by software", RTC(0x50) == 0xA5A5u);
        RCC(0x74) |= 1u << 24;
        while (!(USART(0x00) & 1u << 6)) {
        }
        REG(0xE000E010u) = 0; /* SysTick off: nothing can wake us */
        for (;;) {
            __asm__ volatile("wfi");
        }
    }
    report("clocks", clocks);
    identity();
    report("timers", timers());
    report("flash", program_flash());
    report("dma", dma());
    report("exti", exti());
    report("crc", crc());
    report("rtc", rtc());
    report("backup memory", backup_memory());
    echo();
    RTC(0x50) = 0xA5A5u;
    while (!(USART(0x00) & 1u << 6)) {
    }
    REG(0xE000ED0Cu) = 0x05FA0004u;
    for (;;) {
    }
}

void SysTick_Handler(void) { ticks++; }

void TIM2_IRQHandler(void)
{
    TIM2(0x10) = ~1u;
    updates++;
}

void DMA2_Stream0_IRQHandler(void)
{
    dma_done = DMA2(0x00) & 0x28u;
    DMA2(0x08) = 0x3Du;
}

void EXTI9_5_IRQHandler(void)
{
    EXTI(0x14) = 1u << 7;
    exti_done++;
}

void UART_IRQHandler(void)
{
    if (USART(0x00) & 1u << 5) {
        input[got++ % sizeof input] = (char)USART(0x04);
    }
}

void Reset_Handler(void)
{
    uint32_t *from = &_sidata, *to = &_sdata;
    while (to < &_edata) {
        *to++ = *from++;
    }
    for (to = &_sbss; to < &_ebss; to++) {
        *to = 0;
    }
    REG(0xE000E014u) = 16000 - 1; /* SysTick 1 ms at 16 MHz */
    REG(0xE000E018u) = 0;
    REG(0xE000E010u) = 7;
    main();
}

void Fault(void)
{
    for (;;) {
    }
}

__attribute__((section(".isr_vector"), used)) static void (*const vectors[16 + 91])(void) = {
    (void (*)(void))(&_estack),
    Reset_Handler,
    Fault,
    Fault,
    Fault,
    Fault,
    Fault,
    [15] = SysTick_Handler,
    [16 + 23] = EXTI9_5_IRQHandler,
    [16 + 28] = TIM2_IRQHandler,
    [16 + UART_IRQ] = UART_IRQHandler,
    [16 + 56] = DMA2_Stream0_IRQHandler,
};
