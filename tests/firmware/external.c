/* What evaluation boards do with external memory: a display's identity, a test of SRAM. Built with start.c.
 * -DASLEEP: with FSMC's clock off; -DDISABLED: with chip select 2 off. */
#include "start.h"

#define AHB3ENR (*(volatile uint32_t *)0x40023838)
#define BCR(n) (*(volatile uint32_t *)(0xA0000000 + 8 * ((n) - 1)))
#define SRAM 0x64000000u
#define DISPLAY ((volatile uint16_t *)0x68000000u)

void HardFault_Handler(void)
{
    say("fault\n");
    finish(1);
}

static int sram_keeps(void)
{
    volatile uint32_t *words = (volatile uint32_t *)SRAM;
    volatile uint16_t *halves = (volatile uint16_t *)(SRAM + 0x100002);
    volatile uint8_t *bytes = (volatile uint8_t *)(SRAM + 0x1FFFFF);
    for (uint32_t n = 0; n < 64; n++) {
        words[n] = n * 0x01020304;
    }
    *halves = 0xBEEF;
    *bytes = 0x5A;
    uint32_t sum = 0, low, high;
    for (uint32_t n = 0; n < 64; n++) {
        sum += words[n] == n * 0x01020304;
    }
    __asm__ volatile("ldrd %0, %1, [%2, #4]" : "=r"(low), "=r"(high) : "r"(SRAM));
    return sum == 64 && *halves == 0xBEEF && *bytes == 0x5A && low == 0x01020304
        && high == 0x02040608;
}

int main(void)
{
#ifndef ASLEEP
    AHB3ENR |= 1;
    (void)AHB3ENR;
#endif
#ifndef DISABLED
    BCR(2) = 0x1011;
#endif
    BCR(3) = 0x1011;
    DISPLAY[0] = 0;
    say(DISPLAY[1] ? "a display\n" : "no display\n");
    say(sram_keeps() ? "SRAM\n" : "no SRAM\n");
    return 0;
}
