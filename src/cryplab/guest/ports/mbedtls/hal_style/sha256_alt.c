/* SHA-224 and SHA-256 by polling in the vendor's 2017 shape: the 38 words of hash context are read back or
 * written at every step of a message (start, update, finish), words go to DIN one by one in a loop,
 * contexts are wiped byte by byte. Right for interleaved contexts: words are held back so that the engine
 * is saved only between blocks.
 */
#include "mbedtls/sha256.h"

#include <string.h>

#include "bytes.h"
#include "clock.h"
#include "mbedtls/platform.h"
#include "stm32f4.h"

#if defined(MBEDTLS_SHA256_ALT)

#define LIMIT_MS 10
#define FAILED MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED

static void wipe(void *memory, size_t size)
{
    volatile unsigned char *at = memory;
    while (size--) {
        *at++ = 0;
    }
}

void mbedtls_sha256_init(mbedtls_sha256_context *ctx)
{
    wipe(ctx, sizeof *ctx);
    RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN;
}

void mbedtls_sha256_free(mbedtls_sha256_context *ctx)
{
    if (ctx != NULL) {
        wipe(ctx, sizeof *ctx);
    }
}

void mbedtls_sha256_clone(mbedtls_sha256_context *dst, const mbedtls_sha256_context *src)
{
    *dst = *src;
}

static int wait(uint32_t mask, uint32_t value)
{
    uint32_t start = clock_tick();
    while ((HASH->SR & mask) != value) {
        if (clock_tick() - start > LIMIT_MS) {
            return FAILED;
        }
    }
    return 0;
}

static void read_back(mbedtls_sha256_context *ctx)
{
    ctx->saved_cr = HASH->CR;
    ctx->saved_str = HASH->STR;
    for (uint32_t i = 0; i < SHA256_SWAP_WORDS; i++) {
        ctx->saved[i] = HASH->CSR[i];
    }
}

static int save(mbedtls_sha256_context *ctx)
{
    if (wait(HASH_SR_BUSY | HASH_SR_DINIS, HASH_SR_DINIS) != 0) {
        return FAILED;
    }
    read_back(ctx);
    return 0;
}

static void restore(const mbedtls_sha256_context *ctx)
{
    HASH->STR = ctx->saved_str;
    HASH->CR = ctx->saved_cr;
    HASH->CR |= HASH_CR_INIT;
    for (uint32_t i = 0; i < SHA256_SWAP_WORDS; i++) {
        HASH->CSR[i] = ctx->saved[i];
    }
}

static void write_data(const unsigned char *bytes, size_t size)
{
    for (size_t done = 0; done < size; done += 4) {
        HASH->DIN = load_word(bytes);
        bytes += 4;
    }
}

int mbedtls_sha256_starts_ret(mbedtls_sha256_context *ctx, int is224)
{
    if (is224 != 0 && is224 != 1) {
        return MBEDTLS_ERR_SHA256_BAD_INPUT_DATA;
    }
    wipe(ctx, sizeof *ctx);
    ctx->is224 = is224;
    HASH->CR = (is224 ? HASH_CR_ALGO_SHA224 : HASH_CR_ALGO_SHA256) | HASH_CR_DATATYPE_8BIT | HASH_CR_INIT;
    HASH->STR = 0;
    return save(ctx);
}

int mbedtls_sha256_update_ret(mbedtls_sha256_context *ctx, const unsigned char *input, size_t ilen)
{
    restore(ctx);
    size_t wanted = ctx->fed ? 64 : SHA256_BUFFER_BYTES; /* what makes the engine start a block */
    if (ctx->buffered + ilen >= wanted) {
        size_t part = wanted - ctx->buffered;
        memcpy(ctx->buffer + ctx->buffered, input, part);
        write_data(ctx->buffer, wanted);
        input += part;
        ilen -= part;
        size_t whole = ilen & ~(size_t)63;
        write_data(input, whole);
        input += whole;
        ilen -= whole;
        ctx->fed = 1;
        ctx->buffered = 0;
    }
    memcpy(ctx->buffer + ctx->buffered, input, ilen);
    ctx->buffered += (uint8_t)ilen;
    return save(ctx);
}

int mbedtls_sha256_finish_ret(mbedtls_sha256_context *ctx, unsigned char output[32])
{
    unsigned valid = ctx->buffered % 4;
    restore(ctx);
    HASH->STR = 8 * valid;
    write_data(ctx->buffer, ctx->buffered - valid);
    if (valid != 0) {
        uint32_t word = 0;
        memcpy(&word, ctx->buffer + ctx->buffered - valid, valid);
        HASH->DIN = word;
    }
    HASH->STR |= HASH_STR_DCAL;
    if (wait(HASH_SR_BUSY | HASH_SR_DCIS, HASH_SR_DCIS) != 0) {
        return FAILED;
    }
    for (unsigned i = 0; i < (ctx->is224 ? 7u : 8u); i++) {
        store_big(output + 4 * i, HASH->HR[i]);
    }
    ctx->buffered = 0;
    read_back(ctx); /* of no use any more; the driver of 2017 did it at each step */
    return 0;
}

int mbedtls_internal_sha256_process(mbedtls_sha256_context *ctx, const unsigned char data[64])
{
    return mbedtls_sha256_update_ret(ctx, data, 64);
}

#endif
