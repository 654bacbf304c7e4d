/* Real-time clock and backup domain (STM32F2, F4), under the vendor's names; see stm32f4.h. */
#ifndef STM32F4_RTC_H
#define STM32F4_RTC_H

#include "stm32f4.h"

typedef struct {
    REG TR, DR, CR, ISR;                                 /* 0x00 */
    REG PRER, WUTR, CALIBR, ALRMAR;                      /* 0x10 */
    REG ALRMBR, WPR, SSR;                                /* 0x20 */
} RTC_TypeDef;

#define RTC ((RTC_TypeDef *)0x40002800u)
#define RTC_ISR_RSF (1u << 5)
#define RTC_ISR_INITF (1u << 6)
#define RTC_ISR_INIT (1u << 7)

#define PWR_CR_DBP (1u << 8)
#define RCC_BDCR_RTCSEL_LSI (2u << 8)
#define RCC_BDCR_RTCEN (1u << 15)
#define RCC_CSR_LSION (1u << 0)
#define RCC_CSR_LSIRDY (1u << 1)

#endif
