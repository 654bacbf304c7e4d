/* CRYP by polling, in the shape of the vendor's HAL of 2020 (driver V1.7.8 to V1.7.10, CubeF4 1.25).
 *
 * For AES a function is called for each block, for DES the loop has it inside. Words are counted in the handle, in 16
 * bits that an interrupt handler may count, too; the result is waited for under a time limit, with a look at the tick
 * first, and comes by way of a small array. GCM looks at the tick after each block once more. Registers, counters and
 * calls follow each other for a block as there. That shape, not the engine, makes the published figures.
 *
 * One thing is other: the vendor's loops go on after a time-out, without end when the clock is off; these end.
 */
#include "stm32f4xx_hal.h"

#include "clock.h"

#define AES_WORDS 4
#define DES_WORDS 2
#define NO_LIMIT 0xFFFFFFFFu
#define IN_PAYLOAD 2

uint32_t HAL_GetTick(void)
{
    return clock_tick();
}

HAL_StatusTypeDef HAL_CRYP_Init(CRYP_HandleTypeDef *hcryp)
{
    if (hcryp == NULL) {
        return HAL_ERROR;
    }
    if (hcryp->state == STATE_RESET) {
        hcryp->lock = 0;
        __HAL_RCC_CRYP_CLK_ENABLE();
    }
    CRYP_TypeDef *cryp = hcryp->Instance;
    uint32_t fields = CRYP_CR_DATATYPE | CRYP_CR_KEYSIZE(3u) | CRYP_CR_ALGOMODE;
    cryp->CR = (cryp->CR & ~fields) | hcryp->Init.DataType | hcryp->Init.KeySize | hcryp->Init.Algorithm;
    hcryp->error = 0;
    hcryp->state = STATE_READY;
    hcryp->phase = 0;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_CRYP_DeInit(CRYP_HandleTypeDef *hcryp)
{
    hcryp->phase = 0;
    hcryp->given = hcryp->taken = 0;
    hcryp->Instance->CR &= ~CRYP_CR_CRYPEN;
    hcryp->state = STATE_RESET;
    hcryp->lock = 0;
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

/* Nothing came in time. All words count as given, so that the loop over the blocks ends. */
static HAL_StatusTypeDef give_up(CRYP_HandleTypeDef *hcryp)
{
    hcryp->Instance->CR &= ~CRYP_CR_CRYPEN;
    hcryp->error |= 1;
    hcryp->state = STATE_READY;
    hcryp->lock = 0;
    hcryp->given = hcryp->size / 4u;
    return HAL_ERROR;
}

static inline __attribute__((always_inline)) int is_over(uint32_t start, uint32_t timeout)
{
    return timeout != NO_LIMIT && (HAL_GetTick() - start > timeout || timeout == 0);
}

/* Poll until the bits of a register are as wanted, or the time is over. */
static HAL_StatusTypeDef wait(CRYP_HandleTypeDef *hcryp, REG *reg, uint32_t bits, uint32_t wanted, uint32_t timeout)
{
    uint32_t start = HAL_GetTick();
    while ((*reg & bits) != wanted) {
        if (is_over(start, timeout)) {
            return give_up(hcryp);
        }
    }
    return HAL_OK;
}

/* Three callers, as the vendor's has several: a function of its own with any compiler. */
static __attribute__((noinline)) HAL_StatusTypeDef wait_for_result(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    uint32_t start = HAL_GetTick();
    while ((hcryp->Instance->SR & CRYP_SR_OFNE) == 0) {
        if (is_over(start, timeout)) {
            return HAL_ERROR;
        }
    }
    return HAL_OK;
}

/* ---- blocks ---- */

static inline __attribute__((always_inline)) void give(CRYP_HandleTypeDef *hcryp)
{
    hcryp->Instance->DIN = *(hcryp->in + hcryp->given);
    hcryp->given++;
}

/* A block of a constant number of words from the output FIFO, as far as there is room for it. */
static inline __attribute__((always_inline)) void take(CRYP_HandleTypeDef *hcryp, uint32_t *result, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) {
        result[i] = hcryp->Instance->DOUT;
    }
    for (uint32_t i = 0; hcryp->taken < hcryp->size / 4u && i < words; i++) {
        *(hcryp->out + hcryp->taken) = result[i];
        hcryp->taken++;
    }
}

/* One block in, when there is room, and one out, when there is one. */
static __attribute__((noinline)) void process_aes_block(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    uint32_t result[AES_WORDS];
    uint16_t so_far = hcryp->given;
    if ((hcryp->Instance->SR & CRYP_SR_IFNF) != 0 && so_far < hcryp->size / 4u) {
        give(hcryp);
        give(hcryp);
        give(hcryp);
        give(hcryp);
    }
    if (wait_for_result(hcryp, timeout) != HAL_OK) {
        give_up(hcryp);
        return;
    }
    so_far = hcryp->taken;
    if ((hcryp->Instance->SR & CRYP_SR_OFNE) != 0 && so_far < hcryp->size / 4u) {
        take(hcryp, result, AES_WORDS);
    }
}

static HAL_StatusTypeDef process_aes(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    uint16_t so_far = hcryp->taken;
    while (hcryp->given < hcryp->size / 4u && so_far < hcryp->size / 4u) {
        process_aes_block(hcryp, timeout);
        so_far = hcryp->taken;
    }
    return hcryp->error != 0 ? HAL_ERROR : HAL_OK;
}

static HAL_StatusTypeDef process_des(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    uint32_t result[DES_WORDS];
    uint16_t so_far = hcryp->taken;
    while (hcryp->given < hcryp->size / 4u && so_far < hcryp->size / 4u) {
        so_far = hcryp->given;
        if ((hcryp->Instance->SR & CRYP_SR_IFNF) != 0 && so_far < hcryp->size / 4u) {
            give(hcryp);
            give(hcryp);
        }
        if (wait_for_result(hcryp, timeout) != HAL_OK) {
            return give_up(hcryp);
        }
        so_far = hcryp->taken;
        if ((hcryp->Instance->SR & CRYP_SR_OFNE) != 0 && so_far < hcryp->size / 4u) {
            take(hcryp, result, DES_WORDS);
        }
        so_far = hcryp->taken;
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
        return give_up(hcryp);
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
    HAL_StatusTypeDef status = process_des(hcryp, timeout);
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
    } else {
        set_aes_key(hcryp);
    }
    if (hcryp->Init.Algorithm != CRYP_AES_ECB) {
        set_vector(hcryp, AES_WORDS);
    }
    cryp->CR |= CRYP_CR_CRYPEN;
    HAL_StatusTypeDef status = process_aes(hcryp, timeout);
    cryp->CR &= ~CRYP_CR_CRYPEN;
    return status;
}

#if defined(CRYP_AES_GCM)

static void set_phase(CRYP_TypeDef *cryp, uint32_t phase)
{
    cryp->CR &= ~CRYP_CR_CRYPEN;
    cryp->CR &= ~CRYP_CR_GCM_CCMPH;
    cryp->CR |= phase;
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

/* The whole blocks of the text, under one more time limit for all of them. */
static HAL_StatusTypeDef process_payload(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    uint32_t words = hcryp->size / 16u * AES_WORDS;
    uint32_t start = HAL_GetTick();
    uint16_t so_far = hcryp->taken;
    while (hcryp->given < words && so_far < words) {
        process_aes_block(hcryp, timeout);
        so_far = hcryp->taken;
        if (is_over(start, timeout)) {
            return give_up(hcryp);
        }
    }
    return hcryp->error != 0 ? HAL_ERROR : HAL_OK;
}

static HAL_StatusTypeDef run_gcm(CRYP_HandleTypeDef *hcryp, uint32_t timeout)
{
    CRYP_TypeDef *cryp = hcryp->Instance;
    cryp->CR &= ~CRYP_CR_GCM_CCMPH;
    set_aes_key(hcryp);
    set_vector(hcryp, AES_WORDS);
    cryp->CR |= CRYP_CR_CRYPEN;
    if (wait(hcryp, &cryp->CR, CRYP_CR_CRYPEN, 0, timeout) != HAL_OK || run_header(hcryp, timeout) != HAL_OK) {
        return HAL_ERROR;
    }
    hcryp->phase = IN_PAYLOAD;
    set_phase(cryp, CRYP_CR_GCM_CCMPH_PAYLOAD);
    HAL_StatusTypeDef status = process_payload(hcryp, timeout);
    return status == HAL_OK ? process_rest(hcryp, timeout) : status;
}

HAL_StatusTypeDef HAL_CRYPEx_AESGCM_GenerateAuthTAG(CRYP_HandleTypeDef *hcryp, uint32_t *tag, uint32_t timeout)
{
    CRYP_TypeDef *cryp = hcryp->Instance;
    if (hcryp->phase != IN_PAYLOAD) {
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
    if (hcryp->state != STATE_READY) {
        return HAL_ERROR;
    }
    hcryp->state = STATE_BUSY;
    if (hcryp->lock) {
        return HAL_BUSY;
    }
    hcryp->lock = 1;
    hcryp->given = hcryp->taken = 0;
    hcryp->in = in;
    hcryp->out = out;
    hcryp->size = hcryp->Init.DataWidthUnit == CRYP_DATAWIDTHUNIT_WORD ? 4u * bytes : bytes;
    CRYP_TypeDef *cryp = hcryp->Instance;
    cryp->CR = (cryp->CR & ~CRYP_CR_ALGODIR) | (decrypt ? CRYP_CR_ALGODIR : 0);
    HAL_StatusTypeDef status;
    switch (cryp->CR & CRYP_CR_ALGOMODE) {
    case CRYP_DES_ECB:
    case CRYP_DES_CBC:
    case CRYP_TDES_ECB:
    case CRYP_TDES_CBC:
        status = run_des(hcryp, timeout);
        break;
#if defined(CRYP_AES_GCM)
    case CRYP_AES_GCM:
        status = run_gcm(hcryp, timeout);
        break;
#endif
    default:
        status = run_aes(hcryp, decrypt, timeout);
    }
    hcryp->state = STATE_READY;
    hcryp->lock = 0;
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
