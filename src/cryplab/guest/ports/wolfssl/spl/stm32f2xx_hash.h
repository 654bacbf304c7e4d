/* The names of HASH's fields that wolfSSL's port uses; it touches the registers itself. That of 2012 made calls. */
#ifndef STM32F2XX_HASH_H
#define STM32F2XX_HASH_H

#include "stm32f2xx.h"

#define HASH_CR_MODE (1u << 6)
#define HASH_CR_DATATYPE (3u << 4)
#define HASH_CR_ALGO (1u << 7)
#define HASH_CR_LKEY (1u << 16)
#define HASH_STR_NBW 0x1Fu
#define HASH_IMR_DINIM (1u << 0)
#define HASH_IMR_DCIM (1u << 1)

#define HASH_AlgoSelection_SHA1 0u
#define HASH_AlgoSelection_MD5 (1u << 7)
#define HASH_AlgoMode_HASH 0u
#define HASH_DataType_8b (2u << 4)
#define HASH_FLAG_BUSY 0x08u

void HASH_DeInit(void);
void HASH_DataIn(uint32_t word);
void HASH_SetLastWordValidBitsNbr(uint16_t bits);
void HASH_StartDigest(void);
FlagStatus HASH_GetFlagStatus(uint16_t flag);

#endif
