/* A small driver with the names of mbed TLS, right for FAULT 0, with one fault for each other number: what
 * `check` must find. Built by tests/check/wrong.py; the numbers are there. */
#include <stddef.h>
#include <stdint.h>

#include "stm32f4.h"

extern uint32_t _estack, _sbss, _ebss;
enum {
    RIGHT, SHARED_KEY, IV_LOST, OUTPUT_OVERRUN, INPUT_OVERREAD, IN_PLACE, KEY_POINTER, MISALIGNED, SHARED_HASH,
    RNG_UNCHECKED, RNG_SHORT, HANGS, CRASHES, REFUSES, WRITES_INPUT, SMALL_CONTEXT
};
#define FAILED (-0x0070)

typedef struct {
    uint32_t key[8];
    uint32_t cr;
    const unsigned char *pointer;
} mbedtls_aes_context;

mbedtls_aes_context *last_context; /* keeps the type in the debug information */

static uint32_t big(const unsigned char *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }

static uint32_t load(const unsigned char *p)
{
    if (FAULT == MISALIGNED) {
        p = (const unsigned char *)((uintptr_t)p & ~(uintptr_t)3);
    }
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static void store(unsigned char *p, uint32_t word)
{
    for (int i = 0; i < 4; i++, word >>= 8) {
        p[i] = (unsigned char)word;
    }
}

static void words_of_key(mbedtls_aes_context *ctx, const unsigned char *key)
{
    unsigned count = 4 + 2 * (ctx->cr >> 8 & 3);
    for (unsigned i = 0; i < count; i++) {
        ctx->key[8 - count + i] = big(key + 4 * i);
    }
}

static void write_key(const mbedtls_aes_context *ctx)
{
    volatile uint32_t *k = &CRYP->K0LR;
    for (int i = 0; i < 8; i++) {
        k[i] = ctx->key[i];
    }
}

void mbedtls_aes_init(mbedtls_aes_context *ctx)
{
    RCC->AHB2ENR |= RCC_AHB2ENR_CRYPEN;
    for (unsigned i = 0; i < sizeof *ctx / 4 + (FAULT == SMALL_CONTEXT); i++) {
        ((uint32_t *)ctx)[i] = 0;
    }
    last_context = ctx;
}

void mbedtls_aes_free(mbedtls_aes_context *ctx) { ctx->cr = 0; }

static int setkey(mbedtls_aes_context *ctx, const unsigned char *key, unsigned bits)
{
    if (FAULT == REFUSES && bits == 192) {
        return -0x0072; /* MBEDTLS_ERR_PLATFORM_FEATURE_UNSUPPORTED */
    }
    ctx->cr = CRYP_CR_KEYSIZE((bits - 128) / 64) | CRYP_CR_DATATYPE_8BIT;
    ctx->pointer = key;
    words_of_key(ctx, key);
    if (FAULT == SHARED_KEY) {
        CRYP->CR = ctx->cr;
        write_key(ctx);
    }
    return 0;
}

int mbedtls_aes_setkey_enc(mbedtls_aes_context *ctx, const unsigned char *key, unsigned bits) { return setkey(ctx, key, bits); }
int mbedtls_aes_setkey_dec(mbedtls_aes_context *ctx, const unsigned char *key, unsigned bits) { return setkey(ctx, key, bits); }

/* With LOCKED, nobody takes the core during a job. */
static uint32_t lock(void)
{
    uint32_t before = 0;
#ifdef LOCKED
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before) : : "memory");
#endif
    return before;
}

static void unlock(uint32_t before)
{
#ifdef LOCKED
    __asm__ volatile("msr primask, %0" : : "r"(before) : "memory");
#endif
    (void)before;
}

static int begin(mbedtls_aes_context *ctx, uint32_t mode, int encrypt)
{
    uint32_t cr = ctx->cr | mode | (encrypt ? 0 : CRYP_CR_ALGODIR);
    if (FAULT == KEY_POINTER) {
        words_of_key(ctx, ctx->pointer);
    }
    CRYP->CR = cr | CRYP_CR_FFLUSH;
    if (FAULT != SHARED_KEY) {
        write_key(ctx);
    }
    if (!encrypt) {
        CRYP->CR = ctx->cr | CRYP_CR_ALGOMODE_AES_KEY;
        CRYP->CR = ctx->cr | CRYP_CR_ALGOMODE_AES_KEY | CRYP_CR_CRYPEN;
        while (CRYP->SR & CRYP_SR_BUSY) {
        }
        CRYP->CR = cr;
    }
    return (int)cr;
}

static void block(const unsigned char *in, unsigned char *out)
{
    for (int i = 0; i < 4; i++) {
        CRYP->DIN = load(in + 4 * i);
    }
    if (FAULT == INPUT_OVERREAD) {
        (void)*(volatile const unsigned char *)(in + 16);
    }
    for (int i = 0; i < 4; i++) {
        while (!(CRYP->SR & CRYP_SR_OFNE)) {
        }
        store(out + 4 * i, CRYP->DOUT);
    }
}

int mbedtls_aes_crypt_ecb(mbedtls_aes_context *ctx, int mode, const unsigned char *in, unsigned char *out)
{
    if (FAULT == CRASHES && mode == 0) {
        *(volatile uint32_t *)0x30000000 = 1;
    }
    uint32_t before = lock();
    CRYP->CR = (uint32_t)begin(ctx, CRYP_CR_ALGOMODE_AES_ECB, mode) | CRYP_CR_CRYPEN;
    block(in, out);
    if (FAULT == WRITES_INPUT && in != out) {
        *(unsigned char *)(uintptr_t)in ^= 1;
    }
    CRYP->CR = 0;
    unlock(before);
    return 0;
}

int mbedtls_aes_crypt_cbc(mbedtls_aes_context *ctx, int mode, size_t length, unsigned char iv[16], const unsigned char *in, unsigned char *out)
{
    unsigned char next[16];
    const unsigned char *from = in, *last = mode ? out + length - 16 : in + length - 16;
    if (length % 16 != 0) {
        return FAILED;
    }
    if (FAULT == HANGS && length == 48) {
        while (!(CRYP->SR & CRYP_SR_OFNE)) {
        }
    }
    uint32_t before = lock();
    uint32_t cr = (uint32_t)begin(ctx, CRYP_CR_ALGOMODE_AES_CBC, mode);
    for (int i = 0; i < 4; i++) {
        (&CRYP->IV0LR)[i] = big(iv + 4 * i);
    }
    CRYP->CR = cr | CRYP_CR_CRYPEN;
    for (int i = 0; i < 16 && length != 0; i++) {
        next[i] = last[i];
    }
    for (size_t done = 0; done < length; done += 16, in += 16, out += 16) {
        block(in, out);
    }
    if (length != 0 && FAULT != IV_LOST) {
        const unsigned char *chain = mode ? out - 16 : FAULT == IN_PLACE ? from + length - 16 : next;
        for (int i = 0; i < 16; i++) {
            iv[i] = chain[i];
        }
    }
    if (FAULT == OUTPUT_OVERRUN && length == 80) {
        store(out, 0);
    }
    CRYP->CR = 0;
    unlock(before);
    return 0;
}

#if FAULT == 8 /* SHARED_HASH */
typedef struct {
    uint32_t tail, count;
} mbedtls_sha256_context;
mbedtls_sha256_context *last_hash;

#ifdef VOID_HASH /* as before release 2.7: no status, and what stays in r0 is none */
#define STATUS void
#define RETURN __asm__ volatile("mvn r0, #0" ::: "r0")
#define mbedtls_sha256_starts_ret mbedtls_sha256_starts
#define mbedtls_sha256_update_ret mbedtls_sha256_update
#define mbedtls_sha256_finish_ret mbedtls_sha256_finish
#else
#define STATUS int
#define RETURN return 0
#endif

void mbedtls_sha256_init(mbedtls_sha256_context *ctx) { RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN; last_hash = ctx; }
void mbedtls_sha256_free(mbedtls_sha256_context *ctx) { ctx->count = 0; }

STATUS mbedtls_sha256_starts_ret(mbedtls_sha256_context *ctx, int is224)
{
    ctx->count = ctx->tail = 0;
    HASH->CR = (is224 ? HASH_CR_ALGO_SHA224 : HASH_CR_ALGO_SHA256) | HASH_CR_DATATYPE_8BIT | HASH_CR_INIT;
    RETURN;
}

STATUS mbedtls_sha256_update_ret(mbedtls_sha256_context *ctx, const unsigned char *in, size_t length)
{
    for (; length != 0; length--) {
        ctx->tail |= (uint32_t)*in++ << 8 * (ctx->count++ % 4);
        if (ctx->count % 4 == 0) {
            HASH->DIN = ctx->tail;
            ctx->tail = 0;
        }
    }
    RETURN;
}

STATUS mbedtls_sha256_finish_ret(mbedtls_sha256_context *ctx, unsigned char out[32])
{
    HASH->STR = 8 * (ctx->count % 4);
    if (ctx->count % 4) {
        HASH->DIN = ctx->tail;
    }
    HASH->STR |= HASH_STR_DCAL;
    while (!(HASH->SR & HASH_SR_DCIS)) {
    }
    for (int i = 0; i < 8; i++) {
        store(out + 4 * i, __builtin_bswap32(HASH->HR[i]));
    }
    RETURN;
}
#endif

int mbedtls_hardware_poll(void *data, unsigned char *out, size_t length, size_t *given)
{
    (void)data;
    RCC->AHB2ENR |= RCC_AHB2ENR_RNGEN;
    RNG->CR |= RNG_CR_RNGEN;
    for (size_t done = 0; done < length; done++) {
        static uint32_t word;
        if (done % 4 == 0) {
            if (FAULT == RNG_SHORT && length - done < 4 && done) {
                break;
            }
            while (FAULT != RNG_UNCHECKED && !(RNG->SR & RNG_SR_DRDY)) {
                if (RNG->SR & (RNG_SR_SEIS | RNG_SR_CEIS)) {
                    return FAILED;
                }
            }
            word = RNG->DR;
        }
        out[done] = (unsigned char)(word >> 8 * (done % 4));
    }
    *given = length;
    return 0;
}

uint32_t cryplab_exit_code;
void cryplab_stopped(void) { for (;;) { __asm__ volatile("wfi"); } }

void Reset_Handler(void)
{
    for (uint32_t *p = &_sbss; p < &_ebss; p++) {
        *p = 0;
    }
    RCC->CR |= RCC_CR_PLLON; /* as after reset: 48 MHz for the RNG from HSI */
    while (!(RCC->CR & RCC_CR_PLLRDY)) {
    }
#ifndef UNREFERENCED
    static const void *volatile const keep[] = {
        (void *)mbedtls_aes_init, (void *)mbedtls_aes_free, (void *)mbedtls_aes_setkey_enc, (void *)mbedtls_aes_setkey_dec,
        (void *)mbedtls_aes_crypt_ecb, (void *)mbedtls_aes_crypt_cbc, (void *)mbedtls_hardware_poll,
    };
    (void)keep[0];
#endif
    cryplab_stopped();
}

__attribute__((section(".isr_vector"), used)) const void *const vectors[128] = {&_estack, (const void *)Reset_Handler};
