/* MD5 through HASH, as mbed TLS calls it. */
#include "mbedtls/md5.h"

#include <string.h>

#include "bytes.h"
#include "stm32f4.h"

#if defined(MBEDTLS_MD5_ALT)

void mbedtls_md5_init(mbedtls_md5_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
}

void mbedtls_md5_free(mbedtls_md5_context *ctx)
{
    if (ctx != NULL) {
        wipe_words(ctx, sizeof *ctx);
    }
}

/* Nothing of a message is in the engine alone, so a copy of the memory is a copy of the message. */
void mbedtls_md5_clone(mbedtls_md5_context *dst, const mbedtls_md5_context *src)
{
    *dst = *src;
}

int mbedtls_md5_starts_ret(mbedtls_md5_context *ctx)
{
    hash_start(&ctx->hash, HASH_CR_ALGO_MD5);
    return 0;
}

int mbedtls_md5_update_ret(mbedtls_md5_context *ctx, const unsigned char *input, size_t ilen)
{
    return hash_update(&ctx->hash, input, ilen);
}

int mbedtls_md5_finish_ret(mbedtls_md5_context *ctx, unsigned char output[16])
{
    return hash_finish(&ctx->hash, output, 16);
}

/* One block more of the same message; the engine knows no other way to run its core. */
int mbedtls_internal_md5_process(mbedtls_md5_context *ctx, const unsigned char data[64])
{
    return hash_update(&ctx->hash, data, HASH_BLOCK_BYTES);
}

#endif
