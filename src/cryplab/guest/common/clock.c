/* See clock.h. Wait states, prefetch and caches as vendor start-up code sets them for this clock. */
#include "clock.h"

#include "stm32f4.h"

volatile uint32_t clock_ticks;
static volatile uint32_t cyccnt_high, cyccnt_seen;

static void pll_init(void)
{
    RCC->APB1ENR |= RCC_APB1ENR_PWREN;
    PWR->CR |= BOARD_VOLTAGE_SCALE;
    RCC->CR |= RCC_CR_HSEON | (BOARD_HSE_BYPASS ? RCC_CR_HSEBYP : 0);
    while (!(RCC->CR & RCC_CR_HSERDY)) {
    }
    RCC->PLLCFGR = RCC_PLLCFGR_PLLM(BOARD_PLL_M) | RCC_PLLCFGR_PLLN(BOARD_PLL_N) | RCC_PLLCFGR_PLLP(BOARD_PLL_P) |
                   RCC_PLLCFGR_PLLSRC_HSE | RCC_PLLCFGR_PLLQ((uint32_t)BOARD_PLL_Q);
    RCC->CR |= RCC_CR_PLLON;
    while (!(RCC->CR & RCC_CR_PLLRDY)) {
    }
}

void clock_init(void)
{
    pll_init();
    FLASH->ACR = FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN | BOARD_WAIT_STATES;
    while ((FLASH->ACR & FLASH_ACR_LATENCY) != BOARD_WAIT_STATES) {
    }
    RCC->CFGR = RCC_CFGR_PPRE1_DIV4 | RCC_CFGR_PPRE2_DIV2 | RCC_CFGR_SW_PLL;
    while ((RCC->CFGR & RCC_CFGR_SWS) != RCC_CFGR_SWS_PLL) {
    }
    CoreDebug_DEMCR |= CoreDebug_DEMCR_TRCENA;
    DWT_CYCCNT = 0;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
    SysTick->LOAD = BOARD_CORE_HZ / 1000 - 1;
    SysTick->VAL = 0;
    SysTick->CTRL = SysTick_CTRL_CLKSOURCE | SysTick_CTRL_TICKINT | SysTick_CTRL_ENABLE;
}

uint32_t clock_tick(void)
{
    return clock_ticks;
}

void SysTick_Handler(void)
{
    uint32_t now = DWT_CYCCNT;
    if (now < cyccnt_seen) {
        cyccnt_high++;
    }
    cyccnt_seen = now;
    clock_ticks++;
}

uint64_t clock_cycles(void)
{
    uint32_t primask;
    __asm volatile("mrs %0, primask\n cpsid i" : "=r"(primask) : : "memory");
    uint32_t now = DWT_CYCCNT, high = cyccnt_high;
    if (now < cyccnt_seen) {
        high++;
    }
    __asm volatile("msr primask, %0" : : "r"(primask) : "memory");
    return (uint64_t)high << 32 | now;
}
