/* AES-ECB, CBC and CTR through CRYP, as mbed TLS calls them. CFB, OFB and XTS: ../aes_modes.c.
 *
 * Each call loads its own key, mode and IV, so contexts may be interleaved at will. Buffers may lie at
 * any address and may be the same; zero length does nothing.
 */
#include "mbedtls/aes.h"

#include <string.h>

#include "mbedtls/platform.h"

#if defined(MBEDTLS_AES_ALT)

#define BLOCK 16

void mbedtls_aes_init(mbedtls_aes_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
}

void mbedtls_aes_free(mbedtls_aes_context *ctx)
{
    if (ctx != NULL) {
        wipe_words(ctx, sizeof *ctx);
    }
}

int mbedtls_aes_setkey_enc(mbedtls_aes_context *ctx, const unsigned char *key, unsigned int keybits)
{
    return cryp_set_aes_key(&ctx->key, key, keybits) != 0 ? MBEDTLS_ERR_AES_INVALID_KEY_LENGTH : 0;
}

/* The engine prepares the decryption key itself, at each call that needs it. */
int mbedtls_aes_setkey_dec(mbedtls_aes_context *ctx, const unsigned char *key, unsigned int keybits)
{
    return mbedtls_aes_setkey_enc(ctx, key, keybits);
}

static int run(mbedtls_aes_context *ctx, uint32_t mode, const uint32_t *iv, const unsigned char *in, unsigned char *out,
               size_t blocks)
{
    cryp_open();
    int error = cryp_begin(&ctx->key, mode, iv);
    if (error == 0) {
        error = cryp_blocks(in, out, blocks);
    }
    cryp_close();
    return error;
}

static uint32_t direction(int mode)
{
    return mode == MBEDTLS_AES_DECRYPT ? CRYP_CR_ALGODIR : 0;
}

static int bad_mode(int mode)
{
    return mode != MBEDTLS_AES_ENCRYPT && mode != MBEDTLS_AES_DECRYPT;
}

int mbedtls_aes_crypt_ecb(mbedtls_aes_context *ctx, int mode, const unsigned char input[16], unsigned char output[16])
{
    if (bad_mode(mode)) {
        return MBEDTLS_ERR_AES_BAD_INPUT_DATA;
    }
    return run(ctx, CRYP_CR_ALGOMODE_AES_ECB | direction(mode), NULL, input, output, 1);
}

static void load_iv(uint32_t iv[4], const unsigned char *bytes)
{
    for (int i = 0; i < 4; i++) {
        iv[i] = load_big(bytes + 4 * i);
    }
}

int mbedtls_aes_crypt_cbc(mbedtls_aes_context *ctx, int mode, size_t length, unsigned char iv[16],
                          const unsigned char *input, unsigned char *output)
{
    unsigned char next_iv[BLOCK];
    uint32_t words[4];
    if (bad_mode(mode)) {
        return MBEDTLS_ERR_AES_BAD_INPUT_DATA;
    }
    if (length % BLOCK != 0) {
        return MBEDTLS_ERR_AES_INVALID_INPUT_LENGTH;
    }
    if (length == 0) {
        return 0;
    }
    load_iv(words, iv);
    if (mode == MBEDTLS_AES_DECRYPT) { /* now: the output may overwrite it */
        memcpy(next_iv, input + length - BLOCK, BLOCK);
    }
    int error = run(ctx, CRYP_CR_ALGOMODE_AES_CBC | direction(mode), words, input, output, length / BLOCK);
    if (error == 0) {
        memcpy(iv, mode == MBEDTLS_AES_DECRYPT ? next_iv : output + length - BLOCK, BLOCK);
    }
    return error;
}

/* Add `blocks` to a 128-bit big-endian counter kept as words. */
static void advance(uint32_t counter[4], uint32_t blocks)
{
    uint32_t carry = blocks;
    for (int i = 3; i >= 0 && carry != 0; i--) {
        counter[i] += carry;
        carry = counter[i] < carry;
    }
}

/* Whole blocks in counter mode. The engine counts in 32 bits: a message is cut where they would wrap. */
static int counter_blocks(mbedtls_aes_context *ctx, uint32_t counter[4], const unsigned char *in, unsigned char *out,
                          size_t blocks)
{
    while (blocks != 0) {
        uint32_t until_wrap = -counter[3]; /* 0: 2^32 of them */
        size_t part = until_wrap != 0 && until_wrap < blocks ? until_wrap : blocks;
        int error = run(ctx, CRYP_CR_ALGOMODE_AES_CTR, counter, in, out, part);
        if (error) {
            return error;
        }
        advance(counter, (uint32_t)part);
        in += part * BLOCK;
        out += part * BLOCK;
        blocks -= part;
    }
    return 0;
}

int mbedtls_aes_crypt_ctr(mbedtls_aes_context *ctx, size_t length, size_t *nc_off, unsigned char nonce_counter[16],
                          unsigned char stream_block[16], const unsigned char *input, unsigned char *output)
{
    uint32_t counter[4];
    size_t at = *nc_off;
    if (at >= BLOCK) {
        return MBEDTLS_ERR_AES_BAD_INPUT_DATA;
    }
    for (; at != 0 && length != 0; length--) { /* key stream left over from the last call */
        *output++ = *input++ ^ stream_block[at];
        at = (at + 1) % BLOCK;
    }
    load_iv(counter, nonce_counter);
    size_t whole = length / BLOCK;
    int error = counter_blocks(ctx, counter, input, output, whole);
    input += whole * BLOCK;
    output += whole * BLOCK;
    length -= whole * BLOCK;
    if (error == 0 && length != 0) {
        memset(stream_block, 0, BLOCK);
        error = counter_blocks(ctx, counter, stream_block, stream_block, 1);
        for (at = 0; error == 0 && at < length; at++) {
            output[at] = input[at] ^ stream_block[at];
        }
    }
    if (error == 0) {
        for (int i = 0; i < 4; i++) {
            store_big(nonce_counter + 4 * i, counter[i]);
        }
        *nc_off = at;
    }
    return error;
}

#endif
