/* AES-CCM whole on CRYP. A short last block when decrypting takes the manual's way for this engine, which has no
 * NPBLB: one block in counter mode, then its plaintext, zero padded, fed to the MAC in a header phase.
 */
#include "mbedtls/ccm.h"

#include <string.h>

#include "mbedtls/platform.h"
#include "mbedtls/platform_util.h"

#if defined(MBEDTLS_CCM_ALT)

#define BLOCK 16
#define FAILED MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED

void mbedtls_ccm_init(mbedtls_ccm_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
}

void mbedtls_ccm_free(mbedtls_ccm_context *ctx)
{
    if (ctx != NULL) {
        wipe_words(ctx, sizeof *ctx);
    }
}

/* Other block ciphers cannot be done here: MBEDTLS_ERR_PLATFORM_FEATURE_UNSUPPORTED. */
int mbedtls_ccm_setkey(mbedtls_ccm_context *ctx, mbedtls_cipher_id_t cipher, const unsigned char *key,
                       unsigned int keybits)
{
    if (cipher != MBEDTLS_CIPHER_ID_AES) {
        return MBEDTLS_ERR_PLATFORM_FEATURE_UNSUPPORTED;
    }
    return cryp_set_aes_key(&ctx->key, key, keybits) != 0 ? MBEDTLS_ERR_CCM_BAD_INPUT : 0;
}

/* B0 of SP 800-38C, and the first and zeroth counter block made from it. */
struct blocks {
    unsigned char b0[BLOCK], counter[BLOCK];
};

static int format(struct blocks *blocks, size_t length, const unsigned char *iv, size_t iv_bytes, size_t add_bytes,
                  size_t tag_bytes)
{
    unsigned length_bytes = 15 - (unsigned)iv_bytes;
    memset(blocks, 0, sizeof *blocks);
    blocks->b0[0] = (unsigned char)((add_bytes != 0 ? 0x40 : 0) |
                                    (tag_bytes != 0 ? (tag_bytes - 2) / 2 << 3 : 0) | (length_bytes - 1));
    memcpy(blocks->b0 + 1, iv, iv_bytes);
    blocks->counter[0] = (unsigned char)(length_bytes - 1);
    memcpy(blocks->counter + 1, iv, iv_bytes);
    for (unsigned i = 0; i < length_bytes; i++, length >>= 8) {
        blocks->b0[15 - i] = (unsigned char)length;
    }
    return length != 0 ? MBEDTLS_ERR_CCM_BAD_INPUT : 0;
}

/* ---- phases; the engine is held ---- */

static int initialise(const struct cryp_key *key, uint32_t mode, const struct blocks *blocks, uint32_t *cr)
{
    uint32_t iv[4];
    if (!key->set) {
        return FAILED;
    }
    for (int i = 0; i < 4; i++) {
        iv[i] = load_big(blocks->counter + 4 * i);
    }
    iv[3] |= 1;
    *cr = cryp_configure(key, mode, iv);
    CRYP->CR = *cr | CRYP_CR_GCM_CCMPH_INIT | CRYP_CR_CRYPEN;
    cryp_push(blocks->b0); /* this engine swaps it like data */
    return engine_wait(&CRYP->CR, CRYP_CR_CRYPEN, 0) != 0 ? FAILED : 0;
}

static int add_data(uint32_t cr, const unsigned char *bytes, size_t length)
{
    struct cryp_header header = {.used = 0};
    if (length == 0) {
        return 0;
    }
    CRYP->CR = cr | CRYP_CR_GCM_CCMPH_HEADER | CRYP_CR_CRYPEN;
    const unsigned char size[2] = {(unsigned char)(length >> 8), (unsigned char)length};
    int error = cryp_header_add(&header, size, sizeof size);
    error = error ? error : cryp_header_add(&header, bytes, length);
    return error ? error : cryp_header_end(&header);
}

static int short_block_encrypted(uint32_t cr, const unsigned char *in, unsigned char *out, size_t length)
{
    unsigned char block[BLOCK] = {0};
    memcpy(block, in, length);
    CRYP->CR = cr | CRYP_CR_GCM_CCMPH_PAYLOAD | CRYP_CR_CRYPEN;
    int error = cryp_blocks(block, block, 1);
    memcpy(out, block, length);
    return error ? error : cryp_stop();
}

static int short_block_decrypted(uint32_t cr, const unsigned char *in, unsigned char *out, size_t length)
{
    unsigned char block[BLOCK] = {0};
    uint32_t before[4];
    memcpy(block, in, length);
    for (int i = 0; i < 4; i++) {
        before[i] = CRYP->CSGCMCCM[i];
    }
    int error = cryp_counter_block(cr, CRYP->CSGCMCCM[7], block, block);
    if (error) {
        return error;
    }
    memcpy(out, block, length);
    memset(block + length, 0, BLOCK - length);
    for (int i = 0; i < 4; i++) { /* undo what counter mode may have done to the MAC; DIN is swapped */
        uint32_t change = before[i] ^ CRYP->CSGCMCCM[i];
        store_word(block + 4 * i, load_word(block + 4 * i) ^ __builtin_bswap32(change));
    }
    cr = (cr & ~CRYP_CR_ALGODIR) | CRYP_CR_CRYPEN;
    CRYP->CR = cr;
    CRYP->CR = cr | CRYP_CR_GCM_CCMPH_HEADER;
    cryp_push(block);
    return cryp_stop();
}

static int text(uint32_t cr, const unsigned char *in, unsigned char *out, size_t length)
{
    size_t whole = length / BLOCK * BLOCK;
    if (whole != 0) {
        CRYP->CR = cr | CRYP_CR_GCM_CCMPH_PAYLOAD | CRYP_CR_CRYPEN;
        int error = cryp_blocks(in, out, whole / BLOCK);
        error = error ? error : cryp_stop();
        if (error) {
            return error;
        }
    }
    if (whole == length) {
        return 0;
    }
    return cr & CRYP_CR_ALGODIR ? short_block_decrypted(cr, in + whole, out + whole, length - whole)
                                : short_block_encrypted(cr, in + whole, out + whole, length - whole);
}

static int finalise(uint32_t cr, const struct blocks *blocks, unsigned char tag[BLOCK])
{
    CRYP->CR = cr | CRYP_CR_GCM_CCMPH_FINAL;
    CRYP->CR = cr | CRYP_CR_GCM_CCMPH_FINAL | CRYP_CR_CRYPEN;
    cryp_push(blocks->counter); /* counter 0, swapped like data */
    if (cryp_wait_result() != 0) {
        return FAILED;
    }
    cryp_pop(tag);
    return 0;
}

static int run(mbedtls_ccm_context *ctx, uint32_t direction, size_t length, const unsigned char *iv, size_t iv_bytes,
               const unsigned char *add, size_t add_bytes, const unsigned char *in, unsigned char *out,
               unsigned char tag[BLOCK], size_t tag_bytes)
{
    struct blocks blocks;
    uint32_t cr;
    if (tag_bytes == 2 || tag_bytes > 16 || tag_bytes % 2 != 0 || iv_bytes < 7 || iv_bytes > 13 || add_bytes >= 0xFF00) {
        return MBEDTLS_ERR_CCM_BAD_INPUT;
    }
    int error = format(&blocks, length, iv, iv_bytes, add_bytes, tag_bytes);
    if (error) {
        return error;
    }
    cryp_open();
    error = initialise(&ctx->key, CRYP_CR_ALGOMODE_AES_CCM | direction, &blocks, &cr);
    error = error ? error : add_data(cr, add, add_bytes);
    error = error ? error : text(cr, in, out, length);
    error = error ? error : finalise(cr, &blocks, tag);
    cryp_close();
    return error;
}

/* ---- the library's functions ---- */

int mbedtls_ccm_star_encrypt_and_tag(mbedtls_ccm_context *ctx, size_t length, const unsigned char *iv, size_t iv_len,
                                     const unsigned char *add, size_t add_len, const unsigned char *input,
                                     unsigned char *output, unsigned char *tag, size_t tag_len)
{
    unsigned char whole[BLOCK];
    int error = run(ctx, 0, length, iv, iv_len, add, add_len, input, output, whole, tag_len);
    if (error == 0 && tag_len != 0) {
        memcpy(tag, whole, tag_len);
    }
    return error;
}

int mbedtls_ccm_encrypt_and_tag(mbedtls_ccm_context *ctx, size_t length, const unsigned char *iv, size_t iv_len,
                                const unsigned char *add, size_t add_len, const unsigned char *input,
                                unsigned char *output, unsigned char *tag, size_t tag_len)
{
    if (tag_len == 0) {
        return MBEDTLS_ERR_CCM_BAD_INPUT;
    }
    return mbedtls_ccm_star_encrypt_and_tag(ctx, length, iv, iv_len, add, add_len, input, output, tag, tag_len);
}

int mbedtls_ccm_star_auth_decrypt(mbedtls_ccm_context *ctx, size_t length, const unsigned char *iv, size_t iv_len,
                                  const unsigned char *add, size_t add_len, const unsigned char *input,
                                  unsigned char *output, const unsigned char *tag, size_t tag_len)
{
    unsigned char computed[BLOCK];
    int error = run(ctx, CRYP_CR_ALGODIR, length, iv, iv_len, add, add_len, input, output, computed, tag_len);
    if (error == 0 && cryp_differs(tag, computed, tag_len)) {
        error = MBEDTLS_ERR_CCM_AUTH_FAILED;
        mbedtls_platform_zeroize(output, length);
    }
    return error;
}

int mbedtls_ccm_auth_decrypt(mbedtls_ccm_context *ctx, size_t length, const unsigned char *iv, size_t iv_len,
                             const unsigned char *add, size_t add_len, const unsigned char *input,
                             unsigned char *output, const unsigned char *tag, size_t tag_len)
{
    if (tag_len == 0) {
        return MBEDTLS_ERR_CCM_BAD_INPUT;
    }
    return mbedtls_ccm_star_auth_decrypt(ctx, length, iv, iv_len, add, add_len, input, output, tag, tag_len);
}

#endif
