/* Our subset of the vendor's later HAL (guest/ports/wolfssl/hal, which wolfSSL's port uses) and HASH functions in its
 * manner, in a firmware that calls none of them: what `check --api hal` fills in and calls. Right for FAULT 0, with one
 * fault for each other number; built by tests/check/hal_firmware.py, the numbers are there. */
#define CRYPLAB_CLOCK_H
#include <stdint.h>
uint32_t clock_tick(void);

enum { RIGHT, KEY_OF_THE_FIRST, OUTPUT_OVERRUN, ALGO_LEFT, NO_CLOCK };

#define HAL_CRYP_Encrypt right_encrypt
#include "cryp.c"
#undef HAL_CRYP_Encrypt
#include "rng.c"

HAL_StatusTypeDef HAL_CRYP_Encrypt(CRYP_HandleTypeDef *hcryp, uint32_t *in, uint16_t bytes, uint32_t *out, uint32_t timeout)
{
    static uint32_t first[8];
    if (FAULT == KEY_OF_THE_FIRST) { /* "the key is loaded already" */
        for (int i = 0; i < 8 && !first[7]; i++) {
            first[i] = hcryp->Init.pKey[i];
        }
        hcryp->Init.pKey = first;
    }
    HAL_StatusTypeDef status = right_encrypt(hcryp, in, bytes, out, timeout);
    if (FAULT == OUTPUT_OVERRUN) {
        out[bytes / 4] = 0;
    }
    return status;
}

/* ---- HASH ---- */

typedef struct {
    struct {
        uint32_t DataType, KeySize;
        uint8_t *pKey;
    } Init;
    const uint8_t *pHashMsgBuffPtr; /* tells the interface from the older one */
    volatile uint8_t Phase, State;
} HASH_HandleTypeDef;

enum { PHASE_READY = 1, PHASE_PROCESS };

HAL_StatusTypeDef HAL_HASH_Init(HASH_HandleTypeDef *hhash)
{
    __HAL_RCC_HASH_CLK_ENABLE();
    HASH->CR = (HASH->CR & ~HASH_CR_DATATYPE) | hhash->Init.DataType;
    hhash->Phase = PHASE_READY;
    hhash->State = 1;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_HASH_DeInit(HASH_HandleTypeDef *hhash)
{
    hhash->State = 0;
    return HAL_OK;
}

static void begin(uint32_t fields)
{
    if (FAULT != ALGO_LEFT) {
        HASH->CR &= ~(HASH_CR_ALGO | HASH_CR_MODE | HASH_CR_LKEY);
    }
    HASH->CR |= fields | (1u << 2);
}

static void feed(const uint8_t *in, uint32_t size)
{
    HASH->STR = 8 * (size % 4);
    while (size) {
        uint32_t word = 0;
        for (int i = 0; i < 4 && size; i++, size--) {
            word |= (uint32_t)*in++ << 8 * i;
        }
        HASH->DIN = word;
    }
}

static HAL_StatusTypeDef calculate(uint32_t flag, uint32_t wanted, uint32_t timeout)
{
    uint32_t start = HAL_GetTick();
    HASH->STR |= 1u << 8;
    while ((HASH->SR & flag) != wanted) {
        if (HAL_GetTick() - start > timeout) {
            return HAL_TIMEOUT;
        }
    }
    return HAL_OK;
}

static void digest(uint8_t *out, uint32_t words)
{
    for (uint32_t i = 0; i < 4 * words; i++) {
        out[i] = (uint8_t)(HASH_DIGEST->HR[i / 4] >> (24 - 8 * (i % 4)));
    }
}

static HAL_StatusTypeDef last(HASH_HandleTypeDef *h, const uint8_t *in, uint32_t size, uint8_t *out, uint32_t timeout,
                              uint32_t algo, uint32_t words)
{
    if (h->Phase == PHASE_READY) {
        begin(algo);
    }
    feed(in, size);
    if (calculate(2, 2, timeout) != HAL_OK) {
        return HAL_TIMEOUT;
    }
    digest(out, words);
    h->Phase = PHASE_READY;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_HASH_MD5_Start(HASH_HandleTypeDef *h, const uint8_t *in, uint32_t size, uint8_t *out, uint32_t timeout)
{
    return last(h, in, size, out, timeout, HASH_ALGOSELECTION_MD5, 4);
}

HAL_StatusTypeDef HAL_HASHEx_SHA256_Start(HASH_HandleTypeDef *h, const uint8_t *in, uint32_t size, uint8_t *out, uint32_t timeout)
{
    return last(h, in, size, out, timeout, HASH_ALGOSELECTION_SHA256, 8);
}

HAL_StatusTypeDef HAL_HASHEx_SHA256_Accmlt(HASH_HandleTypeDef *h, const uint8_t *in, uint32_t size)
{
    if (size == 0 || size % 4) {
        return HAL_ERROR;
    }
    if (h->Phase == PHASE_READY) {
        begin(HASH_ALGOSELECTION_SHA256);
        h->Phase = PHASE_PROCESS;
    }
    feed(in, size);
    return HAL_OK;
}

HAL_StatusTypeDef HAL_HASHEx_SHA256_Accmlt_End(HASH_HandleTypeDef *h, const uint8_t *in, uint32_t size, uint8_t *out,
                                               uint32_t timeout)
{
    return last(h, in, size, out, timeout, HASH_ALGOSELECTION_SHA256, 8);
}

HAL_StatusTypeDef HAL_HMACEx_SHA256_Start(HASH_HandleTypeDef *h, const uint8_t *in, uint32_t size, uint8_t *out, uint32_t timeout)
{
    if (size == 0 || h->Init.KeySize == 0) {
        return HAL_ERROR;
    }
    begin(HASH_ALGOSELECTION_SHA256 | HASH_CR_MODE | (h->Init.KeySize > 64 ? HASH_CR_LKEY : 0));
    for (int part = 0; part < 3; part++) {
        feed(part == 1 ? in : h->Init.pKey, part == 1 ? size : h->Init.KeySize);
        if (calculate(part == 2 ? 2 : 8, part == 2 ? 2 : 0, timeout) != HAL_OK) {
            return HAL_TIMEOUT;
        }
    }
    digest(out, 8);
    return HAL_OK;
}

/* ---- start-up ---- */

extern uint32_t _estack, _sbss, _ebss;
static volatile uint32_t ticks;
uint32_t clock_tick(void) { return ticks; }
void SysTick_Handler(void) { ticks++; }
uint32_t cryplab_exit_code;
void cryplab_stopped(void) { for (;;) { __asm__ volatile("wfi"); } }

void Reset_Handler(void)
{
    for (uint32_t *p = &_sbss; p < &_ebss; p++) {
        *p = 0;
    }
    RCC->CR |= RCC_CR_PLLON; /* as after reset: 48 MHz for the RNG from HSI */
    while (!(RCC->CR & RCC_CR_PLLRDY)) {
    }
    SysTick->LOAD = 16000 - 1;
    SysTick->VAL = 0;
    SysTick->CTRL = SysTick_CTRL_ENABLE | SysTick_CTRL_TICKINT | SysTick_CTRL_CLKSOURCE;
    if (FAULT != NO_CLOCK) {
        __HAL_RCC_RNG_CLK_ENABLE();
    }
    cryplab_stopped();
}

__attribute__((section(".isr_vector"), used)) const void *const vectors[128] = {
    &_estack, (const void *)Reset_Handler, [15] = (const void *)SysTick_Handler,
};
