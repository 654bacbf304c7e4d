/* See cryp.h. */
#include "cryp.h"

#include <string.h>

#include "mbedtls/platform.h"
#include "mbedtls/platform_util.h"

#define FAILED MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED

int cryp_set_aes_key(struct cryp_key *key, const unsigned char *bytes, unsigned bits)
{
    if (bits != 128 && bits != 192 && bits != 256) {
        return -1;
    }
    unsigned count = bits / 32;
    memset(key, 0, sizeof *key);
    for (unsigned i = 0; i < count; i++) { /* the last word of the key always goes to K3RR */
        key->words[8 - count + i] = load_big(bytes + 4 * i);
    }
    key->size = CRYP_CR_KEYSIZE((uint32_t)(bits - 128) / 64);
    key->set = 1;
    return 0;
}

void cryp_open(void)
{
    engine_lock(ENGINE_CRYP);
    RCC->AHB2ENR |= RCC_AHB2ENR_CRYPEN;
}

void cryp_close(void)
{
    CRYP->CR = 0;
    engine_unlock(ENGINE_CRYP);
}

static void load_key(const struct cryp_key *key)
{
    CRYP->K0LR = key->words[0];
    CRYP->K0RR = key->words[1];
    CRYP->K1LR = key->words[2];
    CRYP->K1RR = key->words[3];
    CRYP->K2LR = key->words[4];
    CRYP->K2RR = key->words[5];
    CRYP->K3LR = key->words[6];
    CRYP->K3RR = key->words[7];
}

uint32_t cryp_configure(const struct cryp_key *key, uint32_t mode, const uint32_t *iv)
{
    uint32_t cr = mode | CRYP_CR_DATATYPE_8BIT | key->size;
    CRYP->CR = cr | CRYP_CR_FFLUSH;
    load_key(key);
    if (iv != NULL) {
        CRYP->IV0LR = iv[0];
        CRYP->IV0RR = iv[1];
        CRYP->IV1LR = iv[2];
        CRYP->IV1RR = iv[3];
    }
    return cr;
}

static int is_chained_decryption(uint32_t mode)
{
    return mode == (CRYP_CR_ALGOMODE_AES_ECB | CRYP_CR_ALGODIR) || mode == (CRYP_CR_ALGOMODE_AES_CBC | CRYP_CR_ALGODIR);
}

int cryp_begin(const struct cryp_key *key, uint32_t mode, const uint32_t *iv)
{
    if (!key->set) {
        return FAILED;
    }
    uint32_t cr = cryp_configure(key, mode, iv);
    if (is_chained_decryption(mode)) { /* the engine turns the key in its registers into the decryption key */
        CRYP->CR = CRYP_CR_ALGOMODE_AES_KEY | CRYP_CR_ALGODIR | key->size;
        CRYP->CR = CRYP_CR_ALGOMODE_AES_KEY | CRYP_CR_ALGODIR | key->size | CRYP_CR_CRYPEN;
        if (engine_wait(&CRYP->SR, CRYP_SR_BUSY, 0) != 0) {
            return FAILED;
        }
        CRYP->CR = cr;
    }
    CRYP->CR = cr | CRYP_CR_CRYPEN;
    return 0;
}

int cryp_blocks(const unsigned char *in, unsigned char *out, size_t blocks)
{
    if (blocks == 0) {
        return 0;
    }
    cryp_push(in);
    while (--blocks != 0) {
        in += 16;
        cryp_push(in); /* waits in the FIFO while its forerunner is worked on */
        if (cryp_wait_result() != 0) {
            return FAILED;
        }
        cryp_pop(out);
        out += 16;
    }
    if (cryp_wait_result() != 0) {
        return FAILED;
    }
    cryp_pop(out);
    return 0;
}

int cryp_blocks_des(const unsigned char *in, unsigned char *out, size_t blocks)
{
    size_t to_push = blocks;
    for (; to_push != 0 && blocks - to_push < 3; to_push--, in += 8) {
        CRYP->DIN = load_word(in);
        CRYP->DIN = load_word(in + 4);
    }
    for (; blocks != 0; blocks--, out += 8) {
        if (to_push != 0) {
            CRYP->DIN = load_word(in);
            CRYP->DIN = load_word(in + 4);
            in += 8;
            to_push--;
        }
        if (cryp_wait_result() != 0) {
            return FAILED;
        }
        store_word(out, CRYP->DOUT);
        store_word(out + 4, CRYP->DOUT);
    }
    return 0;
}

int cryp_stop(void)
{
    if (engine_wait(&CRYP->SR, CRYP_SR_BUSY | CRYP_SR_IFEM, CRYP_SR_IFEM) != 0) {
        return FAILED;
    }
    CRYP->CR &= ~CRYP_CR_CRYPEN;
    return 0;
}

/* ---- GCM and CCM ---- */

static int header_block(struct cryp_header *header)
{
    cryp_push(header->block);
    header->used = 0;
    return engine_wait(&CRYP->SR, CRYP_SR_IFEM, CRYP_SR_IFEM) != 0 ? FAILED : 0;
}

int cryp_header_add(struct cryp_header *header, const unsigned char *bytes, size_t length)
{
    for (; length > 0; length--) {
        header->block[header->used++] = *bytes++;
        if (header->used == sizeof header->block && header_block(header) != 0) {
            return FAILED;
        }
    }
    return 0;
}

int cryp_header_end(struct cryp_header *header)
{
    if (header->used != 0) {
        memset(header->block + header->used, 0, sizeof header->block - header->used);
        if (header_block(header) != 0) {
            return FAILED;
        }
    }
    return cryp_stop();
}

int cryp_counter_block(uint32_t cr, uint32_t counter, const unsigned char *in, unsigned char *out)
{
    cr = (cr & ~(CRYP_CR_ALGOMODE | CRYP_CR_ALGODIR | CRYP_CR_GCM_CCMPH | CRYP_CR_CRYPEN)) | CRYP_CR_ALGOMODE_AES_CTR;
    CRYP->IV1RR = counter;
    CRYP->CR = cr;
    CRYP->CR = cr | CRYP_CR_CRYPEN;
    cryp_push(in);
    if (cryp_wait_result() != 0) {
        return FAILED;
    }
    cryp_pop(out);
    return 0;
}

int cryp_differs(const unsigned char *a, const unsigned char *b, size_t length)
{
    unsigned char difference = 0;
    for (; length > 0; length--) {
        difference |= *a++ ^ *b++;
    }
    return difference;
}
