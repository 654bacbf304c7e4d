/* Ethernet MAC with its DMA (STM32F2, F4), under the vendor's names.
 *
 * Written from the register tables as collected in our notes, apart from the model; bytes, 32-bit
 * registers and accesses as in stm32f4.h.
 */
#ifndef STM32F4_ETH_H
#define STM32F4_ETH_H

#include "stm32f4.h"

typedef struct {
    REG MACCR, MACFFR, MACHTHR, MACHTLR;                 /* 0x00 */
    REG MACMIIAR, MACMIIDR, MACFCR, MACVLANTR;           /* 0x10 */
    RESERVED_WORDS(reserved0, 0x20, 0x28);
    REG MACRWUFFR, MACPMTCSR;                            /* 0x28 */
    RESERVED_WORDS(reserved1, 0x30, 0x34);
    REG MACDBGR, MACSR, MACIMR;                          /* 0x34 */
    REG MACA0HR, MACA0LR;                                /* 0x40 */
    RESERVED_WORDS(reserved2, 0x48, 0x1000);
    REG DMABMR, DMATPDR, DMARPDR, DMARDLAR;              /* 0x1000 */
    REG DMATDLAR, DMASR, DMAOMR, DMAIER;                 /* 0x1010 */
    REG DMAMFBOCR;                                       /* 0x1020 */
} ETH_TypeDef;

#define ETH ((ETH_TypeDef *)0x40028000u)

#define ETH_MACCR_RE (1u << 2)
#define ETH_MACCR_TE (1u << 3)
#define ETH_MACCR_IPCO (1u << 10)
#define ETH_MACCR_DM (1u << 11)
#define ETH_MACCR_ROD (1u << 13)
#define ETH_MACCR_FES (1u << 14)
#define ETH_MACMIIAR_MB (1u << 0)
#define ETH_MACMIIAR_MW (1u << 1)
#define ETH_MACMIIAR_CR(n) ((n) << 2) /* 0: 60 to 100 MHz, 1: 100 to 150 MHz, 4: 150 to 168 MHz of HCLK */
#define ETH_MACMIIAR_MR(n) ((n) << 6)
#define ETH_MACMIIAR_PA(n) ((n) << 11)
#define ETH_DMABMR_SR (1u << 0)
#define ETH_DMABMR_EDE (1u << 7)
#define ETH_DMABMR_PBL(n) ((n) << 8)
#define ETH_DMABMR_FB (1u << 16)
#define ETH_DMABMR_RDP(n) ((n) << 17)
#define ETH_DMABMR_USP (1u << 23)
#define ETH_DMABMR_AAB (1u << 25)
#define ETH_DMASR_TS (1u << 0)
#define ETH_DMASR_TBUS (1u << 2)
#define ETH_DMASR_RS (1u << 6)
#define ETH_DMASR_RBUS (1u << 7)
#define ETH_DMASR_NIS (1u << 16)
#define ETH_DMAOMR_SR (1u << 1)
#define ETH_DMAOMR_ST (1u << 13)
#define ETH_DMAOMR_FTF (1u << 20)
#define ETH_DMAOMR_TSF (1u << 21)
#define ETH_DMAOMR_RSF (1u << 25)
#define ETH_DMAIER_RIE (1u << 6)
#define ETH_DMAIER_NISE (1u << 16)

/* ---- enhanced descriptors, chained ---- */

typedef struct {
    REG status;  /* TDES0, RDES0 */
    REG control; /* TDES1, RDES1: buffer sizes */
    REG buffer;
    REG next;
    REG extended[4]; /* receive: checksum status; time stamps */
} ETH_Descriptor;

#define ETH_OWN (1u << 31)
#define ETH_TDES0_IC (1u << 30)
#define ETH_TDES0_LS (1u << 29)
#define ETH_TDES0_FS (1u << 28)
#define ETH_TDES0_CIC_FULL (3u << 22) /* IP header and payload with pseudo header */
#define ETH_TDES0_TCH (1u << 20)
#define ETH_RDES0_FL(status) (((status) >> 16) & 0x3FFFu)
#define ETH_RDES0_ES (1u << 15)
#define ETH_RDES0_FS (1u << 9)
#define ETH_RDES0_LS (1u << 8)
#define ETH_RDES0_EXTENDED (1u << 0) /* word 4 holds a status */
#define ETH_RDES1_RCH (1u << 14)
#define ETH_RDES4_IPHE (1u << 3)
#define ETH_RDES4_IPPE (1u << 4)

/* ---- clocks, media interface ---- */

#define RCC_AHB1ENR_ETHMAC (7u << 25) /* MAC, transmit and receive clocks */
#define RCC_AHB1RSTR_ETHMACRST (1u << 25)
#define RCC_APB2ENR_SYSCFGEN (1u << 14)
#define SYSCFG_PMC (*(REG *)0x40013804u)
#define SYSCFG_PMC_MII_RMII_SEL (1u << 23)

#define NVIC_ISER ((REG *)0xE000E100u)
#define ETH_IRQ 61u

#endif
