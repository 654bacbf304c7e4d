/* Vector table and reset handler of a Cortex-M3 or M4F, up to main(). */
#include <stdint.h>

#include "clock.h"
#include "console.h"
#include "rows.h"
#include "stm32f4.h"

#define CHIP_INTERRUPTS 91
#define ETH_IRQ 61

extern uint32_t link_data_load[], link_data_start[], link_data_end[], link_bss_start[], link_bss_end[], link_stack_top[];

int main(void);
void __libc_init_array(void);
void Reset_Handler(void);
void SVC_Handler(void);
void SysTick_Handler(void);

void Default_Handler(void)
{
    for (;;) {
    }
}

#define WEAK __attribute__((weak, alias("Default_Handler")))
void NMI_Handler(void) WEAK;
void HardFault_Handler(void) WEAK;
void MemManage_Handler(void) WEAK;
void BusFault_Handler(void) WEAK;
void UsageFault_Handler(void) WEAK;
void DebugMon_Handler(void) WEAK;
void PendSV_Handler(void) WEAK;
void ETH_IRQHandler(void) WEAK;

typedef void (*vector)(void);

__attribute__((section(".vectors"), used)) const vector vectors[16 + CHIP_INTERRUPTS] = {
    (vector)link_stack_top,
    Reset_Handler,
    NMI_Handler,
    HardFault_Handler,
    MemManage_Handler,
    BusFault_Handler,
    UsageFault_Handler,
    0, 0, 0, 0,
    SVC_Handler,
    DebugMon_Handler,
    0,
    PendSV_Handler,
    SysTick_Handler,
    [16 ... 16 + ETH_IRQ - 1] = Default_Handler,
    ETH_IRQHandler,
    [16 + ETH_IRQ + 1 ... 16 + CHIP_INTERRUPTS - 1] = Default_Handler,
};

__attribute__((noreturn)) void Reset_Handler(void)
{
#if defined(__ARM_FP)
    SCB_CPACR |= SCB_CPACR_FPU;
#endif
    uint32_t *from = link_data_load;
    for (uint32_t *to = link_data_start; to < link_data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = link_bss_start; to < link_bss_end;) {
        *to++ = 0;
    }
    clock_init();
    console_init();
    __libc_init_array();
    cryplab_done((uint32_t)main());
}
