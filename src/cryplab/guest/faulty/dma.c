/* AES-CBC and SHA-256 with DMA2, one fault at a time; see faulty.h.
 *
 * CRYP: stream 6 feeds DIN, stream 5 empties DOUT; HASH: stream 7 feeds DIN; channel 2 each. The correct driver
 * copies data that DMA2 cannot take (core-coupled memory, odd addresses) through a buffer of its own.
 */
#include "faulty.h"

#define TCIF5 (1u << 11)
#define TEIF5 (1u << 9)
#define TCIF6 (1u << 21)
#define TEIF6 (1u << 19)
#define TCIF7 (1u << 27)
#define TEIF7 (1u << 25)
#define ALL_FLAGS 0x0F7D0F7Du
#define CORE_COUPLED ((uint8_t *)0x10000000u)

struct dma_aes {
    uint32_t key[4];
};

static uint8_t bounce[256] __attribute__((aligned(4)));

/* ---- streams ---- */

static void start_stream(unsigned n, const volatile void *block, const void *memory, size_t bytes, uint32_t direction)
{
    DMA_Stream_TypeDef *s = &DMA2->S[n];
    unsigned width = FAULT(dma_byte_width) ? 0 : 2;
    uint32_t cr = DMA_CHANNEL(2) | DMA_MINC | DMA_PSIZE(width) | DMA_MSIZE(width) | direction;
    if (FAULT(dma_peripheral_moves)) {
        cr |= DMA_PINC;
    }
    s->CR = 0;
    while (s->CR & DMA_EN) {
    }
    s->PAR = (uint32_t)block;
    s->M0AR = (uint32_t)memory;
    s->NDTR = bytes >> width;
    s->CR = cr;
    s->CR = cr | DMA_EN; /* LINE: start_stream */
}

static int end_of(uint32_t complete, uint32_t error)
{
    uint32_t start = DWT_CYCCNT, flags;
    do {
        flags = DMA2->HISR; /* LINE: flags */
        if (FAULT(dma_error_ignored) && flags & error) {
            return 0;
        }
        if (flags & error || DWT_CYCCNT - start > LIMIT_CYCLES) {
            return FAILED;
        }
    } while ((flags & complete) != complete);
    return 0;
}

static const uint8_t *reachable(const uint8_t *in, size_t length)
{
    uint32_t address = (uint32_t)in;
    int coupled = address >= (uint32_t)CORE_COUPLED && address < (uint32_t)CORE_COUPLED + 0x10000u;
    if ((coupled && !FAULT(dma_core_coupled)) || (address % 4 != 0 && !FAULT(dma_misaligned))) {
        memcpy(bounce, in, length);
        return bounce;
    }
    return in;
}

/* ---- AES-CBC encryption, 128 bits ---- */

API void drv_dma_setkey(struct dma_aes *ctx, const uint8_t *key, unsigned bits)
{
    for (unsigned i = 0; i < bits / 32; i++) {
        ctx->key[i] = load_big(key + 4 * i);
    }
    RCC->AHB2ENR |= RCC_AHB2ENR_CRYPEN;
    RCC->AHB1ENR |= RCC_AHB1ENR_DMA2EN;
}

static void begin(struct dma_aes *ctx, const uint8_t *iv)
{
    uint32_t cr = CRYP_CR_ALGOMODE_AES_CBC | CRYP_CR_DATATYPE_8BIT;
    CRYP->CR = cr | CRYP_CR_FFLUSH;
    for (unsigned i = 0; i < 4; i++) {
        (&CRYP->K2LR)[i] = ctx->key[i];
        (&CRYP->IV0LR)[i] = load_big(iv + 4 * i);
    }
    CRYP->CR = cr | CRYP_CR_CRYPEN;
}

/* Encrypts; `out` must lie where DMA2 can store words. */
API int drv_dma_cbc(struct dma_aes *ctx, size_t length, uint8_t *iv, const uint8_t *in, uint8_t *out)
{
    if (length % BLOCK != 0 && !FAULT(dma_part_of_block)) {
        return FAILED;
    }
    begin(ctx, iv);
    DMA2->HIFCR = ALL_FLAGS;
    start_stream(5, &CRYP->DOUT, out, length, 0);
    start_stream(6, &CRYP->DIN, reachable(in, length), length, DMA_TO_PERIPHERAL);
    CRYP->DMACR = CRYP_DMACR_DIEN | CRYP_DMACR_DOEN;
    int error = end_of(TCIF5 | TCIF6, TEIF5 | TEIF6);
    CRYP->DMACR = 0;
    DMA2->S[5].CR = 0;
    DMA2->S[6].CR = 0;
    CRYP->CR &= ~CRYP_CR_CRYPEN;
    if (error == 0) {
        memcpy(iv, out + length - BLOCK, BLOCK);
    }
    return error;
}

/* ---- SHA-256 ---- */

static int chunk(const uint8_t *in, size_t length)
{
    DMA2->HIFCR = ALL_FLAGS;
    HASH->CR |= HASH_CR_DMAE;
    start_stream(7, &HASH->DIN, reachable(in, length), (length + 3) / 4 * 4, DMA_TO_PERIPHERAL);
    int error = end_of(TCIF7, TEIF7);
    DMA2->S[7].CR = 0;
    return error;
}

static int read_digest(uint8_t *digest)
{
    int error = wait_for(&HASH->SR, HASH_SR_BUSY | HASH_SR_DCIS, HASH_SR_DCIS);
    for (unsigned i = 0; i < 8; i++) {
        store_big(digest + 4 * i, HASH->HR[i]);
    }
    return error;
}

/* In two transfers when there are more than 64 bytes: the first ends between words, not the message. */
API int drv_dma_sha256(const uint8_t *in, size_t length, uint8_t *digest)
{
    size_t first = length > 64 ? (length - 1) / 128 * 64 + 64 : 0;
    uint32_t cr = HASH_CR_ALGO_SHA256 | HASH_CR_DATATYPE_8BIT;
    int error = 0;
    RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN;
    RCC->AHB1ENR |= RCC_AHB1ENR_DMA2EN;
    HASH->CR = cr | (first != 0 && !FAULT(dma_more_not_told) ? HASH_CR_MDMAT : 0) | HASH_CR_INIT;
    if (!FAULT(dma_nblw_late)) {
        HASH->STR = 8 * (length % 4);
    }
    if (first != 0) {
        error = chunk(in, first);
        if (FAULT(dma_more_awaited)) { /* to save the context: but the last block waits for one more word */
            while (!(HASH->SR & HASH_SR_DINIS)) { /* LINE: dma_more_awaited */
            }
        }
        HASH->CR &= ~HASH_CR_MDMAT;
    }
    error = error ? error : chunk(in + first, length - first);
    if (FAULT(dma_nblw_late)) {
        HASH->STR = 8 * (length % 4);
    }
    if (FAULT(dma_calculated_again)) {
        HASH->STR = (8 * (length % 4)) | HASH_STR_DCAL; /* LINE: dma_calculated_again */
    }
    error |= read_digest(digest);
    if (FAULT(dma_more_left)) {
        HASH->CR |= HASH_CR_MDMAT; /* LINE: dma_more_left */
    }
    return error;
}

/* By the CPU. */
API int drv_cpu_sha256(const uint8_t *in, size_t length, uint8_t *digest)
{
    uint32_t cr = HASH_CR_ALGO_SHA256 | HASH_CR_DATATYPE_8BIT, word = 0, valid = length % 4;
    RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN;
    if (FAULT(dma_more_left)) {
        cr |= HASH->CR;
    }
    HASH->CR = cr | HASH_CR_INIT;
    HASH->STR = 8 * valid;
    for (; length >= 4; length -= 4, in += 4) {
        HASH->DIN = load_word(in);
    }
    if (valid != 0) {
        memcpy(&word, in, valid);
        HASH->DIN = word;
    }
    HASH->STR = (8 * valid) | HASH_STR_DCAL; /* LINE: calculate */
    return read_digest(digest);
}

/* ---- scenarios ---- */

static struct dma_aes a;
static uint8_t text[256] __attribute__((aligned(4))), out[256] __attribute__((aligned(4)));
static uint8_t again[256] __attribute__((aligned(4))), iv[16], key[16];

static void setup(void)
{
    fill(text, sizeof text, 1);
    fill(key, sizeof key, 2);
    fill(iv, sizeof iv, 3);
    drv_dma_setkey(&a, key, 128);
}

/* The same data from three places, and in two calls. */
int cipher(void)
{
    uint8_t from[16];
    setup();
    memcpy(from, iv, 16);
    EXPECT(drv_dma_cbc(&a, 128, from, text, out) == 0);
    memcpy(from, iv, 16);
    EXPECT(drv_dma_cbc(&a, 32, from, text, again) == 0 && drv_dma_cbc(&a, 96, from, text + 32, again + 32) == 0);
    EXPECT(SAME(out, again, 128));
    memcpy(from, iv, 16);
    memcpy(CORE_COUPLED, text, 128);
    EXPECT(drv_dma_cbc(&a, 128, from, CORE_COUPLED, again) == 0 && SAME(out, again, 128));
    memcpy(from, iv, 16);
    memmove(text + 1, text, 128);
    EXPECT(drv_dma_cbc(&a, 128, from, text + 1, again) == 0 && SAME(out, again, 128));
    return 0;
}

/* A length that is no multiple of 16 has to be refused. */
int odd_length(void)
{
    setup();
    EXPECT(drv_dma_cbc(&a, 24, iv, text, out) != 0);
    return 0;
}

/* The transfer fails; the caller must be told. */
int must_fail(void)
{
    setup();
    EXPECT(drv_dma_cbc(&a, 128, iv, text, out) != 0);
    return 0;
}

/* By DMA, then by the CPU, over several lengths. */
int hashes(void)
{
    static const uint8_t sizes[] = {64, 128, 67, 150, 20};
    setup();
    for (unsigned i = 0; i < sizeof sizes; i++) {
        EXPECT(drv_dma_sha256(text, sizes[i], out) == 0 && drv_cpu_sha256(text, sizes[i], again) == 0);
        EXPECT(SAME(out, again, 32));
    }
    EXPECT(drv_cpu_sha256((const uint8_t *)"abc", 3, again) == 0 && load_big(again) == 0xBA7816BFu);
    return 0;
}

int main(void)
{
    return SCENARIO();
}
