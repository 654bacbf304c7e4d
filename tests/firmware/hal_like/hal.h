/* A small layer in the manner of vendor libraries: ticks, time-outs, clocks, console. See main.c. */
#ifndef HAL_H
#define HAL_H
#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))
#define BITBAND(address, bit) REG(0x42000000u + ((address) - 0x40000000u) * 32 + (bit) * 4)

#define RCC 0x40023800u
#define PWR 0x40007000u
#define FLASH 0x40023C00u
#define GPIOA 0x40020000u
#define GPIOB 0x40020400u
#define GPIOC 0x40020800u
#define GPIOD 0x40020C00u
#define EXTI 0x40013C00u
#define SYSCFG 0x40013800u
#define TIM2 0x40000000u
#define TIM5 0x40000C00u
#define RTC 0x40002800u
#define IWDG 0x40003000u
#define CRC 0x40023000u
#define ADC1 0x40012000u
#define DMA1 0x40026000u
#define DMA2 0x40026400u
#define CRYP 0x50060000u
#define HASH 0x50060400u
#define RNG 0x50060800u
#define DWT 0xE0001000u

typedef enum { HAL_OK, HAL_ERROR, HAL_TIMEOUT } hal_status;

extern volatile uint32_t tick_ms;
extern uint32_t system_core_clock;

void hal_start_tick(void);
void hal_delay(uint32_t ms);
hal_status hal_wait(uint32_t address, uint32_t mask, uint32_t wanted, uint32_t ms);
hal_status hal_oscillators(void);
hal_status hal_clocks(void);
void hal_pin(uint32_t port, uint32_t pin, uint32_t mode, uint32_t alternate);
void hal_enable_irq(uint32_t number, uint32_t priority);
uint32_t hal_pclk(int bus);

void console_start(void);
void console_write_it(const char *text, uint32_t length);
hal_status console_write_dma(const char *text, uint32_t length);

void crypto_checks(void);
void style_checks(void);
void check(const char *name, int good);

#endif
