/* DES and triple DES, ECB and CBC, through CRYP. */
#include "mbedtls/des.h"

#include <string.h>


#if defined(MBEDTLS_DES_ALT)

#define BLOCK 8

/* ---- keys: parity and weak keys (FIPS 46-3, SP 800-67) ---- */

static unsigned char odd_parity(unsigned char byte)
{
    return (unsigned char)((byte & 0xFE) | !__builtin_parity(byte & 0xFE));
}

void mbedtls_des_key_set_parity(unsigned char key[MBEDTLS_DES_KEY_SIZE])
{
    for (int i = 0; i < MBEDTLS_DES_KEY_SIZE; i++) {
        key[i] = odd_parity(key[i]);
    }
}

int mbedtls_des_key_check_key_parity(const unsigned char key[MBEDTLS_DES_KEY_SIZE])
{
    for (int i = 0; i < MBEDTLS_DES_KEY_SIZE; i++) {
        if (key[i] != odd_parity(key[i])) {
            return 1;
        }
    }
    return 0;
}

/* A weak or semi-weak key is made of two bytes that alternate within each half; the second half repeats the
 * first, but for its first-half partners E0/F1 and 1F/0E. Pairs of half patterns: */
static const unsigned char weak[16][2][2] = {
    {{0x01, 0x01}, {0x01, 0x01}}, {{0xFE, 0xFE}, {0xFE, 0xFE}}, {{0x1F, 0x1F}, {0x0E, 0x0E}},
    {{0xE0, 0xE0}, {0xF1, 0xF1}}, {{0x01, 0x1F}, {0x01, 0x0E}}, {{0x1F, 0x01}, {0x0E, 0x01}},
    {{0x01, 0xE0}, {0x01, 0xF1}}, {{0xE0, 0x01}, {0xF1, 0x01}}, {{0x01, 0xFE}, {0x01, 0xFE}},
    {{0xFE, 0x01}, {0xFE, 0x01}}, {{0x1F, 0xE0}, {0x0E, 0xF1}}, {{0xE0, 0x1F}, {0xF1, 0x0E}},
    {{0x1F, 0xFE}, {0x0E, 0xFE}}, {{0xFE, 0x1F}, {0xFE, 0x0E}}, {{0xE0, 0xFE}, {0xF1, 0xFE}},
    {{0xFE, 0xE0}, {0xFE, 0xF1}},
};

int mbedtls_des_key_check_weak(const unsigned char key[MBEDTLS_DES_KEY_SIZE])
{
    for (unsigned n = 0; n < sizeof weak / sizeof *weak; n++) {
        int same = 1;
        for (int i = 0; i < MBEDTLS_DES_KEY_SIZE; i++) {
            same &= key[i] == weak[n][i / 4][i % 2];
        }
        if (same) {
            return 1;
        }
    }
    return 0;
}

/* ---- contexts ---- */

void mbedtls_des_init(mbedtls_des_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
}

void mbedtls_des_free(mbedtls_des_context *ctx)
{
    if (ctx != NULL) {
        wipe_words(ctx, sizeof *ctx);
    }
}

void mbedtls_des3_init(mbedtls_des3_context *ctx)
{
    memset(ctx, 0, sizeof *ctx);
}

void mbedtls_des3_free(mbedtls_des3_context *ctx)
{
    if (ctx != NULL) {
        wipe_words(ctx, sizeof *ctx);
    }
}

/* Keys 1 to 3 lie in K1LR to K3RR; DES uses the first. */
static int set_keys(struct cryp_key *key, const unsigned char *first, const unsigned char *second,
                    const unsigned char *third)
{
    const unsigned char *keys[3] = {first, second, third};
    memset(key, 0, sizeof *key);
    for (int i = 0; i < 3; i++) {
        key->words[2 + 2 * i] = load_big(keys[i]);
        key->words[3 + 2 * i] = load_big(keys[i] + 4);
    }
    key->set = 1;
    return 0;
}

int mbedtls_des_setkey_enc(mbedtls_des_context *ctx, const unsigned char key[MBEDTLS_DES_KEY_SIZE])
{
    ctx->decrypt = 0;
    return set_keys(&ctx->key, key, key, key);
}

int mbedtls_des_setkey_dec(mbedtls_des_context *ctx, const unsigned char key[MBEDTLS_DES_KEY_SIZE])
{
    ctx->decrypt = 1;
    return set_keys(&ctx->key, key, key, key);
}

int mbedtls_des3_set2key_enc(mbedtls_des3_context *ctx, const unsigned char key[MBEDTLS_DES_KEY_SIZE * 2])
{
    ctx->decrypt = 0;
    return set_keys(&ctx->key, key, key + 8, key);
}

int mbedtls_des3_set2key_dec(mbedtls_des3_context *ctx, const unsigned char key[MBEDTLS_DES_KEY_SIZE * 2])
{
    ctx->decrypt = 1;
    return set_keys(&ctx->key, key, key + 8, key);
}

int mbedtls_des3_set3key_enc(mbedtls_des3_context *ctx, const unsigned char key[MBEDTLS_DES_KEY_SIZE * 3])
{
    ctx->decrypt = 0;
    return set_keys(&ctx->key, key, key + 8, key + 16);
}

int mbedtls_des3_set3key_dec(mbedtls_des3_context *ctx, const unsigned char key[MBEDTLS_DES_KEY_SIZE * 3])
{
    ctx->decrypt = 1;
    return set_keys(&ctx->key, key, key + 8, key + 16);
}

/* ---- data ---- */

static int run(const struct cryp_key *key, uint32_t mode, const uint32_t *iv, const unsigned char *in,
               unsigned char *out, size_t blocks)
{
    cryp_open();
    int error = cryp_begin(key, mode, iv);
    error = error ? error : cryp_blocks_des(in, out, blocks);
    cryp_close();
    return error;
}

static int chained(const struct cryp_key *key, uint32_t mode, int decrypt, size_t length, unsigned char iv[8],
                   const unsigned char *in, unsigned char *out)
{
    unsigned char next_iv[BLOCK];
    if (length % BLOCK != 0) {
        return MBEDTLS_ERR_DES_INVALID_INPUT_LENGTH;
    }
    if (length == 0) {
        return 0;
    }
    const uint32_t words[4] = {load_big(iv), load_big(iv + 4), 0, 0};
    memcpy(next_iv, in + length - BLOCK, BLOCK); /* now: the output may overwrite it */
    int error = run(key, mode | (decrypt ? CRYP_CR_ALGODIR : 0), words, in, out, length / BLOCK);
    if (error == 0) {
        memcpy(iv, decrypt ? next_iv : out + length - BLOCK, BLOCK);
    }
    return error;
}

int mbedtls_des_crypt_ecb(mbedtls_des_context *ctx, const unsigned char input[8], unsigned char output[8])
{
    uint32_t mode = CRYP_CR_ALGOMODE_DES_ECB | (ctx->decrypt ? CRYP_CR_ALGODIR : 0);
    return run(&ctx->key, mode, NULL, input, output, 1);
}

int mbedtls_des3_crypt_ecb(mbedtls_des3_context *ctx, const unsigned char input[8], unsigned char output[8])
{
    uint32_t mode = CRYP_CR_ALGOMODE_TDES_ECB | (ctx->decrypt ? CRYP_CR_ALGODIR : 0);
    return run(&ctx->key, mode, NULL, input, output, 1);
}

int mbedtls_des_crypt_cbc(mbedtls_des_context *ctx, int mode, size_t length, unsigned char iv[8],
                          const unsigned char *input, unsigned char *output)
{
    return chained(&ctx->key, CRYP_CR_ALGOMODE_DES_CBC, mode == MBEDTLS_DES_DECRYPT, length, iv, input, output);
}

int mbedtls_des3_crypt_cbc(mbedtls_des3_context *ctx, int mode, size_t length, unsigned char iv[8],
                           const unsigned char *input, unsigned char *output)
{
    return chained(&ctx->key, CRYP_CR_ALGOMODE_TDES_CBC, mode == MBEDTLS_DES_DECRYPT, length, iv, input, output);
}

#endif
