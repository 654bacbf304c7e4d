/* SHA-224 and SHA-256 through HASH, as mbed TLS calls it. */
#include "mbedtls/sha256.h"

#include <string.h>

#include "bytes.h"
#include "stm32f4.h"

#if defined(MBEDTLS_SHA256_ALT)

void mbedtls_sha256_init(mbedtls_sha256_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
}

void mbedtls_sha256_free(mbedtls_sha256_context *ctx)
{
    if (ctx != NULL) {
        wipe_words(ctx, sizeof *ctx);
    }
}

/* Nothing of a message is in the engine alone, so a copy of the memory is a copy of the message. */
void mbedtls_sha256_clone(mbedtls_sha256_context *dst, const mbedtls_sha256_context *src)
{
    *dst = *src;
}

int mbedtls_sha256_starts_ret(mbedtls_sha256_context *ctx, int is224)
{
    if (is224 != 0 && is224 != 1) {
        return MBEDTLS_ERR_SHA256_BAD_INPUT_DATA;
    }
    ctx->is224 = is224;
    hash_start(&ctx->hash, is224 ? HASH_CR_ALGO_SHA224 : HASH_CR_ALGO_SHA256);
    return 0;
}

int mbedtls_sha256_update_ret(mbedtls_sha256_context *ctx, const unsigned char *input, size_t ilen)
{
    return hash_update(&ctx->hash, input, ilen);
}

int mbedtls_sha256_finish_ret(mbedtls_sha256_context *ctx, unsigned char output[32])
{
    return hash_finish(&ctx->hash, output, ctx->is224 ? 28 : 32);
}

/* One block more of the same message; the engine knows no other way to run its core. */
int mbedtls_internal_sha256_process(mbedtls_sha256_context *ctx, const unsigned char data[64])
{
    return hash_update(&ctx->hash, data, HASH_BLOCK_BYTES);
}

#endif
