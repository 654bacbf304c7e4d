/* SHA-1 through HASH, as mbed TLS calls it. */
#include "mbedtls/sha1.h"

#include <string.h>

#include "bytes.h"
#include "stm32f4.h"

#if defined(MBEDTLS_SHA1_ALT)

void mbedtls_sha1_init(mbedtls_sha1_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
}

void mbedtls_sha1_free(mbedtls_sha1_context *ctx)
{
    if (ctx != NULL) {
        wipe_words(ctx, sizeof *ctx);
    }
}

/* Nothing of a message is in the engine alone, so a copy of the memory is a copy of the message. */
void mbedtls_sha1_clone(mbedtls_sha1_context *dst, const mbedtls_sha1_context *src)
{
    *dst = *src;
}

int mbedtls_sha1_starts_ret(mbedtls_sha1_context *ctx)
{
    hash_start(&ctx->hash, HASH_CR_ALGO_SHA1);
    return 0;
}

int mbedtls_sha1_update_ret(mbedtls_sha1_context *ctx, const unsigned char *input, size_t ilen)
{
    return hash_update(&ctx->hash, input, ilen);
}

int mbedtls_sha1_finish_ret(mbedtls_sha1_context *ctx, unsigned char output[20])
{
    return hash_finish(&ctx->hash, output, 20);
}

/* One block more of the same message; the engine knows no other way to run its core. */
int mbedtls_internal_sha1_process(mbedtls_sha1_context *ctx, const unsigned char data[64])
{
    return hash_update(&ctx->hash, data, HASH_BLOCK_BYTES);
}

#endif
