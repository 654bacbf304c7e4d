/* Registers of STM32F4 that the reference firmware uses, under the vendor's names.
 *
 * Written from the register tables of RM0090 as collected in our notes, apart from the models in
 * `blocks/`: the guest is an independent witness that those tables are right. Addresses and offsets
 * are bytes; every register is 32 bits wide and takes 32-bit accesses only.
 */
#ifndef STM32F4_H
#define STM32F4_H

#include <stdint.h>

#define REG volatile uint32_t
#define RESERVED_WORDS(name, first, next) uint32_t name[((next) - (first)) / 4]

/* ---- reset and clock control ---- */

typedef struct {
    REG CR, PLLCFGR, CFGR, CIR;                          /* 0x00 */
    REG AHB1RSTR, AHB2RSTR, AHB3RSTR;                    /* 0x10 */
    RESERVED_WORDS(reserved0, 0x1C, 0x20);
    REG APB1RSTR, APB2RSTR;                              /* 0x20 */
    RESERVED_WORDS(reserved1, 0x28, 0x30);
    REG AHB1ENR, AHB2ENR, AHB3ENR;                       /* 0x30 */
    RESERVED_WORDS(reserved2, 0x3C, 0x40);
    REG APB1ENR, APB2ENR;                                /* 0x40 */
    RESERVED_WORDS(reserved3, 0x48, 0x70);
    REG BDCR, CSR;                                       /* 0x70 */
} RCC_TypeDef;

#define RCC ((RCC_TypeDef *)0x40023800u)

#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_PLLCFGR_PLLM(m) (m)
#define RCC_PLLCFGR_PLLN(n) ((n) << 6)
#define RCC_PLLCFGR_PLLP(p) (((p) / 2 - 1) << 16)
#define RCC_PLLCFGR_PLLSRC_HSE (1u << 22)
#define RCC_PLLCFGR_PLLQ(q) ((q) << 24)
#define RCC_CFGR_SW_PLL 2u
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_SWS_PLL (2u << 2)
#define RCC_CFGR_PPRE1_DIV4 (5u << 10)
#define RCC_CFGR_PPRE2_DIV2 (4u << 13)
#define RCC_AHB2ENR_CRYPEN (1u << 4)
#define RCC_AHB2ENR_HASHEN (1u << 5)
#define RCC_AHB2ENR_RNGEN (1u << 6)
#define RCC_APB1ENR_PWREN (1u << 28)

/* ---- power control, flash interface ---- */

typedef struct {
    REG CR, CSR;
} PWR_TypeDef;

#define PWR ((PWR_TypeDef *)0x40007000u)
#define PWR_CR_VOS (3u << 14) /* both bits: scale 1, up to 168 MHz without over-drive; F41x: bit 14; F2: none */

typedef struct {
    REG ACR, KEYR, OPTKEYR, SR, CR, OPTCR;
} FLASH_TypeDef;

#define FLASH ((FLASH_TypeDef *)0x40023C00u)
#define FLASH_ACR_LATENCY 0xFu
#define FLASH_ACR_PRFTEN (1u << 8)
#define FLASH_ACR_ICEN (1u << 9)
#define FLASH_ACR_DCEN (1u << 10)

/* ---- ports, serial console ---- */

typedef struct {
    REG MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR, LCKR;
    REG AFR[2];
} GPIO_TypeDef;

#define GPIOA ((GPIO_TypeDef *)0x40020000u)
#define GPIOB ((GPIO_TypeDef *)0x40020400u)
#define GPIOC ((GPIO_TypeDef *)0x40020800u)
#define GPIOD ((GPIO_TypeDef *)0x40020C00u)
#define GPIO_MODE_AF 2u

typedef struct {
    REG SR, DR, BRR, CR1, CR2, CR3, GTPR;
} USART_TypeDef;

#define USART1 ((USART_TypeDef *)0x40011000u)
#define USART2 ((USART_TypeDef *)0x40004400u)
#define USART3 ((USART_TypeDef *)0x40004800u)
#define USART6 ((USART_TypeDef *)0x40011400u)
#define USART_SR_TC (1u << 6)
#define USART_SR_TXE (1u << 7)
#define USART_CR1_RE (1u << 2)
#define USART_CR1_TE (1u << 3)
#define USART_CR1_UE (1u << 13)

/* ---- cryptographic processor ---- */

typedef struct {
    REG CR, SR, DIN, DOUT, DMACR, IMSCR, RISR, MISR;     /* 0x00 */
    REG K0LR, K0RR, K1LR, K1RR, K2LR, K2RR, K3LR, K3RR;  /* 0x20 */
    REG IV0LR, IV0RR, IV1LR, IV1RR;                      /* 0x40 */
    REG CSGCMCCM[8];                                     /* 0x50 */
    REG CSGCM[8];                                        /* 0x70 */
} CRYP_TypeDef;

#define CRYP ((CRYP_TypeDef *)0x50060000u)

#define CRYP_CR_ALGODIR (1u << 2)
#define CRYP_CR_ALGOMODE ((1u << 19) | (7u << 3))
#define CRYP_CR_ALGOMODE_TDES_ECB 0x00000000u
#define CRYP_CR_ALGOMODE_TDES_CBC 0x00000008u
#define CRYP_CR_ALGOMODE_DES_ECB 0x00000010u
#define CRYP_CR_ALGOMODE_DES_CBC 0x00000018u
#define CRYP_CR_ALGOMODE_AES_ECB 0x00000020u
#define CRYP_CR_ALGOMODE_AES_CBC 0x00000028u
#define CRYP_CR_ALGOMODE_AES_CTR 0x00000030u
#define CRYP_CR_ALGOMODE_AES_KEY 0x00000038u
#define CRYP_CR_ALGOMODE_AES_GCM 0x00080000u
#define CRYP_CR_ALGOMODE_AES_CCM 0x00080008u
#define CRYP_CR_DATATYPE (3u << 6)
#define CRYP_CR_DATATYPE_8BIT (2u << 6)
#define CRYP_CR_KEYSIZE(n) ((n) << 8) /* 0: 128, 1: 192, 2: 256 bits */
#define CRYP_CR_FFLUSH (1u << 14)
#define CRYP_CR_CRYPEN (1u << 15)
#define CRYP_CR_GCM_CCMPH (3u << 16)
#define CRYP_CR_GCM_CCMPH_INIT (0u << 16)
#define CRYP_CR_GCM_CCMPH_HEADER (1u << 16)
#define CRYP_CR_GCM_CCMPH_PAYLOAD (2u << 16)
#define CRYP_CR_GCM_CCMPH_FINAL (3u << 16)
#define CRYP_SR_IFEM (1u << 0)
#define CRYP_SR_IFNF (1u << 1)
#define CRYP_SR_OFNE (1u << 2)
#define CRYP_SR_OFFU (1u << 3)
#define CRYP_SR_BUSY (1u << 4)

/* ---- hash processor ---- */

typedef struct {
    REG CR, DIN, STR;                                    /* 0x00 */
    REG HRA[5];                                          /* 0x0C, first five words of HR */
    REG IMR, SR;                                         /* 0x20 */
    RESERVED_WORDS(reserved0, 0x28, 0xF8);
    REG CSR[54];                                         /* 0xF8 */
    RESERVED_WORDS(reserved1, 0x1D0, 0x310);
    REG HR[8];                                           /* 0x310 */
} HASH_TypeDef;

#define HASH ((HASH_TypeDef *)0x50060400u)

#define HASH_CR_INIT (1u << 2)
#define HASH_CR_DATATYPE_8BIT (2u << 4)
#define HASH_CR_ALGO_SHA1 0u
#define HASH_CR_ALGO_MD5 (1u << 7)
#define HASH_CR_ALGO_SHA224 (1u << 18)
#define HASH_CR_ALGO_SHA256 ((1u << 18) | (1u << 7))
#define HASH_STR_DCAL (1u << 8)
#define HASH_SR_DINIS (1u << 0)
#define HASH_SR_DCIS (1u << 1)
#define HASH_SR_BUSY (1u << 3)

/* ---- random number generator ---- */

typedef struct {
    REG CR, SR, DR;
} RNG_TypeDef;

#define RNG ((RNG_TypeDef *)0x50060800u)
#define RNG_CR_RNGEN (1u << 2)
#define RNG_SR_DRDY (1u << 0)
#define RNG_SR_CECS (1u << 1)
#define RNG_SR_SECS (1u << 2)
#define RNG_SR_CEIS (1u << 5)
#define RNG_SR_SEIS (1u << 6)

/* ---- core peripherals (ARMv7-M) ---- */

#define SCB_CPACR (*(REG *)0xE000ED88u)
#define SCB_CPACR_FPU (0xFu << 20) /* CP10 and CP11: full access */

typedef struct {
    REG CTRL, LOAD, VAL, CALIB;
} SysTick_TypeDef;

#define SysTick ((SysTick_TypeDef *)0xE000E010u)
#define SysTick_CTRL_ENABLE (1u << 0)
#define SysTick_CTRL_TICKINT (1u << 1)
#define SysTick_CTRL_CLKSOURCE (1u << 2) /* the core clock */

#define CoreDebug_DEMCR (*(REG *)0xE000EDFCu)
#define CoreDebug_DEMCR_TRCENA (1u << 24)
#define DWT_CTRL (*(REG *)0xE0001000u)
#define DWT_CTRL_CYCCNTENA (1u << 0)
#define DWT_CYCCNT (*(REG *)0xE0001004u)

#endif
