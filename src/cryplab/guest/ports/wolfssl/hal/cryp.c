/* CRYP by polling, in the shape of the vendor's later HAL.
 *
 * One call of a function per block; it counts words in the handle, waits for the result under a time limit, and
 * fetches the result by way of a small array. That shape, not the engine, makes the published figures.
 */
#include "stm32f4xx_hal.h"

#include "clock.h"

#define AES_WORDS 4
#define DES_WORDS 2
#define NO_LIMIT 0xFFFFFFFFu
#define FIRST_AES CRYP_CR_ALGOMODE_AES_ECB

uint32_t HAL_GetTick(void)
{
    return clock_tick();
}

HAL_StatusTypeDef HAL_CRYP_Init(CRYP_HandleTypeDef *hcryp)
{
    if (hcryp == NULL) {
        return HAL_ERROR;
    }
    if (!hcryp->ready) {
        __HAL_RCC_CRYP_CLK_ENABLE();
    }
    CRYP_TypeDef *cryp = hcryp->Instance;
    uint32_t fields = CRYP_CR_DATATYPE | CRYP_CR_KEYSIZE(3u) | CRYP_CR_ALGOMODE;
    cryp->CR = (cryp->CR & ~fields) | hcryp->Init.DataType | hcryp->Init.KeySize | hcryp->Init.Algorithm;
    hcryp->error = 0;
    hcryp->phase = 0;
    hcryp->ready = 1;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_CRYP_DeInit(CRYP_HandleTypeDef *hcryp)
{
    hcryp->phase = 0;
    hcryp->given = hcryp->taken = 0;
    hcryp->Instance->CR &= ~CRYP_CR_CRYPEN;
    hcryp->ready = 0;
    return HAL_OK;
}

/* ---- keys, vectors ---- */

static void set_aes_key(CRYP_HandleTypeDef *hcryp)
{
    CRYP_TypeDef *cryp = hcryp->Instance;
    const uint32_t *key = hcryp->Init.pKey;
    switch (hcryp->Init.KeySize) {
    case CRYP_KEYSIZE_256B:
        cryp->K0LR = *key++;
        cryp->K0RR = *key++;
        /* fall through */
    case CRYP_KEYSIZE_192B:
        cryp->K1LR = *key++;
        cryp->K1RR = *key++;
        /* fall through */
    default:
        cryp->K2LR = *key++;
        cryp->K2RR = *key++;
        cryp->K3LR = *key++;
        cryp->K3RR = *key;
    }
}

static void set_des_key(CRYP_HandleTypeDef *hcryp)
{
    CRYP_TypeDef *cryp = hcryp->Instance;
    const uint32_t *key = hcryp->Init.pKey;
    cryp->K1LR = key[0];
    cryp->K1RR = key[1];
    if (hcryp->Init.Algorithm == CRYP_TDES_ECB || hcryp->Init.Algorithm == CRYP_TDES_CBC) {
        cryp->K2LR = key[2];
        cryp->K2RR = key[3];
        cryp->K3LR = key[4];
        cryp->K3RR = key[5];
    }
}

static void set_vector(CRYP_HandleTypeDef *hcryp, int words)
{
    const uint32_t *vector = hcryp->Init.pInitVect;
    hcryp->Instance->IV0LR = vector[0];
    hcryp->Instance->IV0RR = vector[1];
    if (words == AES_WORDS) {
        hcryp->Instance->IV1LR = vector[2];
        hcryp->Instance->IV1RR = vector[3];
    }
}

static void set_mode(CRYP_TypeDef *cryp, uint32_t mode)
{
    cryp->CR = (cryp->CR & ~CRYP_CR_ALGOMODE) | mode;
}

/* ---- waiting ---- */

/* Poll until the bits of a register are as wanted, or the time is over. */
static HAL_StatusTypeDef wait(CRYP_HandleTypeDef *hcryp, REG *reg, uint32_t bits, uint32_t wanted, uint32_t timeout)
{
    uint32_t start = HAL_GetTick();
    while ((*reg & bits) != wanted) {
        if (timeout != NO_LIMIT && (HAL_GetTick() - start > timeout || timeout == 0)) {
            hcryp->Instance->CR &= ~CRYP_CR_CRYPEN;
            hcryp->error |= 1;
            return HAL_ERROR;
        }
    }
    return HAL_OK;
}

static __attribute__((noinline)) HAL_StatusTypeDef wait_for_result(const CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    uint32_t start = HAL_GetTick();
    while ((hcryp->Instance->SR & CRYP_SR_OFNE) == 0) {
        if (timeout != NO_LIMIT && (HAL_GetTick() - start > timeout || timeout == 0)) {
            return HAL_ERROR;
        }
    }
    return HAL_OK;
}

/* ---- blocks ---- */

static void give(CRYP_HandleTypeDef *hcryp)
{
    hcryp->Instance->DIN = *(hcryp->in + hcryp->given);
    hcryp->given++;
}

/* One block in, when there is room, and one out, when there is one. */
static __attribute__((noinline)) void process_block(CRYP_HandleTypeDef *hcryp, uint32_t words, uint32_t timeout)
{
    uint32_t result[AES_WORDS];
    uint32_t so_far = hcryp->taken;
    if ((hcryp->Instance->SR & CRYP_SR_IFNF) != 0 && hcryp->given < hcryp->size / 4) {
        give(hcryp);
        give(hcryp);
        if (words == AES_WORDS) {
            give(hcryp);
            give(hcryp);
        }
    }
    if (wait_for_result(hcryp, timeout) != HAL_OK) {
        hcryp->Instance->CR &= ~CRYP_CR_CRYPEN;
        hcryp->error |= 1;
        return;
    }
    if ((hcryp->Instance->SR & CRYP_SR_OFNE) != 0 && so_far < hcryp->size / 4) {
        for (uint32_t i = 0; i < words; i++) {
            result[i] = hcryp->Instance->DOUT;
        }
        for (uint32_t i = 0; i < words && hcryp->taken < hcryp->size / 4; i++) {
            *(hcryp->out + hcryp->taken) = result[i];
            hcryp->taken++;
        }
    }
}

static HAL_StatusTypeDef process(CRYP_HandleTypeDef *hcryp, uint32_t words, uint32_t timeout)
{
    uint32_t so_far = hcryp->taken;
    while (hcryp->given < hcryp->size / 4 && so_far < hcryp->size / 4) {
        process_block(hcryp, words, timeout);
        so_far = hcryp->taken;
        if (hcryp->error != 0) {
            return HAL_ERROR;
        }
    }
    return HAL_OK;
}

/* The rest of a text that is no whole block: padded with zeros, what comes out is cut. */
static HAL_StatusTypeDef process_rest(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    uint32_t rest = hcryp->size % 16;
    if (rest == 0) {
        return HAL_OK;
    }
    union {
        uint32_t words[AES_WORDS];
        uint8_t bytes[4 * AES_WORDS];
    } block = {{0}};
    const uint8_t *in = (const uint8_t *)hcryp->in + hcryp->size - rest;
    uint8_t *out = (uint8_t *)hcryp->out + hcryp->size - rest;
    for (uint32_t i = 0; i < rest; i++) {
        block.bytes[i] = in[i];
    }
    for (uint32_t i = 0; i < AES_WORDS; i++) {
        hcryp->Instance->DIN = block.words[i];
    }
    if (wait_for_result(hcryp, timeout) != HAL_OK) {
        return HAL_ERROR;
    }
    for (uint32_t i = 0; i < AES_WORDS; i++) {
        block.words[i] = hcryp->Instance->DOUT;
    }
    for (uint32_t i = 0; i < rest; i++) {
        out[i] = block.bytes[i];
    }
    return HAL_OK;
}

/* ---- modes ---- */

static HAL_StatusTypeDef run_des(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    set_des_key(hcryp);
    if (hcryp->Init.Algorithm == CRYP_DES_CBC || hcryp->Init.Algorithm == CRYP_TDES_CBC) {
        set_vector(hcryp, DES_WORDS);
    }
    hcryp->Instance->CR |= CRYP_CR_FFLUSH;
    hcryp->Instance->CR |= CRYP_CR_CRYPEN;
    HAL_StatusTypeDef status = process(hcryp, DES_WORDS, timeout);
    hcryp->Instance->CR &= ~CRYP_CR_CRYPEN;
    return status;
}

static HAL_StatusTypeDef prepare_key(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    set_mode(hcryp->Instance, CRYP_CR_ALGOMODE_AES_KEY);
    set_aes_key(hcryp);
    hcryp->Instance->CR |= CRYP_CR_CRYPEN;
    return wait(hcryp, &hcryp->Instance->SR, CRYP_SR_BUSY, 0, timeout);
}

static HAL_StatusTypeDef run_aes(CRYP_HandleTypeDef *hcryp, int decrypt, uint32_t timeout)
{
    CRYP_TypeDef *cryp = hcryp->Instance;
    if (decrypt && hcryp->Init.Algorithm != CRYP_AES_CTR) {
        if (prepare_key(hcryp, timeout) != HAL_OK) {
            return HAL_ERROR;
        }
        set_mode(cryp, hcryp->Init.Algorithm);
        cryp->CR |= CRYP_CR_ALGODIR;
    } else {
        set_aes_key(hcryp);
    }
    if (hcryp->Init.Algorithm != CRYP_AES_ECB) {
        set_vector(hcryp, AES_WORDS);
    }
    cryp->CR |= CRYP_CR_FFLUSH;
    cryp->CR |= CRYP_CR_CRYPEN;
    HAL_StatusTypeDef status = process(hcryp, AES_WORDS, timeout);
    cryp->CR &= ~CRYP_CR_CRYPEN;
    return status;
}

#if defined(CRYP_AES_GCM)

static void set_phase(CRYP_TypeDef *cryp, uint32_t phase)
{
    cryp->CR &= ~CRYP_CR_CRYPEN;
    cryp->CR = (cryp->CR & ~CRYP_CR_GCM_CCMPH) | phase;
    cryp->CR |= CRYP_CR_CRYPEN;
}

/* The header in blocks; the last one is filled up with zeros. */
static HAL_StatusTypeDef run_header(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    uint32_t words = hcryp->Init.HeaderSize;
    if (words == 0) {
        return HAL_OK;
    }
    set_phase(hcryp->Instance, CRYP_CR_GCM_CCMPH_HEADER);
    for (uint32_t i = 0; i < words || i % AES_WORDS != 0; i++) {
        hcryp->Instance->DIN = i < words ? hcryp->Init.Header[i] : 0;
        if (i % AES_WORDS == AES_WORDS - 1 &&
            wait(hcryp, &hcryp->Instance->SR, CRYP_SR_IFEM, CRYP_SR_IFEM, timeout) != HAL_OK) {
            return HAL_ERROR;
        }
    }
    return wait(hcryp, &hcryp->Instance->SR, CRYP_SR_BUSY, 0, timeout);
}

static HAL_StatusTypeDef run_gcm(CRYP_HandleTypeDef *hcryp, int decrypt, uint32_t timeout)
{
    CRYP_TypeDef *cryp = hcryp->Instance;
    cryp->CR &= ~CRYP_CR_GCM_CCMPH;
    cryp->CR |= CRYP_CR_FFLUSH;
    set_aes_key(hcryp);
    set_vector(hcryp, AES_WORDS);
    cryp->CR |= CRYP_CR_CRYPEN;
    if (wait(hcryp, &cryp->CR, CRYP_CR_CRYPEN, 0, timeout) != HAL_OK || run_header(hcryp, timeout) != HAL_OK) {
        return HAL_ERROR;
    }
    if (decrypt) {
        cryp->CR |= CRYP_CR_ALGODIR;
    }
    set_phase(cryp, CRYP_CR_GCM_CCMPH_PAYLOAD);
    uint32_t bytes = hcryp->size;
    hcryp->size = bytes & ~15u;
    HAL_StatusTypeDef status = process(hcryp, AES_WORDS, timeout);
    hcryp->size = bytes;
    if (status == HAL_OK) {
        status = process_rest(hcryp, timeout);
    }
    hcryp->phase = 2;
    return status;
}

HAL_StatusTypeDef HAL_CRYPEx_AESGCM_GenerateAuthTAG(CRYP_HandleTypeDef *hcryp, uint32_t *tag, uint32_t timeout)
{
    CRYP_TypeDef *cryp = hcryp->Instance;
    if (hcryp->phase != 2) {
        return HAL_ERROR;
    }
    if (wait(hcryp, &cryp->SR, CRYP_SR_BUSY, 0, timeout) != HAL_OK) {
        return HAL_ERROR;
    }
    set_phase(cryp, CRYP_CR_GCM_CCMPH_FINAL);
    cryp->CR &= ~CRYP_CR_ALGODIR;
    cryp->DIN = 0;
    cryp->DIN = __builtin_bswap32(hcryp->Init.HeaderSize * 32); /* bits; version 2 of the engine swaps these words too */
    cryp->DIN = 0;
    cryp->DIN = __builtin_bswap32(hcryp->size * 8);
    if (wait(hcryp, &cryp->SR, CRYP_SR_OFNE, CRYP_SR_OFNE, timeout) != HAL_OK) {
        return HAL_ERROR;
    }
    for (int i = 0; i < AES_WORDS; i++) {
        tag[i] = cryp->DOUT;
    }
    cryp->CR &= ~CRYP_CR_CRYPEN;
    hcryp->phase = 0;
    return HAL_OK;
}

#endif

/* ---- what the port calls ---- */

static HAL_StatusTypeDef run(CRYP_HandleTypeDef *hcryp, uint32_t *in, uint16_t bytes, uint32_t *out, int decrypt,
                             uint32_t timeout)
{
    if (!hcryp->ready) {
        return HAL_ERROR;
    }
    hcryp->ready = 0;
    hcryp->in = in;
    hcryp->out = out;
    hcryp->given = hcryp->taken = 0;
    hcryp->size = hcryp->Init.DataWidthUnit == CRYP_DATAWIDTHUNIT_WORD ? 4u * bytes : bytes;
    CRYP_TypeDef *cryp = hcryp->Instance;
    cryp->CR = (cryp->CR & ~(CRYP_CR_ALGOMODE | CRYP_CR_ALGODIR)) | hcryp->Init.Algorithm;
    HAL_StatusTypeDef status;
    if (hcryp->Init.Algorithm < FIRST_AES) {
        cryp->CR |= decrypt ? CRYP_CR_ALGODIR : 0;
        status = run_des(hcryp, timeout);
#if defined(CRYP_AES_GCM)
    } else if (hcryp->Init.Algorithm == CRYP_AES_GCM) {
        status = run_gcm(hcryp, decrypt, timeout);
#endif
    } else {
        status = run_aes(hcryp, decrypt, timeout);
    }
    hcryp->ready = 1;
    return status;
}

HAL_StatusTypeDef HAL_CRYP_Encrypt(CRYP_HandleTypeDef *hcryp, uint32_t *in, uint16_t bytes, uint32_t *out,
                                   uint32_t timeout)
{
    return run(hcryp, in, bytes, out, 0, timeout);
}

HAL_StatusTypeDef HAL_CRYP_Decrypt(CRYP_HandleTypeDef *hcryp, uint32_t *in, uint16_t bytes, uint32_t *out,
                                   uint32_t timeout)
{
    return run(hcryp, in, bytes, out, 1, timeout);
}
