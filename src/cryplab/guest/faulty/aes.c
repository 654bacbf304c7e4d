/* AES-ECB, CBC, CTR and DES-ECB on CRYP, one fault at a time; see faulty.h.
 *
 * The correct driver loads key, mode and IV at each call, flushes the FIFOs, and takes the next IV from the
 * data before they can be overwritten.
 */
#include "aes.h"

static const struct aes *last_user;

/* ---- contexts ---- */

API void drv_aes_init(struct aes *ctx)
{
    memset(ctx, 0, sizeof *ctx);
    if (!FAULT(cryp_clock_off)) {
        RCC->AHB2ENR |= RCC_AHB2ENR_CRYPEN;
    }
}

API void drv_aes_free(struct aes *ctx)
{
    memset(ctx, 0, sizeof *ctx);
    if (FAULT(free_resets_cryp)) {
        RCC->AHB2RSTR |= RCC_AHB2RSTR_CRYPRST; /* LINE: free_resets_cryp */
        RCC->AHB2RSTR &= ~RCC_AHB2RSTR_CRYPRST;
    }
    if (FAULT(free_gates_cryp)) {
        RCC->AHB2ENR &= ~RCC_AHB2ENR_CRYPEN; /* LINE: free_gates_cryp */
    }
}

/* Bring the block into its reset state. */
API void drv_aes_reset(void)
{
    RCC->AHB2RSTR |= RCC_AHB2RSTR_CRYPRST;
    if (!FAULT(reset_not_released)) {
        RCC->AHB2RSTR &= ~RCC_AHB2RSTR_CRYPRST;
    }
}

static uint32_t size_field(unsigned bits)
{
    uint32_t code = (bits - 128) / 64;
    if (FAULT(key_size_code)) {
        code = bits == 256 ? 3 : code;
    }
    return FAULT(key_size_unshifted) ? code : CRYP_CR_KEYSIZE(code);
}

API int drv_aes_setkey(struct aes *ctx, const uint8_t *key, unsigned bits)
{
    unsigned words = bits / 32, first = FAULT(key_left_aligned) ? 0 : 8 - words;
    if (bits != 128 && bits != 192 && bits != 256) {
        return FAILED;
    }
    memset(ctx, 0, sizeof *ctx);
    ctx->size = size_field(bits);
    if (FAULT(key_size_cleared)) {
        memset(ctx, 0, sizeof *ctx);
    }
    ctx->bits = bits;
    ctx->key_pointer = key;
    for (unsigned i = 0; i < words; i++) {
        ctx->key[first + i] = FAULT(key_words_reversed) ? load_word(key + 4 * i) : load_big(key + 4 * i);
    }
    return 0;
}

API int drv_des_setkey(struct aes *ctx, const uint8_t key[8])
{
    memset(ctx, 0, sizeof *ctx);
    ctx->bits = 64;
    ctx->key[2] = load_big(key);
    ctx->key[3] = load_big(key + 4);
    return 0;
}

/* ---- one job: begin, blocks, end ---- */

static void load_key(const struct aes *ctx)
{
    REG *k = &CRYP->K0LR;
    unsigned count = ctx->bits / 32, first = ctx->bits == 64 ? 2 : 8 - count;
    if (FAULT(key_left_aligned)) {
        first = 0;
    }
    for (unsigned i = first; i < first + count; i++) {
        uint32_t word = FAULT(key_pointer_kept) ? load_big(ctx->key_pointer + 4 * (i - first)) : ctx->key[i];
        k[i] = word; /* LINE: load_key */
    }
}

static void load_iv(const uint8_t iv[16])
{
    if (FAULT(iv_words_reversed)) {
        CRYP->IV0LR = load_word(iv); /* LINE: iv_words_reversed */
        CRYP->IV0RR = load_word(iv + 4);
        CRYP->IV1LR = load_word(iv + 8);
        CRYP->IV1RR = load_word(iv + 12);
        return;
    }
    CRYP->IV0LR = load_big(iv); /* LINE: load_iv */
    CRYP->IV0RR = load_big(iv + 4);
    CRYP->IV1LR = load_big(iv + 8);
    CRYP->IV1RR = load_big(iv + 12);
}

/* The engine turns the key in its registers into the decryption key. */
static int prepare_key(const struct aes *ctx)
{
    uint32_t cr = CRYP_CR_ALGOMODE_AES_KEY | CRYP_CR_ALGODIR | ctx->size;
    CRYP->CR = cr;
    CRYP->CR = cr | CRYP_CR_CRYPEN;
    return FAULT(preparation_not_awaited) ? 0 : wait_for(&CRYP->SR, CRYP_SR_BUSY, 0);
}

static uint32_t mode_number(uint32_t mode)
{
    if (FAULT(mode_masked_away)) {
        return mode & ~CRYP_CR_ALGOMODE;
    }
    if (FAULT(des_mode_number) && (mode & CRYP_CR_ALGOMODE) == CRYP_CR_ALGOMODE_AES_ECB) {
        return (mode & CRYP_CR_ALGODIR) | CRYP_CR_ALGOMODE_DES_ECB;
    }
    return mode;
}

static int needs_preparation(uint32_t mode)
{
    uint32_t algorithm = mode & CRYP_CR_ALGOMODE;
    if (algorithm != CRYP_CR_ALGOMODE_AES_ECB && algorithm != CRYP_CR_ALGOMODE_AES_CBC) {
        return FAULT(ctr_key_prepared) && algorithm == CRYP_CR_ALGOMODE_AES_CTR;
    }
    if (FAULT(encrypt_key_prepared)) {
        return 1;
    }
    if ((FAULT(cbc_key_not_prepared) && algorithm == CRYP_CR_ALGOMODE_AES_CBC) ||
        (FAULT(ecb_key_not_prepared) && algorithm == CRYP_CR_ALGOMODE_AES_ECB)) {
        return 0;
    }
    return (mode & CRYP_CR_ALGODIR) != 0;
}

static int begin(struct aes *ctx, uint32_t mode, const uint8_t *iv)
{
    uint32_t cr = mode_number(mode) | CRYP_CR_DATATYPE_8BIT | ctx->size;
    int again = ctx->loaded, mine = CASE(free_resets_cryp) && last_user == ctx; /* its key is still there */
    ctx->loaded = 1;
    last_user = ctx;
    if (FAULT(mode_kept) && again) {
        load_key(ctx);
        CRYP->CR |= CRYP_CR_CRYPEN; /* LINE: mode_kept */
        return 0;
    }
    CRYP->CR = cr | CRYP_CR_FFLUSH; /* LINE: configure */
    if (!mine && !(FAULT(key_kept) && again)) {
        load_key(ctx);
    }
    if (needs_preparation(mode)) {
        if (prepare_key(ctx) != 0) {
            return FAILED;
        }
        CRYP->CR = cr; /* LINE: after_preparation */
    }
    if (iv != NULL && !(FAULT(iv_kept) && again)) {
        load_iv(iv);
    }
    CRYP->CR = cr | CRYP_CR_CRYPEN; /* LINE: enable */
    return 0;
}

static void end(struct aes *ctx)
{
    CRYP->CR &= ~CRYP_CR_CRYPEN;
    if (FAULT(key_wiped)) {
        memset(ctx->key, 0, sizeof ctx->key);
    }
}

INLINE void push(const uint8_t *in)
{
    if (FAULT(input_reversed)) { /* the byte order is turned in the caller's buffer */
        for (unsigned i = 0; i < BLOCK; i += 4) {
            store_word((uint8_t *)in + i, load_big(in + i));
        }
        CRYP->DIN = load_big(in);
        CRYP->DIN = load_big(in + 4);
        CRYP->DIN = load_big(in + 8);
        CRYP->DIN = load_big(in + 12);
        return;
    }
    CRYP->DIN = load_word(in); /* LINE: push */
    CRYP->DIN = load_word(in + 4);
    CRYP->DIN = load_word(in + 8);
    CRYP->DIN = load_word(in + 12); /* LINE: push_last */
}

INLINE void pop(uint8_t *out)
{
    store_word(out, CRYP->DOUT); /* LINE: pop */
    store_word(out + 4, CRYP->DOUT);
    store_word(out + 8, CRYP->DOUT);
    store_word(out + 12, CRYP->DOUT); /* LINE: pop_last */
}

static int result(void)
{
    if (FAULT(result_not_awaited)) {
        return 0;
    }
    if (FAULT(poll_limit)) { /* counted in loops, and too few of them for a slow block */
        for (int polls = 0; polls < 12; polls++) {
            if (CRYP->SR & CRYP_SR_OFNE) {
                return 0;
            }
        }
        return FAILED;
    }
    return wait_for(&CRYP->SR, CRYP_SR_OFNE, CRYP_SR_OFNE);
}

static int blocks(const uint8_t *in, uint8_t *out, size_t length)
{
    for (; length >= BLOCK; length -= BLOCK, in += BLOCK, out += BLOCK) {
        push(in);
        if (result() != 0) {
            return FAILED;
        }
        pop(out);
    }
    return 0;
}

/* Two blocks under way: as many as fit the IN FIFO. */
static int blocks_ahead(const uint8_t *in, uint8_t *out, size_t length)
{
    size_t ahead = (FAULT(fifo_depth) ? 6 : 2) * BLOCK;
    for (; length != 0; length -= ahead, in += ahead, out += ahead) {
        ahead = length < ahead ? length : ahead;
        for (size_t i = 0; i < ahead; i += BLOCK) {
            push(in + i);
        }
        for (size_t i = 0; i < ahead; i += BLOCK) {
            if (result() != 0) {
                return FAILED;
            }
            pop(out + i);
        }
    }
    return 0;
}

/* ---- the API ---- */

static uint32_t algodir(int direction)
{
    return direction == ENCRYPT ? 0 : CRYP_CR_ALGODIR;
}

/* Words that make no whole block stay in the FIFO, and no result will come of them. */
static void push_rest(const uint8_t *in, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4) {
        CRYP->DIN = load_word(in + i);
    }
    while (!(CRYP->SR & CRYP_SR_OFNE)) { /* LINE: rest_awaited */
    }
}

API int drv_aes_ecb(struct aes *ctx, int direction, size_t length, const uint8_t *in, uint8_t *out)
{ /* LINE: ecb */
    if (length % BLOCK != 0 && !FAULT(rest_awaited)) {
        return FAILED;
    }
    int error = begin(ctx, CRYP_CR_ALGOMODE_AES_ECB | algodir(direction), NULL);
    if (error == 0) {
        error = CASE(fifo_depth) ? blocks_ahead(in, out, length) : blocks(in, out, length);
    }
    if (error == 0 && FAULT(rest_awaited) && length % BLOCK != 0) {
        push_rest(in + length / BLOCK * BLOCK, length % BLOCK);
    }
    end(ctx);
    return error;
}

/* The chaining value for the next call, when decrypting: the last block of the input. */
static void next_iv(uint8_t iv[16], int direction, size_t length, const uint8_t *kept, const uint8_t *in,
                    const uint8_t *out)
{
    if (FAULT(cbc_iv_forgotten) || (FAULT(cbc_decrypt_iv_forgotten) && direction == DECRYPT)) {
        return;
    }
    if (FAULT(cbc_iv_read_back)) { /* register words stored as they are */
        store_word(iv, CRYP->IV0LR);
        store_word(iv + 4, CRYP->IV0RR);
        store_word(iv + 8, CRYP->IV1LR);
        store_word(iv + 12, CRYP->IV1RR);
        return;
    }
    if (FAULT(cbc_first_block_kept) && direction == ENCRYPT) {
        memcpy(iv, out, BLOCK);
        return;
    }
    if (FAULT(cbc_iv_overwritten) && direction == DECRYPT) {
        memcpy(iv, in + length - BLOCK, BLOCK);
        return;
    }
    memcpy(iv, direction == ENCRYPT ? out + length - BLOCK : kept, BLOCK);
}

API int drv_aes_cbc(struct aes *ctx, int direction, size_t length, uint8_t iv[16], const uint8_t *in, uint8_t *out)
{ /* LINE: cbc */
    uint8_t kept[BLOCK];
    if (length == 0 && !FAULT(cbc_zero_length)) {
        return 0;
    }
    if (FAULT(cbc_length_rounded)) {
        length = (length + BLOCK - 1) / BLOCK * BLOCK;
    }
    if (length % BLOCK != 0) {
        return FAILED;
    }
    memcpy(kept, in + length - BLOCK, BLOCK); /* now: the output may overwrite it */
    int error = begin(ctx, CRYP_CR_ALGOMODE_AES_CBC | algodir(direction), iv);
    if (error == 0) {
        error = blocks(in, out, length);
    }
    end(ctx);
    if (error == 0) {
        next_iv(iv, direction, length, kept, in, out);
    }
    return error;
}

/* Add to a 128-bit big-endian counter. */
static void advance(uint8_t counter[16], uint32_t blocks)
{
    uint32_t carry = blocks;
    for (int i = 12; i >= 0 && carry != 0; i -= 4) {
        uint32_t word = load_big(counter + i) + carry;
        carry = word < carry;
        store_big(counter + i, word);
    }
}

/* The engine counts in 32 bits: how many blocks may go through it before that wraps. */
static size_t before_wrap(const uint8_t counter[16], size_t blocks)
{
    uint32_t left = -load_big(counter + 12); /* 0: 2^32 of them */
    if (FAULT(ctr_wrap_ignored)) {
        return blocks;
    }
    if (FAULT(ctr_split_late) && left != 0) {
        left++;
    }
    return left != 0 && left < blocks ? left : blocks;
}

static int counter_blocks(struct aes *ctx, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t count)
{
    while (count != 0) {
        size_t part = before_wrap(counter, count);
        int error = begin(ctx, CRYP_CR_ALGOMODE_AES_CTR, counter);
        if (FAULT(ctr_iv_while_busy) && part > 1) { /* the next block's counter while this one is worked on */
            push(in);
            CRYP->IV1RR = load_big(counter + 12) + 1; /* LINE: ctr_iv_while_busy */
            error = result();
            pop(out);
            error |= blocks(in + BLOCK, out + BLOCK, (part - 1) * BLOCK);
        } else if (error == 0) {
            error = blocks(in, out, part * BLOCK);
        }
        end(ctx);
        if (error) {
            return error;
        }
        advance(counter, (uint32_t)part);
        in += part * BLOCK;
        out += part * BLOCK;
        count -= part;
    }
    return 0;
}

API int drv_aes_ctr(struct aes *ctx, size_t length, size_t *offset, uint8_t counter[16], uint8_t stream[16],
                    const uint8_t *in, uint8_t *out)
{ /* LINE: ctr */
    size_t at = *offset;
    for (; at != 0 && length != 0; length--, at = (at + 1) % BLOCK) {
        *out++ = *in++ ^ stream[at];
    }
    size_t whole = length / BLOCK * BLOCK, rest = length % BLOCK;
    int error = counter_blocks(ctx, counter, in, out, whole / BLOCK);
    if (FAULT(ctr_output_kept) && whole != 0) {
        memcpy(counter, out + whole - BLOCK, BLOCK);
    }
    if (error == 0 && rest != 0) {
        uint8_t used[BLOCK];
        memcpy(used, counter, BLOCK);
        memset(stream, 0, BLOCK);
        error = counter_blocks(ctx, counter, stream, stream, 1);
        if (FAULT(ctr_stream_reused)) { /* the next block will have the counter of this one */
            memcpy(counter, used, BLOCK);
        }
        for (size_t i = 0; i < (FAULT(ctr_whole_block_stored) ? BLOCK : rest); i++) {
            out[whole + i] = in[whole + i] ^ stream[i];
        }
        at = rest;
    }
    *offset = at;
    return error;
}

API int drv_des_ecb(struct aes *ctx, int direction, const uint8_t in[8], uint8_t out[8])
{ /* LINE: des */
    const uint8_t *from = FAULT(in_out_swapped) ? out : in;
    uint8_t *to = FAULT(in_out_swapped) ? (uint8_t *)in : out;
    int error = begin(ctx, CRYP_CR_ALGOMODE_DES_ECB | algodir(direction), NULL);
    CRYP->DIN = load_word(from);
    CRYP->DIN = load_word(from + 4);
    error = error ? error : result();
    store_word(to, CRYP->DOUT);
    store_word(to + 4, CRYP->DOUT);
    end(ctx);
    return error;
}

/* ---- scenarios ---- */

static const uint8_t counting[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
static const uint8_t pattern[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                    0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF};
/* FIPS 197, C.1 to C.3: key `counting`, plaintext `pattern` */
static const uint8_t fips197[3][16] = {
    {0x69, 0xC4, 0xE0, 0xD8, 0x6A, 0x7B, 0x04, 0x30, 0xD8, 0xCD, 0xB7, 0x80, 0x70, 0xB4, 0xC5, 0x5A},
    {0xDD, 0xA9, 0x7C, 0xA4, 0x86, 0x4C, 0xDF, 0xE0, 0x6E, 0xAF, 0x70, 0xA0, 0xEC, 0x0D, 0x71, 0x91},
    {0x8E, 0xA2, 0xB7, 0xCA, 0x51, 0x67, 0x45, 0xBF, 0xEA, 0xFC, 0x49, 0x90, 0x4B, 0x49, 0x60, 0x89},
};

static struct aes a, b;
static uint8_t text[160], copy[160], out[160], iv[16], other_iv[16], key_a[32], key_b[32];

static void setup(void)
{
    fill(text, sizeof text, 1);
    memcpy(copy, text, sizeof text);
    fill(key_a, sizeof key_a, 2);
    fill(key_b, sizeof key_b, 3);
    fill(iv, sizeof iv, 4);
    fill(other_iv, sizeof other_iv, 5);
    drv_aes_init(&a);
    drv_aes_init(&b);
    drv_aes_setkey(&a, key_a, 128);
    drv_aes_setkey(&b, key_b, 256);
}

/* Known answers, both directions, all key sizes. */
int known_answers(void)
{
    for (unsigned i = 0; i < 3; i++) {
        drv_aes_init(&a);
        EXPECT(drv_aes_setkey(&a, counting, 128 + 64 * i) == 0);
        EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, pattern, out) == 0 && SAME(out, fips197[i], 16));
        EXPECT(drv_aes_ecb(&a, DECRYPT, 16, out, copy) == 0 && SAME(copy, pattern, 16));
        EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, pattern, out) == 0 && SAME(out, fips197[i], 16));
    }
    drv_aes_free(&a);
    return 0;
}

/* From reset, the block brought into its reset state first. */
int known_after_reset(void)
{
    drv_aes_init(&a);
    drv_aes_reset();
    return known_answers();
}

/* Two contexts in turn: the first result must come again. */
int interleave(void)
{
    setup();
    EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, text, out) == 0);
    EXPECT(drv_aes_ecb(&b, ENCRYPT, 16, text, out + 16) == 0);
    EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, text, out + 32) == 0);
    EXPECT(drv_aes_ecb(&b, ENCRYPT, 16, text, out + 48) == 0);
    EXPECT(SAME(out, out + 32, 16) && SAME(out + 16, out + 48, 16) && !SAME(out, out + 16, 16));
    return 0;
}

/* Two CBC messages in turn, each in two calls, against one call. */
int interleave_cbc(void)
{
    setup();
    uint8_t again[16];
    memcpy(again, iv, 16);
    EXPECT(drv_aes_cbc(&a, ENCRYPT, 64, again, text, out) == 0);
    drv_aes_setkey(&a, key_a, 128);
    EXPECT(drv_aes_cbc(&a, ENCRYPT, 32, iv, text, copy) == 0);
    EXPECT(drv_aes_cbc(&b, ENCRYPT, 32, other_iv, text, out + 64) == 0);
    EXPECT(drv_aes_cbc(&a, ENCRYPT, 32, iv, text + 32, copy + 32) == 0);
    EXPECT(SAME(copy, out, 64));
    return 0;
}

/* One context is freed while the other has work to do. */
int free_one(void)
{
    setup();
    EXPECT(drv_aes_ecb(&b, ENCRYPT, 16, text, out + 16) == 0);
    EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, text, out) == 0);
    drv_aes_free(&b);
    EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, text, out + 32) == 0 && SAME(out, out + 32, 16));
    return 0;
}

/* The caller's key buffer is used for something else after setkey. */
int key_buffer_reused(void)
{
    setup();
    EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, text, out) == 0);
    fill(key_a, sizeof key_a, 9);
    EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, text, out + 16) == 0 && SAME(out, out + 16, 16));
    return 0;
}

/* One key, several requests. */
int three_requests(void)
{
    setup();
    for (unsigned i = 0; i < 3; i++) {
        EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, text, out + 16 * i) == 0 && SAME(out, out + 16 * i, 16));
    }
    return 0;
}

/* A length that is no multiple of 16 has to be refused, or be dealt with inside the buffers. */
int odd_lengths(void)
{
    setup();
    memset(out, 0xA5, sizeof out);
    EXPECT(drv_aes_cbc(&a, ENCRYPT, 20, iv, text, out) != 0 && out[20] == 0xA5 && out[31] == 0xA5);
    return 0;
}

int odd_length_ecb(void)
{
    setup();
    EXPECT(drv_aes_ecb(&a, ENCRYPT, 28, text, out) != 0);
    return 0;
}

/* CBC in calls of two blocks against one call, encrypting, then decrypting, then in place. */
int cbc_in_parts(void)
{
    uint8_t first[16], second[16];
    setup();
    memcpy(first, iv, 16);
    memcpy(second, iv, 16);
    EXPECT(drv_aes_cbc(&a, ENCRYPT, 96, first, text, out) == 0);
    EXPECT(drv_aes_cbc(&a, ENCRYPT, 32, second, text, copy) == 0);
    EXPECT(drv_aes_cbc(&a, ENCRYPT, 0, second, text + 32, copy + 128) == 0);
    EXPECT(drv_aes_cbc(&a, ENCRYPT, 64, second, text + 32, copy + 32) == 0);
    EXPECT(SAME(copy, out, 96) && SAME(first, second, 16));
    memcpy(first, iv, 16);
    EXPECT(drv_aes_cbc(&a, DECRYPT, 32, first, out, copy) == 0);
    EXPECT(drv_aes_cbc(&a, DECRYPT, 64, first, out + 32, copy + 32) == 0 && SAME(copy, text, 96));
    memcpy(first, iv, 16);
    EXPECT(drv_aes_cbc(&a, DECRYPT, 32, first, out, out) == 0);
    EXPECT(drv_aes_cbc(&a, DECRYPT, 64, first, out + 32, out + 32) == 0 && SAME(out, text, 96));
    return 0;
}

/* CTR in parts of odd lengths against one call; buffers guarded. */
int ctr_in_parts(void)
{
    static const uint8_t parts[] = {5, 11, 16, 32, 7, 2, 24, 3};
    uint8_t counter[16], stream[16];
    size_t offset = 0, at = 0;
    setup();
    memcpy(counter, iv, 16);
    memset(out, 0xA5, sizeof out);
    EXPECT(drv_aes_ctr(&a, 100, &offset, counter, stream, text, out) == 0 && out[100] == 0xA5);
    memcpy(counter, iv, 16);
    offset = 0;
    for (unsigned i = 0; i < sizeof parts; i++) {
        EXPECT(drv_aes_ctr(&a, parts[i], &offset, counter, stream, text + at, copy + at) == 0);
        at += parts[i];
    }
    EXPECT(SAME(copy, out, at) && at == 100);
    return 0;
}

/* The low word of the counter wraps inside a call; block by block it must be the same. */
int ctr_wraps(void)
{
    uint8_t counter[16], stream[16];
    size_t offset = 0;
    setup();
    store_big(iv + 12, 0xFFFFFFFEu);
    memcpy(counter, iv, 16);
    EXPECT(drv_aes_ctr(&a, 64, &offset, counter, stream, text, out) == 0);
    for (unsigned i = 0; i < 4; i++) {
        EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, iv, stream) == 0);
        for (unsigned j = 0; j < 16; j++) {
            EXPECT(out[16 * i + j] == (text[16 * i + j] ^ stream[j]));
        }
        advance(iv, 1);
    }
    return 0;
}

/* Many blocks at once, against one at a time. */
int long_ecb(void)
{
    setup();
    EXPECT(drv_aes_ecb(&a, ENCRYPT, 160, text, out) == 0);
    for (unsigned i = 0; i < 160; i += 16) {
        EXPECT(drv_aes_ecb(&a, ENCRYPT, 16, text + i, copy) == 0 && SAME(copy, out + i, 16));
    }
    return 0;
}

/* The input must be as it was. */
int constant_input(void)
{
    setup();
    EXPECT(drv_aes_ecb(&a, ENCRYPT, 32, text, out) == 0 && SAME(text, copy, sizeof text));
    EXPECT(drv_aes_ecb(&a, DECRYPT, 32, out, copy) == 0 && SAME(text, copy, 32));
    return 0;
}

/* DES key 133457799BBCDFF1, as in the textbooks. */
int des(void)
{
    static const uint8_t key[8] = {0x13, 0x34, 0x57, 0x79, 0x9B, 0xBC, 0xDF, 0xF1};
    static const uint8_t wanted[8] = {0x85, 0xE8, 0x13, 0x54, 0x0F, 0x0A, 0xB4, 0x05};
    static uint8_t plain[8] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF};
    setup();
    memset(out, 0xA5, 16);
    drv_des_setkey(&a, key);
    EXPECT(drv_des_ecb(&a, ENCRYPT, plain, out) == 0 && SAME(out, wanted, 8));
    EXPECT(drv_des_ecb(&a, DECRYPT, wanted, out) == 0 && SAME(out, plain, 8));
    return 0;
}

int main(void)
{
    return SCENARIO();
}
