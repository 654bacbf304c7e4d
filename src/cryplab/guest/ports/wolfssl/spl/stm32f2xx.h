/* What wolfSSL's STM32 port needs of the F2's device header and of the Standard Peripheral Library's RCC and RNG parts.
 *
 * Names, types and values as the port expects them; everything behind them is ours (spl.c).
 */
#ifndef STM32F2XX_H
#define STM32F2XX_H

#include "stm32f4.h"

typedef enum { RESET = 0, SET = 1 } FlagStatus;
typedef enum { DISABLE = 0, ENABLE = 1 } FunctionalState;
typedef enum { ERROR = 0, SUCCESS = 1 } ErrorStatus;

/* The digest is five words beside the control registers here; there is no other place for it. */
typedef struct {
    REG CR, DIN, STR;                                    /* 0x00 */
    REG HR[5];                                           /* 0x0C */
    REG IMR, SR;                                         /* 0x20 */
    RESERVED_WORDS(reserved0, 0x28, 0xF8);
    REG CSR[51];                                         /* 0xF8 */
} HASH_F2_TypeDef;

#undef HASH
#define HASH ((HASH_F2_TypeDef *)0x50060400u)

#define RCC_AHB2Periph_CRYP (1u << 4)
#define RCC_AHB2Periph_HASH (1u << 5)
#define RCC_AHB2Periph_RNG (1u << 6)

void RCC_AHB2PeriphClockCmd(uint32_t blocks, FunctionalState state);
void RCC_AHB2PeriphResetCmd(uint32_t blocks, FunctionalState state);

#define RNG_FLAG_DRDY 0x01u
#define RNG_FLAG_CECS 0x02u
#define RNG_FLAG_SECS 0x04u

void RNG_DeInit(void);
void RNG_Cmd(FunctionalState state);
FlagStatus RNG_GetFlagStatus(uint8_t flag);
uint32_t RNG_GetRandomNumber(void);

#define __IO volatile

/* The vendor's header brings the parts of the library along; the port of 2012 counts on that. */
#include "stm32f2xx_cryp.h"
#include "stm32f2xx_hash.h"

#endif
