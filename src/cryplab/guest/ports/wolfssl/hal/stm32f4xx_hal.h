/* What wolfSSL's STM32 port needs of the CubeMX HAL for F4 (the interface with HAL_CRYP_Encrypt and HAL_CRYP_Decrypt).
 *
 * Names, types and values as the port expects them; everything behind them is ours (cryp.c, rng.c). Key and
 * initialisation vector are words, most significant byte first; sizes are bytes; a header is counted in words.
 */
#ifndef STM32F4XX_HAL_H
#define STM32F4XX_HAL_H

#include <stddef.h>

#include "stm32f4.h"

typedef enum { HAL_OK = 0, HAL_ERROR = 1, HAL_BUSY = 2, HAL_TIMEOUT = 3 } HAL_StatusTypeDef;

uint32_t HAL_GetTick(void); /* milliseconds */

/* The clock of a block starts with the second cycle after its bit is set: read the bit back. */
static inline void hal_clock(uint32_t bit, int on)
{
    if (on) {
        RCC->AHB2ENR |= bit;
        (void)*(volatile uint32_t *)&RCC->AHB2ENR;
    } else {
        RCC->AHB2ENR &= ~bit;
    }
}

#define __HAL_RCC_CRYP_CLK_ENABLE() hal_clock(RCC_AHB2ENR_CRYPEN, 1)
#define __HAL_RCC_CRYP_CLK_DISABLE() hal_clock(RCC_AHB2ENR_CRYPEN, 0)
#define __HAL_RCC_HASH_CLK_ENABLE() hal_clock(RCC_AHB2ENR_HASHEN, 1)
#define __HAL_RCC_HASH_CLK_DISABLE() hal_clock(RCC_AHB2ENR_HASHEN, 0)
#define __HAL_RCC_RNG_CLK_ENABLE() hal_clock(RCC_AHB2ENR_RNGEN, 1)
#define __HAL_RCC_RNG_CLK_DISABLE() hal_clock(RCC_AHB2ENR_RNGEN, 0)

/* ---- HASH: the port touches the registers itself ---- */

typedef struct {
    REG CR, DIN, STR;                                    /* 0x00 */
    REG HR[5];                                           /* 0x0C */
    REG IMR, SR;                                         /* 0x20 */
    RESERVED_WORDS(reserved0, 0x28, 0xF8);
    REG CSR[54];                                         /* 0xF8 */
} HASH_F4_TypeDef;

#undef HASH
#define HASH ((HASH_F4_TypeDef *)0x50060400u)

#if !defined(CRYPLAB_ENGINES) /* SHA-224 and SHA-256 */
typedef struct {
    REG HR[8];
} HASH_DIGEST_TypeDef;

#define HASH_DIGEST ((HASH_DIGEST_TypeDef *)0x50060710u)
#define HASH_CR_ALGO ((1u << 18) | (1u << 7))
#else
#define HASH_CR_ALGO (1u << 7)
#endif

#define HASH_CR_MODE (1u << 6)
#define HASH_CR_DATATYPE (3u << 4)
#define HASH_CR_LKEY (1u << 16)
#define HASH_STR_NBLW 0x1Fu
#define HASH_IMR_DINIE (1u << 0)
#define HASH_IMR_DCIE (1u << 1)

#define HASH_ALGOMODE_HASH 0u
#define HASH_DATATYPE_8B (2u << 4)
#define HASH_ALGOSELECTION_SHA1 0u
#define HASH_ALGOSELECTION_MD5 (1u << 7)
#define HASH_ALGOSELECTION_SHA224 (1u << 18)
#define HASH_ALGOSELECTION_SHA256 ((1u << 18) | (1u << 7))
#define HASH_AlgoSelection_SHA1 HASH_ALGOSELECTION_SHA1
#define HASH_AlgoSelection_MD5 HASH_ALGOSELECTION_MD5
#define HASH_AlgoSelection_SHA224 HASH_ALGOSELECTION_SHA224
#define HASH_AlgoSelection_SHA256 HASH_ALGOSELECTION_SHA256

/* Of a handle of RNG or CRYP. */
enum { STATE_RESET, STATE_READY, STATE_BUSY };

/* ---- RNG ---- */

typedef struct {
    RNG_TypeDef *Instance;
    uint8_t lock;
    volatile uint8_t state;
    uint32_t number; /* the last one */
} RNG_HandleTypeDef;

HAL_StatusTypeDef HAL_RNG_Init(RNG_HandleTypeDef *hrng);
HAL_StatusTypeDef HAL_RNG_DeInit(RNG_HandleTypeDef *hrng);
HAL_StatusTypeDef HAL_RNG_GenerateRandomNumber(RNG_HandleTypeDef *hrng, uint32_t *number);

/* ---- CRYP ---- */

typedef struct {
    uint32_t DataType, KeySize;
    uint32_t *pKey, *pInitVect;
    uint32_t Algorithm;
    uint32_t *Header;
    uint32_t HeaderSize; /* words */
    uint32_t DataWidthUnit;
} CRYP_ConfigTypeDef;

typedef struct {
    CRYP_TypeDef *Instance;
    CRYP_ConfigTypeDef Init;
    uint32_t *in, *out;             /* the text, the room for the result */
    volatile uint16_t given, taken; /* words so far; an interrupt handler counts in the vendor's */
    uint16_t size;                  /* bytes */
    uint32_t phase;
    uint8_t lock;
    volatile uint8_t state;
    volatile uint32_t error;
} CRYP_HandleTypeDef;

#define CRYP_DATATYPE_8B (2u << 6)
#define CRYP_KEYSIZE_128B CRYP_CR_KEYSIZE(0u)
#define CRYP_KEYSIZE_192B CRYP_CR_KEYSIZE(1u)
#define CRYP_KEYSIZE_256B CRYP_CR_KEYSIZE(2u)
#define CRYP_DATAWIDTHUNIT_WORD 0u
#define CRYP_DATAWIDTHUNIT_BYTE 1u
#define CRYP_TDES_ECB CRYP_CR_ALGOMODE_TDES_ECB
#define CRYP_TDES_CBC CRYP_CR_ALGOMODE_TDES_CBC
#define CRYP_DES_ECB CRYP_CR_ALGOMODE_DES_ECB
#define CRYP_DES_CBC CRYP_CR_ALGOMODE_DES_CBC
#define CRYP_AES_ECB CRYP_CR_ALGOMODE_AES_ECB
#define CRYP_AES_CBC CRYP_CR_ALGOMODE_AES_CBC
#define CRYP_AES_CTR CRYP_CR_ALGOMODE_AES_CTR
#if !defined(CRYPLAB_ENGINES)
#define CRYP_AES_GCM CRYP_CR_ALGOMODE_AES_GCM
#endif

HAL_StatusTypeDef HAL_CRYP_Init(CRYP_HandleTypeDef *hcryp);
HAL_StatusTypeDef HAL_CRYP_DeInit(CRYP_HandleTypeDef *hcryp);
HAL_StatusTypeDef HAL_CRYP_Encrypt(CRYP_HandleTypeDef *hcryp, uint32_t *in, uint16_t bytes, uint32_t *out,
                                   uint32_t timeout);
HAL_StatusTypeDef HAL_CRYP_Decrypt(CRYP_HandleTypeDef *hcryp, uint32_t *in, uint16_t bytes, uint32_t *out,
                                   uint32_t timeout);
HAL_StatusTypeDef HAL_CRYPEx_AESGCM_GenerateAuthTAG(CRYP_HandleTypeDef *hcryp, uint32_t *tag, uint32_t timeout);

#endif
