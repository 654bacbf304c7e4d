/* The board's published clock: HSE and PLL to HCLK 168 MHz, APB1 a quarter, APB2 a half of it. */
#ifndef CRYPLAB_CLOCK_H
#define CRYPLAB_CLOCK_H

#include <stdint.h>

#include "board.h"

#define CLOCK_PCLK1_HZ (BOARD_CORE_HZ / 4)
#define CLOCK_PCLK2_HZ (BOARD_CORE_HZ / 2)

void clock_init(void);

/* Core cycles since clock_init(): CYCCNT extended to 64 bits by the 1 ms tick. */
uint64_t clock_cycles(void);

/* Milliseconds since clock_init(), counted by SysTick. */
extern volatile uint32_t clock_ticks;
uint32_t clock_tick(void);

#endif
