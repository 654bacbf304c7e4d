/* See hash.h. */
#include "hash.h"

#include <string.h>

#include "bytes.h"
#include "engine.h"
#include "mbedtls/platform.h"

#define FAILED MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED

#if defined(CRYPLAB_ENGINES)
#define DIGEST HASH->HRA /* version 1 of the engine: five words, at their old place only */
#else
#define DIGEST HASH->HR
#endif

static uint32_t engine_stamp; /* of the state that is in the engine; 0: nobody's */
static uint32_t last_stamp;

void hash_start(struct hash_context *ctx, uint32_t algorithm)
{
    ctx->algorithm = algorithm;
    ctx->stamp = 0;
    ctx->fed = 0;
    ctx->pending = 0;
}

/* Make the engine continue this message. */
static void resume(struct hash_context *ctx)
{
    uint32_t cr = ctx->algorithm | HASH_CR_DATATYPE_8BIT;
    if (!ctx->fed) {
        HASH->CR = cr | HASH_CR_INIT;
    } else if (ctx->stamp != engine_stamp) {
        HASH->CR = cr;
        HASH->CR = cr | HASH_CR_INIT;
        for (int i = 0; i < HASH_SWAP_WORDS; i++) {
            HASH->CSR[i] = ctx->swap[i];
        }
    }
    engine_stamp = 0;
}

/* Keep the state in memory; allowed between blocks only. */
static int save(struct hash_context *ctx)
{
    if (engine_wait(&HASH->SR, HASH_SR_BUSY | HASH_SR_DINIS, HASH_SR_DINIS) != 0) {
        return FAILED;
    }
    for (int i = 0; i < HASH_SWAP_WORDS; i++) {
        ctx->swap[i] = HASH->CSR[i];
    }
    if (++last_stamp == 0) {
        last_stamp = 1;
    }
    ctx->stamp = engine_stamp = last_stamp;
    return 0;
}

/* The engine holds the bus while it cannot take a word, so there is nothing to poll. */
static void push(const unsigned char *bytes, size_t words)
{
    for (; words >= 4; words -= 4, bytes += 16) {
        HASH->DIN = load_word(bytes);
        HASH->DIN = load_word(bytes + 4);
        HASH->DIN = load_word(bytes + 8);
        HASH->DIN = load_word(bytes + 12);
    }
    for (; words != 0; words--, bytes += 4) {
        HASH->DIN = load_word(bytes);
    }
}

int hash_update(struct hash_context *ctx, const unsigned char *bytes, size_t length)
{
    size_t wanted = ctx->fed ? HASH_BLOCK_BYTES : HASH_FIRST_BYTES;
    if (ctx->pending + length < wanted) {
        memcpy(ctx->rest + ctx->pending, bytes, length);
        ctx->pending += (uint8_t)length;
        return 0;
    }
    engine_lock(ENGINE_HASH);
    RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN;
    resume(ctx);
    if (ctx->pending != 0) {
        size_t part = wanted - ctx->pending;
        memcpy(ctx->rest + ctx->pending, bytes, part);
        push(ctx->rest, wanted / 4);
        bytes += part;
        length -= part;
    } else {
        push(bytes, wanted / 4);
        bytes += wanted;
        length -= wanted;
    }
    push(bytes, length / HASH_BLOCK_BYTES * (HASH_BLOCK_BYTES / 4));
    ctx->fed = 1;
    ctx->pending = (uint8_t)(length % HASH_BLOCK_BYTES);
    memcpy(ctx->rest, bytes + length - ctx->pending, ctx->pending);
    int error = save(ctx);
    engine_unlock(ENGINE_HASH);
    return error;
}

int hash_finish(struct hash_context *ctx, unsigned char *digest, size_t digest_bytes)
{
    unsigned valid = ctx->pending % 4; /* bytes of the last word; 0: all */
    engine_lock(ENGINE_HASH);
    RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN;
    resume(ctx);
    HASH->STR = 8 * valid;
    push(ctx->rest, ctx->pending / 4);
    if (valid != 0) {
        uint32_t word = 0;
        memcpy(&word, ctx->rest + ctx->pending - valid, valid);
        HASH->DIN = word;
    }
    HASH->STR = 8 * valid | HASH_STR_DCAL;
    int error = engine_wait(&HASH->SR, HASH_SR_BUSY | HASH_SR_DCIS, HASH_SR_DCIS) != 0 ? FAILED : 0;
    for (size_t i = 0; i < digest_bytes / 4 && error == 0; i++) {
        store_big(digest + 4 * i, DIGEST[i]);
    }
    engine_unlock(ENGINE_HASH);
    return error;
}
