/* What wolfCrypt asks of the board: the time, and the crypto blocks' clocks, which its port leaves to the application. */
#include "board.h"
#include "clock.h"
#include "console.h"
#include "platform.h"
#include "stm32f4.h"

/* Seconds since start, for wolfCrypt's benchmark. */
double current_time(int reset)
{
    (void)reset;
    return (double)clock_cycles() / BOARD_CORE_HZ;
}

void platform_init(void)
{
#if defined(CRYPLAB_HARDWARE)
    RCC->AHB2ENR |= RCC_AHB2ENR_CRYPEN;
#if defined(CRYPLAB_CYASSL)
    RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN;
#endif
#endif
}
