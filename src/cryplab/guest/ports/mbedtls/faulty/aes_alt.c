/* The hardware build's AES with one fault, a public one of 2017: contexts share the key registers of CRYP.
 *
 * Each context remembers that its key was loaded, and does not load it again for the next call in the same mode.
 * With one context at a time that is right and saves eight stores and the key preparation; benchmarks and
 * self-tests pass. When another context has loaded its key meanwhile, data are processed under the wrong key.
 */
#include "mbedtls/aes.h"

#include "mbedtls/platform.h"

#if defined(MBEDTLS_AES_ALT)

static int set_key(mbedtls_aes_context *ctx, const unsigned char *bytes, unsigned bits)
{
    ctx->loaded = 0;
    return cryp_set_aes_key(&ctx->key, bytes, bits);
}

static int begin(mbedtls_aes_context *ctx, uint32_t mode, const uint32_t *iv)
{
    uint32_t cr = mode | CRYP_CR_DATATYPE_8BIT | ctx->key.size;
    if (ctx->loaded != mode + 1) {
        ctx->loaded = mode + 1;
        return cryp_begin(&ctx->key, mode, iv);
    }
    CRYP->CR = cr | CRYP_CR_FFLUSH; /* the key is there: or is it? */
    if (iv != NULL) {
        CRYP->IV0LR = iv[0];
        CRYP->IV0RR = iv[1];
        CRYP->IV1LR = iv[2];
        CRYP->IV1RR = iv[3];
    }
    CRYP->CR = cr | CRYP_CR_CRYPEN;
    return 0;
}

#define cryp_set_aes_key(key, bytes, bits) set_key(ctx, bytes, bits)
#define cryp_begin(key, mode, iv) begin(ctx, mode, iv)
#include "../hardware/aes_alt.c"

#endif
