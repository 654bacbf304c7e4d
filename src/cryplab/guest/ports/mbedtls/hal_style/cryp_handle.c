/* See cryp_handle.h. */
#include "cryp_handle.h"

#include "bytes.h"
#include "clock.h"

static struct {
    uint32_t key_number, mode;
} loaded; /* what the block holds; number 0: nothing */

void cryp_handle_init(struct cryp_handle *handle)
{
    static uint32_t keys;
    RCC->AHB2ENR |= RCC_AHB2ENR_CRYPEN;
    handle->instance->CR =
        (handle->instance->CR & ~(CRYP_CR_KEYSIZE(3u) | CRYP_CR_DATATYPE_8BIT)) | handle->key_size | handle->data_type;
    if (++keys == 0) {
        keys = 1;
    }
    handle->key_number = keys;
    loaded.key_number = 0;
    handle->phase = CRYP_PHASE_READY;
    handle->state = CRYP_STATE_READY;
}

static void set_key(struct cryp_handle *handle)
{
    const uint8_t *key = handle->key;
    CRYP_TypeDef *cryp = handle->instance;
    if (handle->key_size == CRYP_CR_KEYSIZE(2u)) {
        cryp->K0LR = load_big(key);
        cryp->K0RR = load_big(key + 4);
        key += 8;
    }
    if (handle->key_size != CRYP_CR_KEYSIZE(0u)) {
        cryp->K1LR = load_big(key);
        cryp->K1RR = load_big(key + 4);
        key += 8;
    }
    cryp->K2LR = load_big(key);
    cryp->K2RR = load_big(key + 4);
    cryp->K3LR = load_big(key + 8);
    cryp->K3RR = load_big(key + 12);
}

static void set_iv(struct cryp_handle *handle)
{
    handle->instance->IV0LR = load_big(handle->iv);
    handle->instance->IV0RR = load_big(handle->iv + 4);
    handle->instance->IV1LR = load_big(handle->iv + 8);
    handle->instance->IV1RR = load_big(handle->iv + 12);
}

static enum cryp_status fail(struct cryp_handle *handle)
{
    handle->state = CRYP_STATE_TIMEOUT;
    loaded.key_number = 0;
    handle->locked = 0;
    return CRYP_TIMEOUT;
}

/* The loop that published AES figures are made of. */
static enum cryp_status process(struct cryp_handle *handle, uint8_t *in, uint16_t size, uint8_t *out, uint32_t limit)
{
    CRYP_TypeDef *cryp = handle->instance;
    for (const uint8_t *end = in + size; in != end; in += 16, out += 16) {
        cryp->DIN = load_word(in);
        cryp->DIN = load_word(in + 4);
        cryp->DIN = load_word(in + 8);
        cryp->DIN = load_word(in + 12);
        uint32_t start = clock_tick();
        while ((cryp->SR & CRYP_SR_OFNE) == 0) {
            if (limit != CRYP_NO_LIMIT) {
                if (limit == 0 || clock_tick() - start > limit) {
                    return fail(handle);
                }
            }
        }
        store_word(out, cryp->DOUT);
        store_word(out + 4, cryp->DOUT);
        store_word(out + 8, cryp->DOUT);
        store_word(out + 12, cryp->DOUT);
    }
    return CRYP_OK;
}

static enum cryp_status begin(struct cryp_handle *handle, uint32_t mode)
{
    if (handle->locked) {
        return CRYP_BUSY;
    }
    handle->locked = 1;
    handle->state = CRYP_STATE_BUSY;
    if (mode != CRYP_CR_ALGOMODE_AES_ECB || loaded.key_number != handle->key_number || loaded.mode != mode) {
        loaded.key_number = handle->key_number;
        loaded.mode = mode;
        handle->phase = CRYP_PHASE_READY;
    }
    return CRYP_OK;
}

static enum cryp_status end(struct cryp_handle *handle, enum cryp_status status)
{
    handle->instance->CR &= ~CRYP_CR_CRYPEN;
    if (status == CRYP_OK) {
        handle->state = CRYP_STATE_READY;
        handle->locked = 0;
    }
    return status;
}

static enum cryp_status encrypt(struct cryp_handle *handle, uint32_t mode, uint8_t *in, uint16_t size, uint8_t *out,
                                uint32_t limit)
{
    if (begin(handle, mode) != CRYP_OK) {
        return CRYP_BUSY;
    }
    if (handle->phase == CRYP_PHASE_READY) {
        set_key(handle);
        handle->instance->CR =
            (handle->instance->CR & ~(CRYP_CR_ALGOMODE | CRYP_CR_ALGODIR | CRYP_CR_KEYSIZE(3u))) | mode | handle->key_size;
        if (mode != CRYP_CR_ALGOMODE_AES_ECB) {
            set_iv(handle);
        }
        handle->instance->CR |= CRYP_CR_FFLUSH;
        handle->phase = CRYP_PHASE_PROCESS;
    }
    handle->instance->CR |= CRYP_CR_CRYPEN;
    return end(handle, process(handle, in, size, out, limit));
}

static enum cryp_status decrypt(struct cryp_handle *handle, uint32_t mode, uint8_t *in, uint16_t size, uint8_t *out,
                                uint32_t limit)
{
    if (begin(handle, mode | CRYP_CR_ALGODIR) != CRYP_OK) {
        return CRYP_BUSY;
    }
    if (handle->phase == CRYP_PHASE_READY) {
        set_key(handle);
        handle->instance->CR = (handle->instance->CR & ~(CRYP_CR_ALGOMODE | CRYP_CR_KEYSIZE(3u))) |
                               CRYP_CR_ALGOMODE_AES_KEY | CRYP_CR_ALGODIR | handle->key_size;
        handle->instance->CR |= CRYP_CR_CRYPEN;
        uint32_t start = clock_tick();
        while ((handle->instance->SR & CRYP_SR_BUSY) != 0) {
            if (limit != CRYP_NO_LIMIT) {
                if (limit == 0 || clock_tick() - start > limit) {
                    return fail(handle);
                }
            }
        }
        handle->instance->CR = (handle->instance->CR & ~CRYP_CR_ALGOMODE) | mode | CRYP_CR_ALGODIR;
        if (mode != CRYP_CR_ALGOMODE_AES_ECB) {
            set_iv(handle);
        }
        handle->instance->CR |= CRYP_CR_FFLUSH;
        handle->phase = CRYP_PHASE_PROCESS;
    }
    handle->instance->CR |= CRYP_CR_CRYPEN;
    return end(handle, process(handle, in, size, out, limit));
}

enum cryp_status cryp_aes_ecb_encrypt(struct cryp_handle *handle, uint8_t *in, uint16_t size, uint8_t *out, uint32_t limit)
{
    return encrypt(handle, CRYP_CR_ALGOMODE_AES_ECB, in, size, out, limit);
}

enum cryp_status cryp_aes_ecb_decrypt(struct cryp_handle *handle, uint8_t *in, uint16_t size, uint8_t *out, uint32_t limit)
{
    return decrypt(handle, CRYP_CR_ALGOMODE_AES_ECB, in, size, out, limit);
}

enum cryp_status cryp_aes_cbc_encrypt(struct cryp_handle *handle, uint8_t *in, uint16_t size, uint8_t *out, uint32_t limit)
{
    return encrypt(handle, CRYP_CR_ALGOMODE_AES_CBC, in, size, out, limit);
}

enum cryp_status cryp_aes_cbc_decrypt(struct cryp_handle *handle, uint8_t *in, uint16_t size, uint8_t *out, uint32_t limit)
{
    return decrypt(handle, CRYP_CR_ALGOMODE_AES_CBC, in, size, out, limit);
}
