/* Start-up for test firmware: vectors with weak handlers, data and zeroed memory, the FPU on, then main.
 * finish(code) ends a run by semihosting. */
#include "start.h"

extern uint32_t _estack, _sidata, _sdata, _edata, _sbss, _ebss;
int main(void);

static void print(const char *text)
{
    register int r0 __asm__("r0") = 0x04;
    register const char *r1 __asm__("r1") = text;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void say(const char *text) { print(text); }

void finish(uint32_t code)
{
    uint32_t block[2] = {0x20026, code};
    register int r0 __asm__("r0") = 0x20;
    register uint32_t *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    for (;;) {
    }
}

void Reset_Handler(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;
    for (uint32_t *from = &_sidata, *to = &_sdata; to < &_edata;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &_sbss; to < &_ebss;) {
        *to++ = 0;
    }
    finish((uint32_t)main());
}

void Default_Handler(void)
{
    say("unexpected exception\n");
    finish(99);
}

#define WEAK(name) __attribute__((weak, alias("Default_Handler"))) void name(void)
WEAK(NMI_Handler);
WEAK(HardFault_Handler);
WEAK(MemManage_Handler);
WEAK(BusFault_Handler);
WEAK(UsageFault_Handler);
WEAK(SVC_Handler);
WEAK(PendSV_Handler);
WEAK(SysTick_Handler);
WEAK(Any_IRQHandler);

__attribute__((section(".isr_vector"), used)) void (*const vectors[16 + 91])(void) = {
    (void (*)(void))&_estack, Reset_Handler,  NMI_Handler,    HardFault_Handler, MemManage_Handler,
    BusFault_Handler,         UsageFault_Handler, 0,          0,                 0,
    0,                        SVC_Handler,    0,              0,                 PendSV_Handler,
    SysTick_Handler,          [16 ... 16 + 90] = Any_IRQHandler,
};
