/* AES-ECB and CBC over the handle driver; CTR, CFB, OFB and XTS: ../aes_modes.c; GCM and CCM stay the library's. */
#include "mbedtls/aes.h"

#include <string.h>

#include "mbedtls/platform.h"
#include "mbedtls/platform_util.h"

#if defined(MBEDTLS_AES_ALT)

#define LIMIT_MS 10
#define PIECE_BYTES 0xFFF0u /* a call of the handle driver takes a 16-bit size */

void mbedtls_aes_init(mbedtls_aes_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
}

void mbedtls_aes_free(mbedtls_aes_context *ctx)
{
    if (ctx != NULL) {
        mbedtls_platform_zeroize(ctx, sizeof *ctx);
    }
}

int mbedtls_aes_setkey_enc(mbedtls_aes_context *ctx, const unsigned char *key, unsigned int keybits)
{
    if (keybits != 128 && keybits != 192 && keybits != 256) {
        return MBEDTLS_ERR_AES_INVALID_KEY_LENGTH;
    }
    memcpy(ctx->key, key, keybits / 8);
    ctx->handle.instance = CRYP;
    ctx->handle.data_type = CRYP_CR_DATATYPE_8BIT;
    ctx->handle.key_size = CRYP_CR_KEYSIZE((keybits - 128) / 64);
    cryp_handle_init(&ctx->handle);
    return 0;
}

int mbedtls_aes_setkey_dec(mbedtls_aes_context *ctx, const unsigned char *key, unsigned int keybits)
{
    return mbedtls_aes_setkey_enc(ctx, key, keybits);
}

int mbedtls_aes_crypt_ecb(mbedtls_aes_context *ctx, int mode, const unsigned char input[16], unsigned char output[16])
{
    ctx->handle.key = ctx->key;
    enum cryp_status status = mode == MBEDTLS_AES_DECRYPT
                                  ? cryp_aes_ecb_decrypt(&ctx->handle, (uint8_t *)input, 16, output, LIMIT_MS)
                                  : cryp_aes_ecb_encrypt(&ctx->handle, (uint8_t *)input, 16, output, LIMIT_MS);
    return status == CRYP_OK ? 0 : MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED;
}

int mbedtls_aes_crypt_cbc(mbedtls_aes_context *ctx, int mode, size_t length, unsigned char iv[16],
                          const unsigned char *input, unsigned char *output)
{
    unsigned char next_iv[16];
    if (length % 16 != 0) {
        return MBEDTLS_ERR_AES_INVALID_INPUT_LENGTH;
    }
    while (length != 0) {
        size_t part = length < PIECE_BYTES ? length : PIECE_BYTES;
        memcpy(next_iv, input + part - 16, 16);
        ctx->handle.key = ctx->key;
        ctx->handle.iv = iv;
        enum cryp_status status =
            mode == MBEDTLS_AES_DECRYPT
                ? cryp_aes_cbc_decrypt(&ctx->handle, (uint8_t *)input, (uint16_t)part, output, LIMIT_MS)
                : cryp_aes_cbc_encrypt(&ctx->handle, (uint8_t *)input, (uint16_t)part, output, LIMIT_MS);
        if (status != CRYP_OK) {
            return MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED;
        }
        memcpy(iv, mode == MBEDTLS_AES_DECRYPT ? next_iv : output + part - 16, 16);
        input += part;
        output += part;
        length -= part;
    }
    return 0;
}

#endif
