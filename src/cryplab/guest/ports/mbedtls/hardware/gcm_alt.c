/* AES-GCM whole on CRYP: init, header, payload and final phase in the engine.
 *
 * Between two calls of a message nothing stays in the engine: IV and context-swap registers are kept in
 * the context. IVs of other lengths than 96 bits: J0 by GHASH in software; the engine then ends the tag
 * with a J0 of its own making, so its E(K, J0) is asked from it with an empty message and exchanged.
 * A short last block when encrypting takes the manual's way for this engine, which has no NPBLB: one
 * block in counter mode, then its ciphertext, zero padded, hashed in the final phase. Of a message
 * given in pieces all but the last must be multiples of 16 bytes, as mbed TLS 2.28 asks.
 */
#include "mbedtls/gcm.h"

#include <string.h>

#include "mbedtls/platform.h"
#include "mbedtls/platform_util.h"

#if defined(MBEDTLS_GCM_ALT)

#define BLOCK 16
#define FAILED MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED

void mbedtls_gcm_init(mbedtls_gcm_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
}

void mbedtls_gcm_free(mbedtls_gcm_context *ctx)
{
    if (ctx != NULL) {
        wipe_words(ctx, sizeof *ctx);
    }
}

/* Other block ciphers cannot be done here: MBEDTLS_ERR_PLATFORM_FEATURE_UNSUPPORTED. */
int mbedtls_gcm_setkey(mbedtls_gcm_context *ctx, mbedtls_cipher_id_t cipher, const unsigned char *key,
                       unsigned int keybits)
{
    if (cipher != MBEDTLS_CIPHER_ID_AES) {
        return MBEDTLS_ERR_PLATFORM_FEATURE_UNSUPPORTED;
    }
    return cryp_set_aes_key(&ctx->key, key, keybits) != 0 ? MBEDTLS_ERR_GCM_BAD_INPUT : 0;
}

/* ---- phases; the engine is held ---- */

static int initialise(mbedtls_gcm_context *ctx)
{
    if (!ctx->key.set) {
        return FAILED;
    }
    uint32_t mode = CRYP_CR_ALGOMODE_AES_GCM | (ctx->decrypt ? CRYP_CR_ALGODIR : 0);
    ctx->cr = cryp_configure(&ctx->key, mode, ctx->iv);
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_INIT | CRYP_CR_CRYPEN;
    return engine_wait(&CRYP->CR, CRYP_CR_CRYPEN, 0) != 0 ? FAILED : 0;
}

static int add_data(mbedtls_gcm_context *ctx, const unsigned char *bytes, size_t length)
{
    struct cryp_header header = {.used = 0};
    if (length == 0) {
        return 0;
    }
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_HEADER | CRYP_CR_CRYPEN;
    int error = cryp_header_add(&header, bytes, length);
    return error ? error : cryp_header_end(&header);
}

/* A last block of 1 to 15 bytes. */
static int short_block(mbedtls_gcm_context *ctx, const unsigned char *in, unsigned char *out, size_t length)
{
    unsigned char block[BLOCK] = {0}, result[BLOCK];
    int error;
    memcpy(block, in, length);
    if (ctx->decrypt) {
        CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_PAYLOAD | CRYP_CR_CRYPEN;
        error = cryp_blocks(block, result, 1);
        error = error ? error : cryp_stop();
    } else { /* CSGCMCCM7R is one ahead of the next counter */
        error = cryp_counter_block(ctx->cr, CRYP->CSGCMCCM[7] - 1, block, result);
        error = error ? error : cryp_stop();
        memset(ctx->tail, 0, BLOCK);
        memcpy(ctx->tail, result, length);
    }
    memcpy(out, result, length);
    ctx->tail_bytes = (unsigned)length;
    return error;
}

static int text(mbedtls_gcm_context *ctx, const unsigned char *in, unsigned char *out, size_t length)
{
    size_t whole = length / BLOCK;
    ctx->text_bytes += length;
    if (whole != 0) {
        CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_PAYLOAD | CRYP_CR_CRYPEN;
        int error = cryp_blocks(in, out, whole);
        error = error ? error : cryp_stop();
        if (error) {
            return error;
        }
    }
    return 0;
}

static void push_bits(uint64_t bytes)
{
    uint64_t bits = 8 * bytes; /* this engine swaps the length words like data */
    CRYP->DIN = __builtin_bswap32((uint32_t)(bits >> 32));
    CRYP->DIN = __builtin_bswap32((uint32_t)bits);
}

static int finalise(mbedtls_gcm_context *ctx, unsigned char tag[BLOCK])
{
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_FINAL | CRYP_CR_CRYPEN;
    if (ctx->tail_bytes != 0 && !ctx->decrypt) {
        cryp_push(ctx->tail);
        if (cryp_wait_result() != 0) {
            return FAILED;
        }
        cryp_pop(tag); /* the hash so far; of no use */
    }
    push_bits(ctx->add_bytes);
    push_bits(ctx->text_bytes);
    if (cryp_wait_result() != 0) {
        return FAILED;
    }
    cryp_pop(tag);
    for (int i = 0; i < 4; i++) {
        store_word(tag + 4 * i, load_word(tag + 4 * i) ^ ctx->correction[i]);
    }
    return 0;
}

/* ---- first counter block ---- */

/* state = (state ^ block) * hash key in the field of GCM; words big endian, first bit most significant. */
static void ghash(uint32_t state[4], const uint32_t key[4], const uint32_t block[4])
{
    uint32_t product[4] = {0}, factor[4];
    memcpy(factor, key, sizeof factor);
    for (int bit = 0; bit < 128; bit++) {
        if (((state[bit / 32] ^ block[bit / 32]) >> (31 - bit % 32)) & 1) {
            for (int i = 0; i < 4; i++) {
                product[i] ^= factor[i];
            }
        }
        uint32_t out = factor[3] & 1;
        for (int i = 3; i > 0; i--) {
            factor[i] = factor[i] >> 1 | factor[i - 1] << 31;
        }
        factor[0] = factor[0] >> 1 ^ (out ? 0xE1000000u : 0);
    }
    memcpy(state, product, sizeof product);
}

/* E(K, block), words as numbers. */
static int encrypt_words(mbedtls_gcm_context *ctx, const uint32_t in[4], uint32_t out[4])
{
    unsigned char bytes[BLOCK];
    for (int i = 0; i < 4; i++) {
        store_big(bytes + 4 * i, in[i]);
    }
    int error = cryp_begin(&ctx->key, CRYP_CR_ALGOMODE_AES_ECB, NULL);
    error = error ? error : cryp_blocks(bytes, bytes, 1);
    error = error ? error : cryp_stop();
    for (int i = 0; i < 4; i++) {
        out[i] = load_big(bytes + 4 * i);
    }
    return error;
}

static int hashed_iv(mbedtls_gcm_context *ctx, const unsigned char *iv, size_t length)
{
    static const uint32_t zero[4];
    uint32_t key[4], j0[4] = {0}, mask[4];
    uint64_t bits = 8 * (uint64_t)length;
    int error = encrypt_words(ctx, zero, key);
    for (; length != 0; iv += length < BLOCK ? length : BLOCK, length -= length < BLOCK ? length : BLOCK) {
        unsigned char padded[BLOCK] = {0};
        uint32_t block[4];
        memcpy(padded, iv, length < BLOCK ? length : BLOCK);
        for (int i = 0; i < 4; i++) {
            block[i] = load_big(padded + 4 * i);
        }
        ghash(j0, key, block);
    }
    ghash(j0, key, (const uint32_t[4]){0, 0, (uint32_t)(bits >> 32), (uint32_t)bits});
    memcpy(ctx->iv, j0, sizeof j0);
    ctx->iv[3]++;
    error = error ? error : encrypt_words(ctx, j0, mask);
    error = error ? error : initialise(ctx);
    unsigned char engine_mask[BLOCK]; /* the tag of an empty message is E(K, J0) alone */
    error = error ? error : finalise(ctx, engine_mask);
    error = error ? error : cryp_stop();
    for (int i = 0; i < 4 && error == 0; i++) {
        ctx->correction[i] = load_word(engine_mask + 4 * i) ^ __builtin_bswap32(mask[i]);
    }
    return error;
}

static int start(mbedtls_gcm_context *ctx, int mode, const unsigned char *iv, size_t iv_bytes, const unsigned char *add,
                 size_t add_bytes)
{
    int error = 0;
    ctx->decrypt = mode == MBEDTLS_GCM_DECRYPT;
    ctx->add_bytes = ctx->text_bytes = 0;
    ctx->tail_bytes = 0;
    memset(ctx->correction, 0, sizeof ctx->correction);
    if (iv_bytes == 12) {
        for (int i = 0; i < 3; i++) {
            ctx->iv[i] = load_big(iv + 4 * i);
        }
        ctx->iv[3] = 2;
    } else {
        error = hashed_iv(ctx, iv, iv_bytes);
    }
    error = error ? error : initialise(ctx);
    ctx->add_bytes = add_bytes;
    return error ? error : add_data(ctx, add, add_bytes);
}

/* ---- state in memory between calls ---- */

static void save(mbedtls_gcm_context *ctx)
{
    ctx->iv[0] = CRYP->IV0LR;
    ctx->iv[1] = CRYP->IV0RR;
    ctx->iv[2] = CRYP->IV1LR;
    ctx->iv[3] = CRYP->IV1RR;
    for (int i = 0; i < 8; i++) {
        ctx->swap[i] = CRYP->CSGCMCCM[i];
        ctx->swap[8 + i] = CRYP->CSGCM[i];
    }
}

static void restore(mbedtls_gcm_context *ctx)
{
    cryp_configure(&ctx->key, ctx->cr & (CRYP_CR_ALGOMODE | CRYP_CR_ALGODIR), ctx->iv);
    for (int i = 0; i < 8; i++) {
        CRYP->CSGCMCCM[i] = ctx->swap[i];
        CRYP->CSGCM[i] = ctx->swap[8 + i];
    }
}

/* ---- the library's functions ---- */

static int bad_overlap(const unsigned char *in, const unsigned char *out, size_t length)
{
    return out > in && (size_t)(out - in) < length;
}

int mbedtls_gcm_starts(mbedtls_gcm_context *ctx, int mode, const unsigned char *iv, size_t iv_len,
                       const unsigned char *add, size_t add_len)
{
    if (iv_len == 0 || (uint64_t)iv_len >> 61 != 0 || (uint64_t)add_len >> 61 != 0) {
        return MBEDTLS_ERR_GCM_BAD_INPUT;
    }
    cryp_open();
    int error = start(ctx, mode, iv, iv_len, add, add_len);
    if (error == 0) {
        save(ctx);
    }
    cryp_close();
    return error;
}

int mbedtls_gcm_update(mbedtls_gcm_context *ctx, size_t length, const unsigned char *input, unsigned char *output)
{
    if (bad_overlap(input, output, length) || (length != 0 && ctx->tail_bytes != 0)) {
        return MBEDTLS_ERR_GCM_BAD_INPUT;
    }
    if (length == 0) {
        return 0;
    }
    size_t whole = length & ~(size_t)(BLOCK - 1);
    cryp_open();
    restore(ctx);
    int error = text(ctx, input, output, length);
    if (error == 0 && !ctx->decrypt) { /* a short block's excursion to counter mode changes the IV registers */
        save(ctx);
    }
    if (error == 0 && whole != length) {
        error = short_block(ctx, input + whole, output + whole, length - whole);
    }
    if (error == 0 && ctx->decrypt) {
        save(ctx);
    }
    cryp_close();
    return error;
}

int mbedtls_gcm_finish(mbedtls_gcm_context *ctx, unsigned char *tag, size_t tag_len)
{
    unsigned char whole[BLOCK];
    if (tag_len > 16 || tag_len < 4) {
        return MBEDTLS_ERR_GCM_BAD_INPUT;
    }
    cryp_open();
    restore(ctx);
    int error = finalise(ctx, whole);
    cryp_close();
    if (error == 0) {
        memcpy(tag, whole, tag_len);
    }
    return error;
}

int mbedtls_gcm_crypt_and_tag(mbedtls_gcm_context *ctx, int mode, size_t length, const unsigned char *iv, size_t iv_len,
                              const unsigned char *add, size_t add_len, const unsigned char *input,
                              unsigned char *output, size_t tag_len, unsigned char *tag)
{
    unsigned char whole_tag[BLOCK];
    size_t whole = length & ~(size_t)(BLOCK - 1);
    if (iv_len == 0 || (uint64_t)iv_len >> 61 != 0 || (uint64_t)add_len >> 61 != 0 || tag_len > 16 || tag_len < 4 ||
        bad_overlap(input, output, length)) {
        return MBEDTLS_ERR_GCM_BAD_INPUT;
    }
    cryp_open();
    int error = start(ctx, mode, iv, iv_len, add, add_len);
    error = error ? error : text(ctx, input, output, length);
    if (error == 0 && whole != length) {
        error = short_block(ctx, input + whole, output + whole, length - whole);
    }
    error = error ? error : finalise(ctx, whole_tag);
    cryp_close();
    if (error == 0) {
        memcpy(tag, whole_tag, tag_len);
    }
    return error;
}

int mbedtls_gcm_auth_decrypt(mbedtls_gcm_context *ctx, size_t length, const unsigned char *iv, size_t iv_len,
                             const unsigned char *add, size_t add_len, const unsigned char *tag, size_t tag_len,
                             const unsigned char *input, unsigned char *output)
{
    unsigned char computed[BLOCK];
    int error = mbedtls_gcm_crypt_and_tag(ctx, MBEDTLS_GCM_DECRYPT, length, iv, iv_len, add, add_len, input, output,
                                          tag_len, computed);
    if (error == 0 && cryp_differs(tag, computed, tag_len)) {
        error = MBEDTLS_ERR_GCM_AUTH_FAILED;
        mbedtls_platform_zeroize(output, length);
    }
    return error;
}

#endif
