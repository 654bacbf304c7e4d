/* AES-GCM and AES-CCM on CRYP of F4, which has no NPBLB, one fault at a time; see faulty.h.
 *
 * The correct driver keeps IV and context-swap registers in the context between calls, pads with zeros, and
 * takes the manual's way for a short last block. IVs of 12 bytes only (GCM).
 */
#include "aead.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- engine ---- */

static void push(const uint8_t *in)
{
    CRYP->DIN = load_word(in); /* LINE: push */
    CRYP->DIN = load_word(in + 4);
    CRYP->DIN = load_word(in + 8);
    CRYP->DIN = load_word(in + 12);
}

static int pop(uint8_t *out)
{
    int error = wait_for(&CRYP->SR, CRYP_SR_OFNE, CRYP_SR_OFNE);
    store_word(out, CRYP->DOUT);
    store_word(out + 4, CRYP->DOUT);
    store_word(out + 8, CRYP->DOUT);
    store_word(out + 12, CRYP->DOUT);
    return error;
}

static int idle(void)
{
    int error = wait_for(&CRYP->SR, CRYP_SR_BUSY | CRYP_SR_IFEM, CRYP_SR_IFEM);
    CRYP->CR &= ~CRYP_CR_CRYPEN;
    return error;
}

static int setkey(struct aead *ctx, const uint8_t *key, unsigned bits)
{
    memset(ctx, 0, sizeof *ctx);
    if (bits != 128 && bits != 192 && bits != 256) {
        return FAILED;
    }
    RCC->AHB2ENR |= RCC_AHB2ENR_CRYPEN;
    ctx->bits = bits;
    ctx->size = CRYP_CR_KEYSIZE((uint32_t)(bits - 128) / 64);
    for (unsigned i = 0; i < bits / 32; i++) {
        ctx->key[8 - bits / 32 + i] = load_big(key + 4 * i);
    }
    return 0;
}

/* CR, key and IV; nothing is enabled yet. */
static void configure(struct aead *ctx)
{
    CRYP->CR = ctx->cr | CRYP_CR_FFLUSH;
    for (unsigned i = 8 - ctx->bits / 32; i < 8; i++) {
        (&CRYP->K0LR)[i] = ctx->key[i];
    }
    CRYP->IV0LR = ctx->iv[0];
    CRYP->IV0RR = ctx->iv[1];
    CRYP->IV1LR = ctx->iv[2];
    CRYP->IV1RR = ctx->iv[3];
}

/* One block in counter mode with the key and IV registers as they are; the GCM or CCM state stays in the engine. */
static int counter_block(struct aead *ctx, uint32_t counter, const uint8_t *in, uint8_t *out)
{
    uint32_t cr = (ctx->cr & ~(CRYP_CR_ALGOMODE | CRYP_CR_ALGODIR)) | CRYP_CR_ALGOMODE_AES_CTR;
    CRYP->IV1RR = counter;
    CRYP->CR = cr;
    CRYP->CR = cr | CRYP_CR_CRYPEN;
    push(in);
    return pop(out);
}

/* Blocks of additional data, `before` bytes of `prefix` first; the header phase must be under way. */
static int header(const uint8_t *prefix, size_t before, const uint8_t *aad, size_t length)
{
    size_t at = 0, total = before + length;
    while (at < total) {
        uint8_t block[BLOCK] = {0};
        size_t part = smaller(BLOCK, total - at), i = 0;
        if (FAULT(aad_rest_dropped) && part < BLOCK && at != 0) {
            break;
        }
        for (; i < part && at + i < before; i++) {
            block[i] = prefix[at + i];
        }
        size_t from = at + i - before, take = part - i;
        if (FAULT(aad_block_repeated) && at != 0) {
            from = 0;
        }
        if (FAULT(aad_whole_words)) {
            take = (take + 3) / 4 * 4;
        }
        memcpy(block + i, aad + from, take);
        push(block);
        if (wait_for(&CRYP->SR, CRYP_SR_IFEM, CRYP_SR_IFEM) != 0) {
            return FAILED;
        }
        at += BLOCK;
    }
    return idle();
}

/* ---- GCM ---- */

static int prepare_key(const struct aead *ctx)
{
    uint32_t cr = CRYP_CR_ALGOMODE_AES_KEY | CRYP_CR_ALGODIR | ctx->size;
    CRYP->CR = cr;
    CRYP->CR = cr | CRYP_CR_CRYPEN;
    return wait_for(&CRYP->SR, CRYP_SR_BUSY, 0);
}

static int begin(struct aead *ctx)
{
    configure(ctx);
    if (FAULT(gcm_key_prepared) && ctx->cr & CRYP_CR_ALGODIR) {
        if (prepare_key(ctx) != 0) {
            return FAILED;
        }
        CRYP->CR = ctx->cr;
    }
    if (FAULT(gcm_init_skipped) && ctx->started) {
        return 0;
    }
    ctx->started = 1;
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_INIT | CRYP_CR_CRYPEN; /* LINE: gcm_init */
    return wait_for(&CRYP->CR, CRYP_CR_CRYPEN, 0);
}

static int begin_gcm(struct aead *ctx, int direction, const uint8_t *iv, size_t iv_length, const uint8_t *aad,
                     size_t aad_length)
{
    if (iv_length != 12 && !FAULT(gcm_iv_cut)) {
        return FAILED;
    }
    ctx->cr = CRYP_CR_ALGOMODE_AES_GCM | (direction ? 0 : CRYP_CR_ALGODIR) | CRYP_CR_DATATYPE_8BIT | ctx->size;
    for (int i = 0; i < 3; i++) {
        ctx->iv[i] = load_big(iv + 4 * i);
    }
    ctx->iv[3] = FAULT(gcm_counter_one) ? 1 : 2;
    ctx->aad_bytes = FAULT(gcm_aad_in_words) ? 4 * aad_length : aad_length;
    ctx->text_bytes = ctx->tail_bytes = 0;
    if (begin(ctx) != 0) {
        return FAILED;
    }
    if (ctx->aad_bytes == 0 || (FAULT(gcm_header_skipped) && ctx->aad_bytes < BLOCK)) {
        return 0;
    }
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_HEADER | CRYP_CR_CRYPEN;
    return header(NULL, 0, aad, ctx->aad_bytes);
}

static int short_block(struct aead *ctx, const uint8_t *in, uint8_t *out, size_t length)
{
    uint8_t block[BLOCK] = {0}, whole[BLOCK];
    int decrypt = (ctx->cr & CRYP_CR_ALGODIR) != 0, error;
    if (FAULT(tail_not_zeroed)) {
        memcpy(block, ctx->scratch, BLOCK);
    }
    memcpy(block, in, FAULT(tail_read_whole) ? (length + 3) / 4 * 4 : length);
    if (decrypt || FAULT(gcm_tail_unmasked) || FAULT(npblb_written)) {
        uint32_t padding = FAULT(npblb_written) ? CRYP_CR_NPBLB((uint32_t)(BLOCK - length)) : 0;
        CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_PAYLOAD | padding;
        CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_PAYLOAD | padding | CRYP_CR_CRYPEN; /* LINE: npblb_written */
        push(block);
        error = pop(whole);
        error |= idle();
    } else { /* CSGCMCCM7R is one ahead of the next counter */
        error = counter_block(ctx, CRYP->CSGCMCCM[7] - 1, block, whole);
        error |= idle();
        memset(ctx->tail, 0, BLOCK);
        memcpy(ctx->tail, whole, FAULT(tail_fed_unmasked) ? BLOCK : length);
        ctx->tail_bytes = length;
    }
    memcpy(out, whole, FAULT(gcm_output_whole) ? BLOCK : length);
    return error;
}

static int text_gcm(struct aead *ctx, size_t length, const uint8_t *in, uint8_t *out)
{
    ctx->text_bytes += length;
    if (FAULT(gcm_short_skipped) && length < BLOCK) {
        memcpy(out, in, length);
        return 0;
    }
    if (length >= BLOCK) {
        CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_PAYLOAD | CRYP_CR_CRYPEN;
        for (; length >= BLOCK; length -= BLOCK, in += BLOCK, out += BLOCK) {
            push(in);
            memcpy(ctx->scratch, in, BLOCK);
            if (pop(out) != 0) {
                return FAILED;
            }
        }
        if (idle() != 0) {
            return FAILED;
        }
    }
    return length != 0 ? short_block(ctx, in, out, length) : 0;
}

static int end_gcm(struct aead *ctx, uint8_t tag[BLOCK])
{
    uint32_t unit = FAULT(gcm_lengths_in_bytes) ? 1 : 8;
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_FINAL | CRYP_CR_CRYPEN;
    if (ctx->tail_bytes != 0) {
        push(ctx->tail);
        if (pop(tag) != 0) { /* the hash so far; of no use */
            return FAILED;
        }
    }
    CRYP->DIN = 0;
    CRYP->DIN = __builtin_bswap32(unit * ctx->aad_bytes);
    CRYP->DIN = 0;
    CRYP->DIN = __builtin_bswap32(unit * ctx->text_bytes); /* LINE: gcm_lengths */
    int error = pop(tag);
    CRYP->CR = 0;
    return error;
}

/* IV and context-swap registers between two calls of a message. */
static void save(struct aead *ctx)
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

static void restore(struct aead *ctx)
{
    configure(ctx);
    for (int i = 0; i < 8 && !FAULT(gcm_state_left); i++) {
        CRYP->CSGCMCCM[i] = ctx->swap[i];
        CRYP->CSGCM[i] = ctx->swap[8 + i];
    }
}

static int differs(const uint8_t *a, const uint8_t *b, size_t length)
{
    uint8_t difference = 0;
    for (size_t i = 0; i < length; i++) {
        difference |= a[i] ^ b[i];
    }
    return difference;
}

API int drv_gcm_setkey(struct aead *ctx, const uint8_t *key, unsigned bits)
{
    return setkey(ctx, key, bits);
}

API int drv_gcm_crypt(struct aead *ctx, int direction, size_t length, const uint8_t *iv, size_t iv_length,
                      const uint8_t *aad, size_t aad_length, const uint8_t *in, uint8_t *out, uint8_t *tag,
                      size_t tag_length)
{ /* LINE: gcm_crypt */
    uint8_t whole[BLOCK];
    int error = begin_gcm(ctx, direction, iv, iv_length, aad, aad_length);
    error = error ? error : text_gcm(ctx, length, in, out);
    error = error ? error : end_gcm(ctx, whole);
    memcpy(tag, whole, tag_length);
    return error;
}

API int drv_gcm_open(struct aead *ctx, size_t length, const uint8_t *iv, size_t iv_length, const uint8_t *aad,
                     size_t aad_length, const uint8_t *tag, size_t tag_length, const uint8_t *in,
                     uint8_t *out)
{ /* LINE: gcm_open */
    uint8_t whole[BLOCK];
    int error = begin_gcm(ctx, 0, iv, iv_length, aad, aad_length);
    error = error ? error : text_gcm(ctx, length, in, out);
    error = error ? error : end_gcm(ctx, whole);
    if (error == 0 && !FAULT(tag_not_compared) && differs(tag, whole, tag_length)) {
        memset(out, 0, length);
        error = FAILED;
    }
    return error;
}

API int drv_gcm_start(struct aead *ctx, int direction, const uint8_t *iv, size_t iv_length, const uint8_t *aad,
                      size_t aad_length)
{
    int error = begin_gcm(ctx, direction, iv, iv_length, aad, aad_length);
    save(ctx);
    return error;
}

/* All parts but the last are whole blocks. */
API int drv_gcm_update(struct aead *ctx, size_t length, const uint8_t *in, uint8_t *out)
{
    size_t whole = length / BLOCK * BLOCK;
    restore(ctx);
    int error = text_gcm(ctx, whole, in, out);
    save(ctx);
    if (error == 0 && whole != length) {
        ctx->text_bytes += length - whole;
        error = short_block(ctx, in + whole, out + whole, length - whole);
        if (ctx->cr & CRYP_CR_ALGODIR) {
            save(ctx);
        }
    }
    return error;
}

API int drv_gcm_finish(struct aead *ctx, uint8_t *tag, size_t tag_length)
{
    uint8_t whole[BLOCK];
    restore(ctx);
    int error = end_gcm(ctx, whole);
    memcpy(tag, whole, tag_length);
    return error;
}

/* ---- CCM ---- */

/* B0 and counter block 0 of SP 800-38C. */
static void format(uint8_t b0[BLOCK], uint8_t counter[BLOCK], size_t length, const uint8_t *iv, size_t iv_length,
                   size_t aad_length, size_t tag_length)
{
    unsigned size = 15 - (unsigned)iv_length;
    int has_aad = aad_length != 0 && !FAULT(ccm_aad_flag_missing);
    memset(b0, 0, BLOCK);
    memset(counter, 0, BLOCK);
    b0[0] = (uint8_t)((has_aad ? 0x40 : 0) | (tag_length - 2) / 2 << 3 | (size - 1));
    counter[0] = (uint8_t)(size - 1);
    memcpy(b0 + 1, iv, iv_length);
    memcpy(counter + 1, iv, iv_length);
    if (FAULT(ccm_length_rounded)) {
        length = (length + BLOCK - 1) / BLOCK * BLOCK;
    }
    b0[15] = (uint8_t)length;
    b0[14] = (uint8_t)(length >> 8);
}

static int begin_ccm(struct aead *ctx, uint32_t direction, const uint8_t b0[BLOCK], const uint8_t counter[BLOCK])
{
    ctx->cr = CRYP_CR_ALGOMODE_AES_CCM | direction | CRYP_CR_DATATYPE_8BIT | ctx->size;
    for (int i = 0; i < 4; i++) {
        ctx->iv[i] = load_big(counter + 4 * i);
    }
    ctx->iv[3] |= 1;
    configure(ctx);
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_INIT | CRYP_CR_CRYPEN;
    push(b0); /* this version swaps it like data */
    return wait_for(&CRYP->CR, CRYP_CR_CRYPEN, 0);
}

static int header_ccm(struct aead *ctx, const uint8_t *aad, size_t length)
{
    uint8_t prefix[6] = {0xFF, 0xFE, (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8),
                         (uint8_t)length};
    if (length == 0) {
        return 0;
    }
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_HEADER | CRYP_CR_CRYPEN;
    if (length < 0xFF00 || FAULT(ccm_long_aad_prefix)) {
        return header(prefix + 4, 2, aad, length);
    }
    return header(prefix, 6, aad, length);
}

static int short_ccm(struct aead *ctx, const uint8_t *in, uint8_t *out, size_t length)
{
    uint8_t block[BLOCK] = {0};
    int decrypt = (ctx->cr & CRYP_CR_ALGODIR) != 0, error;
    memcpy(block, in, FAULT(ccm_tail_read_whole) ? BLOCK : length);
    if (!decrypt || FAULT(ccm_tail_unmasked)) {
        CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_PAYLOAD | CRYP_CR_CRYPEN;
        push(block);
        error = pop(block);
        memcpy(out, block, FAULT(ccm_output_whole) ? (length + 3) / 4 * 4 : length);
        return error | idle();
    }
    uint32_t before[4];
    for (int i = 0; i < 4; i++) {
        before[i] = CRYP->CSGCMCCM[i];
    }
    error = counter_block(ctx, CRYP->CSGCMCCM[7], block, block);
    memcpy(out, block, FAULT(ccm_output_whole) ? (length + 3) / 4 * 4 : length);
    memset(block + length, 0, BLOCK - length);
    for (int i = 0; i < 4; i++) { /* what counter mode may have done to the MAC */
        store_word(block + 4 * i, load_word(block + 4 * i) ^ __builtin_bswap32(before[i] ^ CRYP->CSGCMCCM[i]));
    }
    CRYP->CR = (ctx->cr & ~CRYP_CR_ALGODIR) | CRYP_CR_CRYPEN;
    CRYP->CR = (ctx->cr & ~CRYP_CR_ALGODIR) | CRYP_CR_CRYPEN | CRYP_CR_GCM_CCMPH_HEADER;
    push(block);
    return error | idle();
}

static int text_ccm(struct aead *ctx, size_t length, const uint8_t *in, uint8_t *out)
{
    if (length >= BLOCK) {
        CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_PAYLOAD | CRYP_CR_CRYPEN;
        for (; length >= BLOCK; length -= BLOCK, in += BLOCK, out += BLOCK) {
            push(in);
            if (pop(out) != 0) {
                return FAILED;
            }
        }
        if (idle() != 0) {
            return FAILED;
        }
    }
    return length != 0 ? short_ccm(ctx, in, out, length) : 0;
}

static int end_ccm(struct aead *ctx, const uint8_t counter[BLOCK], uint8_t tag[BLOCK])
{
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_FINAL;
    CRYP->CR = ctx->cr | CRYP_CR_GCM_CCMPH_FINAL | CRYP_CR_CRYPEN;
    CRYP->DIN = load_word(counter);
    CRYP->DIN = load_word(counter + 4);
    CRYP->DIN = load_word(counter + 8);
    CRYP->DIN = load_word(counter + 12); /* LINE: ccm_final */
    int error = pop(tag);
    CRYP->CR = 0;
    return error;
}

static int run_ccm(struct aead *ctx, uint32_t direction, size_t length, const uint8_t *iv, size_t iv_length,
                   const uint8_t *aad, size_t aad_length, const uint8_t *in, uint8_t *out, uint8_t whole[BLOCK],
                   size_t tag_length)
{
    uint8_t b0[BLOCK], counter[BLOCK];
    format(b0, counter, length, iv, iv_length, aad_length, tag_length);
    int error = begin_ccm(ctx, direction, b0, counter);
    error = error ? error : header_ccm(ctx, aad, aad_length);
    error = error ? error : text_ccm(ctx, length, in, out);
    return error ? error : end_ccm(ctx, counter, whole);
}

API int drv_ccm_setkey(struct aead *ctx, const uint8_t *key, unsigned bits)
{
    return setkey(ctx, key, bits);
}

API int drv_ccm_seal(struct aead *ctx, size_t length, const uint8_t *iv, size_t iv_length, const uint8_t *aad,
                     size_t aad_length, const uint8_t *in, uint8_t *out, uint8_t *tag,
                     size_t tag_length)
{ /* LINE: ccm_seal */
    uint8_t whole[BLOCK];
    int error = run_ccm(ctx, 0, length, iv, iv_length, aad, aad_length, in, out, whole, tag_length);
    memcpy(tag, whole, tag_length);
    return error;
}

API int drv_ccm_open(struct aead *ctx, size_t length, const uint8_t *iv, size_t iv_length, const uint8_t *aad,
                     size_t aad_length, const uint8_t *in, uint8_t *out, const uint8_t *tag,
                     size_t tag_length)
{ /* LINE: ccm_open */
    uint8_t whole[BLOCK];
    int error = run_ccm(ctx, CRYP_CR_ALGODIR, length, iv, iv_length, aad, aad_length, in, out, whole, tag_length);
    if (error == 0 && differs(tag, whole, tag_length)) {
        memset(out, 0, length);
        error = FAILED;
    }
    return error;
}

/* ---- scenarios ---- */

static struct aead a, b;
static uint8_t key[32], iv[16], aad[80], text[96], out[96], back[96], tag[16], other[16], guarded[64];

static void setup(void)
{
    fill(key, sizeof key, 1);
    fill(iv, sizeof iv, 2);
    fill(aad, sizeof aad, 3);
    fill(text, sizeof text, 4);
    fill(guarded, sizeof guarded, 5);
    drv_gcm_setkey(&a, key, 128);
    drv_gcm_setkey(&b, key + 8, 192);
}

static int seal_and_open(size_t length, size_t aad_length)
{
    memset(out, 0xA5, sizeof out);
    EXPECT(drv_gcm_crypt(&a, 1, length, iv, 12, aad, aad_length, text, out, tag, 16) == 0);
    EXPECT(length >= sizeof out || out[length] == 0xA5);
    memcpy(guarded, out, length < sizeof guarded ? length : sizeof guarded);
    EXPECT(length > 48 || drv_gcm_open(&a, length, iv, 12, aad, aad_length, tag, 16, guarded, back) == 0);
    EXPECT(length > 48 || SAME(back, text, length));
    return 0;
}

/* The case of AES-128 with an empty key, IV and block of zeros: tag ab6e47d4 2cec13bd f53a67b2 1257bddf
 * (the GCM specification's test case 2). */
int known_tag(void)
{
    static const uint8_t zero[16], wanted[4] = {0xAB, 0x6E, 0x47, 0xD4};
    drv_gcm_setkey(&a, zero, 128);
    EXPECT(drv_gcm_crypt(&a, 1, 16, zero, 12, NULL, 0, zero, out, tag, 16) == 0 && SAME(tag, wanted, 4));
    return 0;
}

/* Texts and additional data of all kinds of lengths, sealed and opened again. */
int lengths(void)
{
    static const uint8_t cases[][2] = {{0, 0}, {16, 0}, {32, 16}, {20, 33}, {5, 7}, {48, 13}, {13, 20}};
    int failed = known_tag();
    setup();
    for (unsigned i = 0; i < sizeof cases / 2 && failed == 0; i++) {
        failed = seal_and_open(cases[i][0], cases[i][1]);
    }
    return failed;
}

/* The tag must not depend on what lies behind the input. */
int behind_the_input(void)
{
    setup();
    for (unsigned n = 17; n < 20; n++) {
        EXPECT(drv_gcm_crypt(&a, 1, n, iv, 12, aad, 0, text, guarded, tag, 16) == 0);
        memset(guarded + n, 0xFF, 8);
        EXPECT(drv_gcm_open(&a, n, iv, 12, aad, 0, tag, 16, guarded, back) == 0 && SAME(back, text, n));
    }
    return 0;
}

/* An IV of 16 bytes has to be refused by this driver. */
int long_iv(void)
{
    setup();
    EXPECT(drv_gcm_crypt(&a, 1, 16, iv, 16, aad, 0, text, out, tag, 16) != 0);
    return 0;
}

/* Two messages in turn, in parts, against one call each. */
int interleave_gcm(void)
{
    setup();
    EXPECT(drv_gcm_crypt(&a, 1, 45, iv, 12, aad, 20, text, out, tag, 16) == 0);
    EXPECT(drv_gcm_start(&a, 1, iv, 12, aad, 20) == 0);
    EXPECT(drv_gcm_start(&b, 1, iv, 12, aad, 7) == 0);
    EXPECT(drv_gcm_update(&a, 32, text, back) == 0);
    EXPECT(drv_gcm_update(&b, 16, text, guarded) == 0);
    EXPECT(drv_gcm_update(&a, 13, text + 32, back + 32) == 0);
    EXPECT(drv_gcm_finish(&a, other, 16) == 0);
    EXPECT(SAME(back, out, 45) && SAME(other, tag, 16));
    EXPECT(drv_gcm_finish(&b, other, 16) == 0);
    return 0;
}

/* A wrong tag has to be refused, and no plaintext given. */
int wrong_tag(void)
{
    setup();
    EXPECT(drv_gcm_crypt(&a, 1, 32, iv, 12, aad, 20, text, out, tag, 16) == 0);
    tag[5] ^= 1;
    EXPECT(drv_gcm_open(&a, 32, iv, 12, aad, 20, tag, 16, out, back) != 0 && !SAME(back, text, 32));
    return 0;
}

/* SP 800-38C, example 1. */
static int known_ccm(void)
{
    static const uint8_t ccm_key[16] = {0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47,
                                        0x48, 0x49, 0x4A, 0x4B, 0x4C, 0x4D, 0x4E, 0x4F};
    static const uint8_t nonce[7] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16};
    static const uint8_t data[8] = {0, 1, 2, 3, 4, 5, 6, 7}, plain[4] = {0x20, 0x21, 0x22, 0x23};
    static const uint8_t wanted[8] = {0x71, 0x62, 0x01, 0x5B, 0x4D, 0xAC, 0x25, 0x5D};
    drv_ccm_setkey(&a, ccm_key, 128);
    EXPECT(drv_ccm_seal(&a, 4, nonce, 7, data, 8, plain, out, out + 4, 4) == 0 && SAME(out, wanted, 8));
    return 0;
}

int lengths_ccm(void)
{
    static const uint8_t cases[][2] = {{0, 8}, {16, 0}, {32, 16}, {23, 8}, {9, 33}};
    int failed = known_ccm();
    setup();
    drv_ccm_setkey(&a, key, 256);
    for (unsigned i = 0; i < sizeof cases / 2 && failed == 0; i++) {
        size_t length = cases[i][0], aad_length = cases[i][1];
        memset(out, 0xA5, sizeof out);
        EXPECT(drv_ccm_seal(&a, length, iv, 13, aad, aad_length, text, out, tag, 8) == 0 && out[length] == 0xA5);
        memset(back, 0xA5, sizeof back);
        EXPECT(drv_ccm_open(&a, length, iv, 13, aad, aad_length, out, back, tag, 8) == 0);
        EXPECT(SAME(back, text, length) && back[length] == 0xA5);
    }
    return failed;
}

/* Additional data of 65280 bytes: the length takes six bytes. */
int long_aad(void)
{
    const uint8_t *flash = (const uint8_t *)0x08000000u;
    setup();
    drv_ccm_setkey(&a, key, 128);
    EXPECT(drv_ccm_seal(&a, 16, iv, 13, flash, 0xFF00, text, out, tag, 8) == 0);
    EXPECT(drv_ccm_open(&a, 16, iv, 13, flash, 0xFF00, out, back, tag, 8) == 0);
    return 0;
}

int main(void)
{
    return SCENARIO();
}
