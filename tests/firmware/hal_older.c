/* A few functions in the manner of the vendor's older HAL, blocking, by interrupt and by DMA: AES-CBC, SHA-256, random
 * words. Handlers and MspInit functions as vendor tools generate them, for one handle. Right for FAULT 0, with one
 * fault for each other number; built by tests/check/hal_firmware.py, the numbers are there. */
#include <stdint.h>

#include "stm32f4.h"

#define WORD(address) (*(volatile uint32_t *)(address))
#define DMA2 0x40026400u
#define STREAM(n) (DMA2 + 0x10 + 0x18 * (n))

enum { RIGHT, NO_HANDLER, NOT_ENABLED, LAST_BLOCK_LEFT };
typedef enum { HAL_OK, HAL_ERROR, HAL_BUSY, HAL_TIMEOUT } HAL_StatusTypeDef;
enum { RESET, READY, BUSY };
enum { PHASE_READY = 1, PHASE_PROCESS };

typedef struct {
    CRYP_TypeDef *Instance;
    struct {
        uint32_t DataType, KeySize;
        uint8_t *pKey, *pInitVect;
        uint8_t IVSize, TagSize;
        uint8_t *Header;
        uint32_t HeaderSize;
        uint8_t *pScratch;
    } Init;
    uint8_t *pCrypInBuffPtr, *pCrypOutBuffPtr;
    volatile uint16_t CrypInCount, CrypOutCount;
    uint8_t Phase;
    volatile uint8_t State;
} CRYP_HandleTypeDef;

typedef struct {
    struct {
        uint32_t DataType, KeySize;
        uint8_t *pKey;
    } Init;
    uint8_t *pHashInBuffPtr, *pHashOutBuffPtr;
    uint8_t Phase;
    volatile uint8_t State;
} HASH_HandleTypeDef;

typedef struct {
    RNG_TypeDef *Instance;
    volatile uint8_t State;
    uint32_t RandomNumber;
} RNG_HandleTypeDef;

CRYP_HandleTypeDef hcryp;
HASH_HandleTypeDef hhash;
RNG_HandleTypeDef hrng;
static CRYP_HandleTypeDef *parent; /* of both streams */

static void clock_on(uint32_t bit)
{
    RCC->AHB2ENR |= bit;
    (void)*(volatile uint32_t *)&RCC->AHB2ENR;
}

static void enable(uint32_t irq)
{
    if (FAULT != NOT_ENABLED) {
        WORD(0xE000E100 + irq / 32 * 4) = 1u << irq % 32;
    }
}

static uint32_t big(const uint8_t *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }
static uint32_t load(const uint8_t *p) { return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24; }

static void store(uint8_t *p, uint32_t word)
{
    for (int i = 0; i < 4; i++, word >>= 8) {
        p[i] = (uint8_t)word;
    }
}

/* ---- CRYP ---- */

HAL_StatusTypeDef HAL_CRYP_Init(CRYP_HandleTypeDef *h)
{
    if (h->State == RESET) {
        clock_on(RCC_AHB2ENR_CRYPEN);
        enable(79);
        enable(68);
        WORD(0x40023830) |= 1u << 22; /* DMA2 */
        parent = h;
    }
    CRYP->CR = h->Init.KeySize | h->Init.DataType;
    h->Phase = PHASE_READY;
    h->State = READY;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_CRYP_DeInit(CRYP_HandleTypeDef *h)
{
    CRYP->CR &= ~CRYP_CR_CRYPEN;
    RCC->AHB2ENR &= ~RCC_AHB2ENR_CRYPEN;
    h->State = RESET;
    return HAL_OK;
}

static void load_key(const CRYP_HandleTypeDef *h)
{
    volatile uint32_t *k = &CRYP->K0LR;
    int count = 4 + 2 * (int)(h->Init.KeySize >> 8);
    for (int i = 0; i < count; i++) {
        k[8 - count + i] = big(h->Init.pKey + 4 * i);
    }
}

static void begin(CRYP_HandleTypeDef *h, int decrypt)
{
    if (h->Phase == PHASE_READY) {
        if (decrypt) {
            CRYP->CR |= CRYP_CR_ALGOMODE_AES_KEY;
            load_key(h);
            CRYP->CR |= CRYP_CR_CRYPEN;
            while (CRYP->SR & CRYP_SR_BUSY) {
            }
        }
        CRYP->CR = (CRYP->CR & ~(CRYP_CR_ALGOMODE | CRYP_CR_CRYPEN)) | CRYP_CR_ALGOMODE_AES_CBC | (decrypt ? CRYP_CR_ALGODIR : 0);
        if (!decrypt) {
            load_key(h);
        }
        volatile uint32_t *iv = &CRYP->IV0LR;
        for (int i = 0; i < 4; i++) {
            iv[i] = big(h->Init.pInitVect + 4 * i);
        }
        CRYP->CR |= CRYP_CR_FFLUSH;
        h->Phase = PHASE_PROCESS;
    }
    CRYP->CR |= CRYP_CR_CRYPEN;
}

static void give(CRYP_HandleTypeDef *h)
{
    for (int i = 0; i < 4; i++, h->pCrypInBuffPtr += 4) {
        CRYP->DIN = load(h->pCrypInBuffPtr);
    }
    h->CrypInCount -= 16;
}

static void take(CRYP_HandleTypeDef *h)
{
    for (int i = 0; i < 4; i++, h->pCrypOutBuffPtr += 4) {
        store(h->pCrypOutBuffPtr, CRYP->DOUT);
    }
    h->CrypOutCount -= 16;
}

static void set(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out)
{
    h->pCrypInBuffPtr = in;
    h->pCrypOutBuffPtr = out;
    h->CrypInCount = h->CrypOutCount = size;
}

static HAL_StatusTypeDef poll(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out, int decrypt)
{
    begin(h, decrypt);
    set(h, in, size, out);
    while (h->CrypInCount) {
        give(h);
        while (!(CRYP->SR & CRYP_SR_OFNE)) {
        }
        take(h);
    }
    return HAL_OK;
}

HAL_StatusTypeDef HAL_CRYP_AESCBC_Encrypt(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out, uint32_t timeout)
{
    (void)timeout;
    return poll(h, in, size, out, 0);
}

HAL_StatusTypeDef HAL_CRYP_AESCBC_Decrypt(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out, uint32_t timeout)
{
    (void)timeout;
    return poll(h, in, size, out, 1);
}

static HAL_StatusTypeDef start_it(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out, int decrypt)
{
    h->State = BUSY;
    set(h, in, size, out);
    begin(h, decrypt);
    CRYP->IMSCR = 3;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_CRYP_AESCBC_Encrypt_IT(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out)
{
    return start_it(h, in, size, out, 0);
}

HAL_StatusTypeDef HAL_CRYP_AESCBC_Decrypt_IT(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out)
{
    return start_it(h, in, size, out, 1);
}

void HAL_CRYP_IRQHandler(CRYP_HandleTypeDef *h)
{
    if (CRYP->MISR & 2) {
        take(h);
    } else if (h->CrypInCount) {
        give(h);
    }
    if (!h->CrypInCount) {
        CRYP->IMSCR = 2;
    }
    if (h->CrypOutCount == 0 || (FAULT == LAST_BLOCK_LEFT && h->CrypInCount == 0)) {
        CRYP->IMSCR = 0;
        h->State = READY;
    }
}

static HAL_StatusTypeDef start_dma(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out, int decrypt)
{
    h->State = BUSY;
    begin(h, decrypt);
    WORD(DMA2 + 0x0C) = 0x3D << 16 | 0x3D << 6; /* flags of streams 6 and 5 */
    const uint8_t *const memory[2] = {out, in};
    for (int n = 0; n < 2; n++) {
        WORD(STREAM(5 + n) + 0x08) = n ? (uint32_t)&CRYP->DIN : (uint32_t)&CRYP->DOUT;
        WORD(STREAM(5 + n) + 0x0C) = (uint32_t)memory[n];
        WORD(STREAM(5 + n) + 0x04) = size / 4;
        WORD(STREAM(5 + n)) = 2u << 25 | 2u << 13 | 2u << 11 | 1u << 10 | (n ? 1u << 6 : 1u << 4) | 1u;
    }
    CRYP->DMACR = 3;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_CRYP_AESCBC_Encrypt_DMA(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out)
{
    return start_dma(h, in, size, out, 0);
}

HAL_StatusTypeDef HAL_CRYP_AESCBC_Decrypt_DMA(CRYP_HandleTypeDef *h, uint8_t *in, uint16_t size, uint8_t *out)
{
    return start_dma(h, in, size, out, 1);
}

void DMA2_Stream5_IRQHandler(void)
{
    WORD(DMA2 + 0x0C) = 0x3D << 6;
    CRYP->DMACR = 0;
    parent->State = READY;
}

/* ---- HASH ---- */

HAL_StatusTypeDef HAL_HASH_Init(HASH_HandleTypeDef *h)
{
    clock_on(RCC_AHB2ENR_HASHEN);
    enable(80);
    HASH->CR |= h->Init.DataType;
    h->Phase = PHASE_READY;
    h->State = READY;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_HASH_DeInit(HASH_HandleTypeDef *h)
{
    RCC->AHB2ENR &= ~RCC_AHB2ENR_HASHEN;
    h->State = RESET;
    return HAL_OK;
}

static void feed(HASH_HandleTypeDef *h, const uint8_t *in, uint32_t size)
{
    if (h->Phase == PHASE_READY) {
        HASH->CR |= HASH_CR_ALGO_SHA256 | HASH_CR_INIT;
        h->Phase = PHASE_PROCESS;
    }
    HASH->STR = 8 * (size % 4);
    for (; size >= 4; size -= 4, in += 4) {
        HASH->DIN = load(in);
    }
    if (size) {
        HASH->DIN = in[0] | (size > 1 ? in[1] << 8 : 0) | (size > 2 ? in[2] << 16 : 0);
    }
}

static void digest(uint8_t *out)
{
    for (int i = 0; i < 8; i++) {
        store(out + 4 * i, __builtin_bswap32(HASH->HR[i]));
    }
}

HAL_StatusTypeDef HAL_HASHEx_SHA256_Accumulate(HASH_HandleTypeDef *h, uint8_t *in, uint32_t size)
{
    feed(h, in, size);
    return HAL_OK;
}

HAL_StatusTypeDef HAL_HASHEx_SHA256_Start(HASH_HandleTypeDef *h, uint8_t *in, uint32_t size, uint8_t *out, uint32_t timeout)
{
    (void)timeout;
    feed(h, in, size);
    HASH->STR |= HASH_STR_DCAL;
    while (!(HASH->SR & HASH_SR_DCIS)) {
    }
    digest(out);
    return HAL_OK;
}

HAL_StatusTypeDef HAL_HASHEx_SHA256_Start_IT(HASH_HandleTypeDef *h, uint8_t *in, uint32_t size, uint8_t *out)
{
    h->State = BUSY;
    h->pHashOutBuffPtr = out;
    feed(h, in, size);
    HASH->IMR = 2;
    HASH->STR |= HASH_STR_DCAL;
    return HAL_OK;
}

void HAL_HASHEx_IRQHandler(HASH_HandleTypeDef *h)
{
    if (HASH->SR & HASH_SR_DCIS) {
        HASH->IMR = 0;
        digest(h->pHashOutBuffPtr);
        h->State = READY;
    }
}

/* ---- RNG ---- */

HAL_StatusTypeDef HAL_RNG_Init(RNG_HandleTypeDef *h)
{
    clock_on(RCC_AHB2ENR_RNGEN);
    enable(80);
    RNG->CR |= RNG_CR_RNGEN;
    h->State = READY;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_RNG_GenerateRandomNumber_IT(RNG_HandleTypeDef *h)
{
    h->State = BUSY;
    RNG->CR |= 1u << 3;
    return HAL_OK;
}

uint32_t HAL_RNG_ReadLastRandomNumber(RNG_HandleTypeDef *h) { return h->RandomNumber; }

void HAL_RNG_IRQHandler(RNG_HandleTypeDef *h)
{
    if (RNG->SR & RNG_SR_DRDY) {
        RNG->CR &= ~(1u << 3);
        h->RandomNumber = RNG->DR;
        h->State = READY;
    }
}

/* ---- start-up ---- */

void CRYP_IRQHandler(void) { HAL_CRYP_IRQHandler(&hcryp); }

void HASH_RNG_IRQHandler(void)
{
    if (RCC->AHB2ENR & RCC_AHB2ENR_RNGEN && RNG->CR & 1u << 3) {
        HAL_RNG_IRQHandler(&hrng);
    } else {
        HAL_HASHEx_IRQHandler(&hhash);
    }
}

extern uint32_t _estack, _sbss, _ebss;
uint32_t cryplab_exit_code;
void cryplab_stopped(void) { for (;;) { __asm__ volatile("wfi"); } }
void Default_Handler(void) { for (;;) { } }

void Reset_Handler(void)
{
    for (uint32_t *p = &_sbss; p < &_ebss; p++) {
        *p = 0;
    }
    RCC->CR |= RCC_CR_PLLON; /* as after reset: 48 MHz for the RNG from HSI */
    while (!(RCC->CR & RCC_CR_PLLRDY)) {
    }
    cryplab_stopped();
}

#define HANDLER(name) (FAULT == NO_HANDLER ? Default_Handler : name)
__attribute__((section(".isr_vector"), used)) void (*const vectors[16 + 91])(void) = {
    (void (*)(void))&_estack, Reset_Handler, [2 ... 16 + 67] = Default_Handler,
    [16 + 68] = HANDLER(DMA2_Stream5_IRQHandler), [16 + 69 ... 16 + 78] = Default_Handler,
    [16 + 79] = HANDLER(CRYP_IRQHandler), [16 + 80] = HANDLER(HASH_RNG_IRQHandler), [16 + 81 ... 16 + 90] = Default_Handler,
};
