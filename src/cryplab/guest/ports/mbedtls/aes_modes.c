/* AES modes that the engine does not have, over single blocks, for builds with a driver of their own.
 *
 * With MBEDTLS_AES_ALT the library leaves CFB, OFB and XTS to the driver as well. Standards: SP 800-38A
 * (CFB128, CFB8, OFB), IEEE 1619 (XTS). The hal-style build takes CTR from here, too.
 */
#include <string.h>

#include "bytes.h"
#include "mbedtls/aes.h"

#if defined(MBEDTLS_AES_ALT)

#define BLOCK 16

static void xor_block(unsigned char *out, const unsigned char *a, const unsigned char *b)
{
    for (int i = 0; i < BLOCK; i += 4) {
        store_word(out + i, load_word(a + i) ^ load_word(b + i));
    }
}

static int encrypt_block(mbedtls_aes_context *ctx, const unsigned char *in, unsigned char *out)
{
    return mbedtls_aes_crypt_ecb(ctx, MBEDTLS_AES_ENCRYPT, in, out);
}

int mbedtls_aes_crypt_cfb128(mbedtls_aes_context *ctx, int mode, size_t length, size_t *iv_off, unsigned char iv[16],
                             const unsigned char *input, unsigned char *output)
{
    size_t at = *iv_off;
    if (at >= BLOCK || (mode != MBEDTLS_AES_ENCRYPT && mode != MBEDTLS_AES_DECRYPT)) {
        return MBEDTLS_ERR_AES_BAD_INPUT_DATA;
    }
    for (; length > 0; length--) {
        int error = at == 0 ? encrypt_block(ctx, iv, iv) : 0;
        if (error) {
            return error;
        }
        unsigned char in = *input++, out = in ^ iv[at];
        iv[at] = mode == MBEDTLS_AES_ENCRYPT ? out : in;
        *output++ = out;
        at = (at + 1) % BLOCK;
    }
    *iv_off = at;
    return 0;
}

int mbedtls_aes_crypt_cfb8(mbedtls_aes_context *ctx, int mode, size_t length, unsigned char iv[16],
                           const unsigned char *input, unsigned char *output)
{
    if (mode != MBEDTLS_AES_ENCRYPT && mode != MBEDTLS_AES_DECRYPT) {
        return MBEDTLS_ERR_AES_BAD_INPUT_DATA;
    }
    for (; length > 0; length--) {
        unsigned char stream[BLOCK];
        int error = encrypt_block(ctx, iv, stream);
        if (error) {
            return error;
        }
        unsigned char in = *input++, out = in ^ stream[0];
        memmove(iv, iv + 1, BLOCK - 1);
        iv[BLOCK - 1] = mode == MBEDTLS_AES_ENCRYPT ? out : in;
        *output++ = out;
    }
    return 0;
}

int mbedtls_aes_crypt_ofb(mbedtls_aes_context *ctx, size_t length, size_t *iv_off, unsigned char iv[16],
                          const unsigned char *input, unsigned char *output)
{
    size_t at = *iv_off;
    if (at >= BLOCK) {
        return MBEDTLS_ERR_AES_BAD_INPUT_DATA;
    }
    for (; length > 0; length--) {
        int error = at == 0 ? encrypt_block(ctx, iv, iv) : 0;
        if (error) {
            return error;
        }
        *output++ = *input++ ^ iv[at];
        at = (at + 1) % BLOCK;
    }
    *iv_off = at;
    return 0;
}

#if defined(CRYPLAB_HAL_STYLE)
int mbedtls_aes_crypt_ctr(mbedtls_aes_context *ctx, size_t length, size_t *nc_off, unsigned char nonce_counter[16],
                          unsigned char stream_block[16], const unsigned char *input, unsigned char *output)
{
    size_t at = *nc_off;
    if (at >= BLOCK) {
        return MBEDTLS_ERR_AES_BAD_INPUT_DATA;
    }
    for (; length > 0; length--) {
        if (at == 0) {
            int error = encrypt_block(ctx, nonce_counter, stream_block);
            if (error) {
                return error;
            }
            for (int i = BLOCK - 1; i >= 0 && ++nonce_counter[i] == 0; i--) {
            }
        }
        *output++ = *input++ ^ stream_block[at];
        at = (at + 1) % BLOCK;
    }
    *nc_off = at;
    return 0;
}
#endif

/* ---- XTS: data key and tweak key, one half of the key each ---- */

void mbedtls_aes_xts_init(mbedtls_aes_xts_context *ctx)
{
    mbedtls_aes_init(&ctx->crypt);
    mbedtls_aes_init(&ctx->tweak);
}

void mbedtls_aes_xts_free(mbedtls_aes_xts_context *ctx)
{
    if (ctx != NULL) {
        mbedtls_aes_free(&ctx->crypt);
        mbedtls_aes_free(&ctx->tweak);
    }
}

static int xts_set_keys(mbedtls_aes_xts_context *ctx, const unsigned char *key, unsigned bits, int decrypt)
{
    if (bits != 256 && bits != 512) {
        return MBEDTLS_ERR_AES_INVALID_KEY_LENGTH;
    }
    int error = mbedtls_aes_setkey_enc(&ctx->tweak, key + bits / 16, bits / 2);
    if (error) {
        return error;
    }
    return decrypt ? mbedtls_aes_setkey_dec(&ctx->crypt, key, bits / 2)
                   : mbedtls_aes_setkey_enc(&ctx->crypt, key, bits / 2);
}

int mbedtls_aes_xts_setkey_enc(mbedtls_aes_xts_context *ctx, const unsigned char *key, unsigned int keybits)
{
    return xts_set_keys(ctx, key, keybits, 0);
}

int mbedtls_aes_xts_setkey_dec(mbedtls_aes_xts_context *ctx, const unsigned char *key, unsigned int keybits)
{
    return xts_set_keys(ctx, key, keybits, 1);
}

/* Multiply by x in GF(2^128), least significant byte first. */
static void next_tweak(unsigned char tweak[BLOCK])
{
    uint32_t carry = 0;
    for (int i = 0; i < BLOCK; i += 4) {
        uint32_t word = load_word(tweak + i);
        store_word(tweak + i, word << 1 | carry);
        carry = word >> 31;
    }
    tweak[0] ^= carry ? 0x87 : 0;
}

static int xts_block(mbedtls_aes_xts_context *ctx, int mode, const unsigned char *tweak, const unsigned char *in,
                     unsigned char *out)
{
    unsigned char block[BLOCK];
    xor_block(block, in, tweak);
    int error = mbedtls_aes_crypt_ecb(&ctx->crypt, mode, block, block);
    if (error == 0) {
        xor_block(out, block, tweak);
    }
    return error;
}

int mbedtls_aes_crypt_xts(mbedtls_aes_xts_context *ctx, int mode, size_t length, const unsigned char data_unit[16],
                          const unsigned char *input, unsigned char *output)
{
    unsigned char tweak[BLOCK], last_tweak[BLOCK], stolen[BLOCK];
    size_t rest = length % BLOCK;
    if (mode != MBEDTLS_AES_ENCRYPT && mode != MBEDTLS_AES_DECRYPT) {
        return MBEDTLS_ERR_AES_BAD_INPUT_DATA;
    }
    if (length < BLOCK || length > ((size_t)BLOCK << 20)) {
        return MBEDTLS_ERR_AES_INVALID_INPUT_LENGTH;
    }
    int error = encrypt_block(&ctx->tweak, data_unit, tweak);
    for (size_t left = length / BLOCK; error == 0 && left > 0; left--) {
        /* Stealing: the last whole block and the rest swap tweaks when decrypting. */
        int swap = rest != 0 && left == 1 && mode == MBEDTLS_AES_DECRYPT;
        memcpy(last_tweak, tweak, BLOCK);
        if (swap) {
            next_tweak(tweak);
        }
        error = xts_block(ctx, mode, tweak, input, output);
        if (!swap) {
            next_tweak(tweak);
            memcpy(last_tweak, tweak, BLOCK);
        }
        input += BLOCK;
        output += BLOCK;
    }
    if (error == 0 && rest != 0) {
        unsigned char *whole = output - BLOCK;
        memcpy(stolen, whole, BLOCK);
        memcpy(stolen, input, rest);
        memcpy(output, whole, rest);
        error = xts_block(ctx, mode, last_tweak, stolen, whole);
    }
    return error;
}

/* ---- single blocks under their older names ---- */

int mbedtls_internal_aes_encrypt(mbedtls_aes_context *ctx, const unsigned char input[16], unsigned char output[16])
{
    return mbedtls_aes_crypt_ecb(ctx, MBEDTLS_AES_ENCRYPT, input, output);
}

int mbedtls_internal_aes_decrypt(mbedtls_aes_context *ctx, const unsigned char input[16], unsigned char output[16])
{
    return mbedtls_aes_crypt_ecb(ctx, MBEDTLS_AES_DECRYPT, input, output);
}

#endif
