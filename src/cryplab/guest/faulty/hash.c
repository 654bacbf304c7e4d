/* MD5, SHA-1, SHA-224, SHA-256 and HMAC-SHA-256 on HASH, one fault at a time; see faulty.h.
 *
 * The correct driver keeps what makes no whole block in memory, saves the context-swap registers after each
 * use, and restores them unless the engine still holds the state that was saved last.
 */
#include "hash.h"

#define FOR_EVER_WHILE(condition) \
    while (condition) {           \
    }

static uint32_t engine_stamp, last_stamp; /* 0: nobody's state is in the engine */

/* ---- engine ---- */

static void push_words(const uint8_t *in, size_t bytes)
{
    for (; bytes >= 16 && FAULT(hash_unaligned); bytes -= 16, in += 16) { /* a load of four words, at any address */
        uint32_t a, b, c, d;
        __asm volatile("ldmia %4, {r4-r7}\n mov %0, r4\n mov %1, r5\n mov %2, r6\n mov %3, r7" /* LINE: hash_unaligned */
                       : "=&r"(a), "=&r"(b), "=&r"(c), "=&r"(d) : "r"(in) : "r4", "r5", "r6", "r7", "memory");
        HASH->DIN = a;
        HASH->DIN = b;
        HASH->DIN = c;
        HASH->DIN = d;
    }
    for (; bytes >= 4; bytes -= 4, in += 4) {
        HASH->DIN = load_word(in); /* LINE: push */
    }
}

static int idle(void)
{
    if (FAULT(hash_fifo_depth)) { /* no block is under way, so it will not come */
        FOR_EVER_WHILE(!(HASH->SR & HASH_SR_DINIS)) /* LINE: hash_fifo_depth */
    }
    return wait_for(&HASH->SR, HASH_SR_BUSY | HASH_SR_DINIS, HASH_SR_DINIS);
}

static uint32_t control(const struct hash *ctx)
{
    uint32_t datatype = FAULT(hash_words_not_swapped) ? 0 : HASH_CR_DATATYPE_8BIT;
    uint32_t cr = ctx->algorithm | datatype;
    if (FAULT(hash_algorithm_ored)) {
        cr |= HASH->CR & HASH_CR_ALGO_SHA256;
    }
    if (FAULT(hash_mode_left)) {
        cr |= HASH->CR & HASH_CR_MODE;
    }
    return cr;
}

static uint32_t *place(struct hash *ctx)
{
    static uint32_t for_all[HASH_SWAP];
    return FAULT(hash_one_save_area) ? for_all : ctx->saved;
}

static unsigned swap_words(const struct hash *ctx)
{
    return ctx->algorithm & HASH_CR_MODE && !FAULT(hmac_save_short) ? HASH_SWAP : 38;
}

/* Make the engine go on with this message. */
static void resume(struct hash *ctx)
{
    uint32_t cr = control(ctx);
    if (!ctx->fed && !(ctx->algorithm & HASH_CR_MODE)) {
        static int begun;
        if (!(FAULT(hash_not_initialised) && begun)) {
            HASH->CR = cr | HASH_CR_INIT; /* LINE: init */
        }
        begun = 1;
    } else if (ctx->stamp != engine_stamp && !FAULT(hash_state_left)) {
        HASH->STR = 0;
        HASH->CR = cr;
        HASH->CR = cr | HASH_CR_INIT;
        for (unsigned i = 0; i < swap_words(ctx); i++) {
            HASH->CSR[i] = place(ctx)[i]; /* LINE: restore */
        }
    }
    engine_stamp = 0;
}

/* Keep the state in memory; allowed between blocks only. */
static int save(struct hash *ctx)
{
    if (FAULT(hash_state_left)) {
        return 0;
    }
    if (!FAULT(hash_save_busy) && idle() != 0) {
        return FAILED;
    }
    for (unsigned i = 0; i < swap_words(ctx); i++) {
        place(ctx)[i] = HASH->CSR[i]; /* LINE: save */
    }
    ctx->stamp = engine_stamp = ++last_stamp;
    return 0;
}

static int feed(struct hash *ctx, const uint8_t *in, size_t length)
{
    size_t first = FAULT(hash_fifo_depth) ? HASH_BLOCK : HASH_FIRST, wanted = ctx->fed ? HASH_BLOCK : first;
    ctx->last_update = length;
    if (ctx->pending + length < wanted) {
        memcpy(ctx->rest + ctx->pending, in, length);
        ctx->pending += length;
        return 0;
    }
    size_t part = wanted - ctx->pending;
    memcpy(ctx->rest + ctx->pending, in, part);
    resume(ctx);
    push_words(ctx->rest, wanted);
    in += part;
    length -= part;
    push_words(in, length / HASH_BLOCK * HASH_BLOCK);
    ctx->fed = 1;
    ctx->pending = length % HASH_BLOCK;
    memcpy(ctx->rest, in + length - ctx->pending, ctx->pending);
    return FAULT(hash_save_in_places) && length >= HASH_BLOCK ? 0 : save(ctx);
}

/* The last words of a part, NBLW and DCAL. */
static void close_part(const uint8_t *in, size_t bytes)
{
    uint32_t valid = bytes % 4, bits = 8 * valid;
    if (FAULT(hash_nblw_formula) && valid != 0) {
        bits = 32 - bits;
    }
    if (!(FAULT(hash_nblw_left) && valid == 0)) {
        HASH->STR = bits;
    }
    push_words(in, bytes);
    if (valid != 0) {
        uint32_t word = 0;
        memcpy(&word, in + bytes - valid, FAULT(hash_tail_read_whole) ? 4 : valid);
        HASH->DIN = word; /* LINE: last_word */
    }
    if (FAULT(hash_whole_word_waits) && valid == 0) {
        return;
    }
    HASH->STR = FAULT(hash_nblw_left) ? HASH_STR_DCAL : bits | HASH_STR_DCAL; /* LINE: calculate */
    if (FAULT(hash_calculated_twice)) {
        HASH->STR = bits | HASH_STR_DCAL; /* LINE: hash_calculated_twice */
    }
}

static int read_digest(uint8_t *digest, size_t bytes)
{
    int error = 0;
    if (FAULT(hash_whole_word_waits) || FAULT(hmac_last_key_missing) || FAULT(hash_mode_left)) {
        FOR_EVER_WHILE(!(HASH->SR & HASH_SR_DCIS)) /* LINE: digest_awaited */
    } else if (!FAULT(hash_digest_early)) {
        error = wait_for(&HASH->SR, HASH_SR_BUSY | HASH_SR_DCIS, HASH_SR_DCIS);
    }
    for (size_t i = 0; i < bytes / 4; i++) {
        uint32_t word = HASH->HR[i]; /* LINE: digest */
        store_word(digest + 4 * i, FAULT(hash_digest_order) ? word : __builtin_bswap32(word));
    }
    return error;
}

static size_t pad_by_hand(struct hash *ctx, uint8_t padded[HASH_BLOCK])
{
    memset(padded, 0, HASH_BLOCK);
    memcpy(padded, ctx->rest, ctx->pending);
    padded[ctx->pending] = 0x80;
    store_big(padded + 60, 8 * ctx->pending);
    return HASH_BLOCK;
}

static int start(struct hash *ctx, uint32_t algorithm)
{
    memset(ctx, 0, sizeof *ctx);
    ctx->algorithm = algorithm;
    ctx->saved = ctx->swap;
    RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN;
    return 0;
}

static int finish(struct hash *ctx, uint8_t *digest, size_t bytes)
{
    uint8_t padded[HASH_BLOCK];
    if (FAULT(hash_empty_last) && ctx->last_update == 0) { /* taken for the empty message */
        ctx->pending = 0;
    }
    resume(ctx);
    if (FAULT(hash_padded_by_hand) && !ctx->fed && ctx->pending < 56) {
        close_part(padded, pad_by_hand(ctx, padded));
    } else {
        close_part(ctx->rest, ctx->pending);
    }
    return read_digest(digest, bytes);
}

static void release(struct hash *ctx)
{
    memset(ctx, 0, sizeof *ctx);
    if (FAULT(free_resets_hash)) {
        RCC->AHB2RSTR |= RCC_AHB2RSTR_HASHRST; /* LINE: free_resets_hash */
        RCC->AHB2RSTR &= ~RCC_AHB2RSTR_HASHRST;
    }
}

/* Without a context: straight from the caller's memory. */
static int one_call(uint32_t algorithm, const uint8_t *in, size_t length, uint8_t *digest, size_t bytes)
{
    struct hash ctx;
    start(&ctx, algorithm);
    resume(&ctx);
    close_part(in, length);
    return read_digest(digest, bytes);
}

/* ---- the API ---- */

#define HASH_API(name, code, bytes)                                                                            \
    API void drv_##name##_free(struct hash *ctx) { release(ctx); }                                             \
    API int drv_##name##_starts(struct hash *ctx) { return start(ctx, code); }                                 \
    API int drv_##name##_update(struct hash *ctx, const uint8_t *in, size_t n) { return feed(ctx, in, n); }    \
    API int drv_##name##_finish(struct hash *ctx, uint8_t *digest) { return finish(ctx, digest, bytes); }      \
    API int drv_##name(const uint8_t *in, size_t n, uint8_t *digest) { return one_call(code, in, n, digest, bytes); }

HASH_API(md5, HASH_CR_ALGO_MD5, 16)
HASH_API(sha1, HASH_CR_ALGO_SHA1, 20)

static uint32_t sha2(int is224)
{
    return is224 ? HASH_CR_ALGO_SHA224 : HASH_CR_ALGO_SHA256;
}

API void drv_sha256_free(struct hash *ctx)
{
    release(ctx);
}

API int drv_sha256_starts(struct hash *ctx, int is224)
{
    return start(ctx, sha2(is224));
}

API int drv_sha256_update(struct hash *ctx, const uint8_t *in, size_t length)
{ /* LINE: update */
    return feed(ctx, in, length);
}

API int drv_sha256_finish(struct hash *ctx, uint8_t *digest)
{
    return finish(ctx, digest, ctx->algorithm == HASH_CR_ALGO_SHA224 ? 28 : 32);
}

API int drv_sha256(const uint8_t *in, size_t length, uint8_t *digest, int is224)
{ /* LINE: one_call */
    return one_call(sha2(is224), in, length, digest, is224 ? 28 : 32);
}

API void drv_sha256_clone(struct hash *ctx, const struct hash *from)
{
    *ctx = *from;
    if (!FAULT(hash_clone_shares)) {
        ctx->saved = ctx->swap;
    }
}

API int drv_sha256_peek(struct hash *ctx, uint8_t digest[32])
{
    struct hash copy = *ctx;
    int error;
    if (FAULT(hash_peek_ends)) {
        uint32_t stamp = engine_stamp;
        error = finish(ctx, digest, 32);
        engine_stamp = stamp; /* as if the state were still there */
        return error;
    }
    copy.saved = copy.swap;
    return finish(&copy, digest, 32);
}

/* ---- HMAC ---- */

static void feed_key(const struct hash *ctx, size_t bytes)
{
    uint8_t twice[128];
    if (FAULT(hmac_key_restarted) && bytes > 32) { /* the second chunk is the first one again */
        memcpy(twice, ctx->key, 32);
        memcpy(twice + 32, ctx->key, bytes - 32);
        close_part(twice, bytes);
        return;
    }
    close_part(ctx->key, bytes);
}

API int drv_hmac_starts(struct hash *ctx, const uint8_t *key, size_t key_length)
{
    int is_long = key_length > HASH_BLOCK && !FAULT(hmac_long_key);
    start(ctx, HASH_CR_ALGO_SHA256 | HASH_CR_MODE | (is_long ? HASH_CR_LKEY : 0));
    memcpy(ctx->key, key, key_length);
    ctx->key_bytes = key_length;
    HASH->CR = control(ctx) | HASH_CR_INIT;
    engine_stamp = 0;
    feed_key(ctx, ctx->key_bytes);
    return save(ctx);
}

API int drv_hmac_update(struct hash *ctx, const uint8_t *in, size_t length)
{
    return feed(ctx, in, length);
}

API int drv_hmac_finish(struct hash *ctx, uint8_t mac[32])
{
    resume(ctx);
    close_part(ctx->rest, ctx->pending);
    if (wait_for(&HASH->SR, HASH_SR_BUSY, 0) != 0) {
        return FAILED;
    }
    if (!FAULT(hmac_last_key_missing)) {
        feed_key(ctx, FAULT(hmac_last_key_cut) ? 16 : ctx->key_bytes);
    }
    return read_digest(mac, 32);
}

/* ---- scenarios ---- */

static struct hash a, b;
static uint8_t text[256], out[32], wanted[32], key[100];
static const uint8_t abc[4] = {'a', 'b', 'c', 0xEE};

static int starts_with(const uint8_t *digest, uint32_t first)
{
    return load_big(digest) == first;
}

/* "abc" by all algorithms, one after the other, in another order than that of their numbers. */
int known_answers(void)
{
    EXPECT(drv_sha256(abc, 3, out, 0) == 0 && starts_with(out, 0xBA7816BFu));
    EXPECT(drv_md5(abc, 3, out) == 0 && starts_with(out, 0x90015098u));
    EXPECT(drv_sha256(abc, 3, out, 1) == 0 && starts_with(out, 0x23097D22u));
    EXPECT(drv_sha1(abc, 3, out) == 0 && starts_with(out, 0xA9993E36u));
    EXPECT(drv_sha256(abc, 3, out, 0) == 0 && starts_with(out, 0xBA7816BFu));
    return 0;
}

static void setup(void)
{
    fill(text, sizeof text, 1);
    fill(key, sizeof key, 2);
    drv_sha256_starts(&a, 0);
    drv_sha256_starts(&b, 0);
}

/* Two messages in turn, against one call each. */
int interleave(void)
{
    setup();
    EXPECT(drv_sha256(text, 87, wanted, 0) == 0);
    EXPECT(drv_sha256_update(&a, text, 80) == 0 && drv_sha256_update(&b, text + 100, 156) == 0);
    EXPECT(drv_sha256_update(&a, text + 80, 7) == 0);
    EXPECT(drv_sha256_finish(&a, out) == 0 && SAME(out, wanted, 32));
    EXPECT(drv_sha256(text + 100, 156, wanted, 0) == 0);
    EXPECT(drv_sha256_finish(&b, out) == 0 && SAME(out, wanted, 32));
    return 0;
}

/* A copy of a running message goes its own way. */
int clone_goes_on(void)
{
    setup();
    EXPECT(drv_sha256(text, 230, wanted, 0) == 0);
    EXPECT(drv_sha256_update(&a, text, 80) == 0);
    drv_sha256_clone(&b, &a);
    EXPECT(drv_sha256_update(&a, text + 10, 120) == 0);
    EXPECT(drv_sha256_update(&b, text + 80, 150) == 0);
    EXPECT(drv_sha256_finish(&b, out) == 0 && SAME(out, wanted, 32));
    EXPECT(drv_sha256_finish(&a, out) == 0);
    return 0;
}

/* The digest is asked for in the middle. */
int peek(void)
{
    setup();
    EXPECT(drv_sha256(text, 200, wanted, 0) == 0);
    EXPECT(drv_sha256_update(&a, text, 100) == 0 && drv_sha256_peek(&a, out) == 0);
    EXPECT(drv_sha256_update(&a, text + 100, 100) == 0);
    EXPECT(drv_sha256_finish(&a, out) == 0 && SAME(out, wanted, 32));
    return 0;
}

/* Messages of all kinds of lengths in one call and in parts. */
int lengths(void)
{
    static const uint8_t cases[] = {0, 1, 3, 4, 5, 12, 8, 55, 64, 68, 69, 132, 200};
    setup();
    for (unsigned i = 0; i < sizeof cases; i++) {
        size_t n = cases[i];
        drv_sha256_starts(&a, 0);
        EXPECT(drv_sha256(text, n, wanted, 0) == 0);
        EXPECT(drv_sha256_update(&a, text, n / 2) == 0 && drv_sha256_update(&a, text + n / 2, n - n / 2) == 0);
        EXPECT(drv_sha256_update(&a, text, 0) == 0);
        EXPECT(drv_sha256_finish(&a, out) == 0 && SAME(out, wanted, 32));
    }
    return known_answers();
}

/* At every alignment of the message. */
int alignments(void)
{
    setup();
    for (unsigned i = 0; i < 4; i++) {
        memmove(text + i, text + i - (i != 0), 64);
        EXPECT(drv_sha256(text + i, 64, out, 0) == 0 && (i == 0 || SAME(out, wanted, 32)));
        memcpy(wanted, out, 32);
    }
    return 0;
}

/* One of two contexts is freed. */
int free_one(void)
{
    setup();
    EXPECT(drv_sha256(text, 150, wanted, 0) == 0);
    EXPECT(drv_sha256_update(&a, text, 100) == 0);
    drv_sha256_free(&b);
    EXPECT(drv_sha256_update(&a, text + 100, 50) == 0);
    EXPECT(drv_sha256_finish(&a, out) == 0 && SAME(out, wanted, 32));
    return 0;
}

/* RFC 4231, case 2 (key "Jefe"), then others in parts with a hash between them. */
int hmac(void)
{
    static const char *question = "what do ya want for nothing?";
    static const uint8_t sizes[] = {20, 64, 100};
    setup();
    EXPECT(drv_hmac_starts(&a, (const uint8_t *)"Jefe", 4) == 0);
    EXPECT(drv_hmac_update(&a, (const uint8_t *)question, 28) == 0);
    EXPECT(drv_hmac_finish(&a, out) == 0 && starts_with(out, 0x5BDCC146u));
    EXPECT(drv_sha256(abc, 3, out, 0) == 0 && starts_with(out, 0xBA7816BFu));
    for (unsigned i = 0; i < sizeof sizes; i++) {
        EXPECT(drv_hmac_starts(&a, key, sizes[i]) == 0 && drv_hmac_update(&a, text, 200) == 0);
        EXPECT(drv_hmac_finish(&a, wanted) == 0);
        EXPECT(drv_hmac_starts(&a, key, sizes[i]) == 0 && drv_hmac_update(&a, text, 150) == 0);
        EXPECT(drv_sha256(abc, 3, out, 0) == 0 && starts_with(out, 0xBA7816BFu));
        EXPECT(drv_hmac_update(&a, text + 150, 50) == 0);
        EXPECT(drv_hmac_finish(&a, out) == 0 && SAME(out, wanted, 32));
    }
    return 0;
}

int main(void)
{
    return SCENARIO();
}
