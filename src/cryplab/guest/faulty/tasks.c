/* Two threads, interrupt handlers and the three blocks, one fault at a time; see faulty.h.
 *
 * The tick of this program is short and odd, so that it falls on every step of an operation in turn; the vector
 * table lies in RAM, so that a scenario can put in handlers of its own. The correct drivers hold a lock that
 * belongs to the block from the first register to the last.
 */
#include "faulty.h"
#include "rows.h"

#define ROUNDS 60
#define TICK_CYCLES 613u
#define VECTORS (16 + 91)
#define VECTOR_PENDSV 14
#define VECTOR_SYSTICK 15
#define STACK_WORDS 256

typedef void (*handler)(void);

/* ---- vectors, interrupts ---- */

extern const handler vectors[VECTORS];
static handler table[VECTORS] __attribute__((aligned(512)));

static void vectors_in_ram(void)
{
    memcpy(table, vectors, sizeof table);
    SCB_VTOR = (uint32_t)table;
}

static void tick(handler function, uint32_t cycles)
{
    SysTick->CTRL = 0;
    if (function != NULL) { /* a tick may still be pending */
        table[VECTOR_SYSTICK] = function;
    }
    SysTick->LOAD = cycles - 1;
    SysTick->VAL = 0;
    SysTick->CTRL = SysTick_CTRL_CLKSOURCE | (function != NULL ? SysTick_CTRL_TICKINT : 0) | SysTick_CTRL_ENABLE;
}

static void interrupt(unsigned number, handler function)
{
    table[16 + number] = function;
    NVIC_ISER[number / 32] = 1u << number % 32;
}

static void masked(int on)
{
    if (on) {
        __asm volatile("cpsid i" ::: "memory");
    } else {
        __asm volatile("cpsie i" ::: "memory");
    }
}

/* ---- two threads, switched by every tick ---- */

static uint32_t stacks[2][STACK_WORDS] __attribute__((aligned(8)));
static uint32_t *saved_sp[2];
static unsigned running;
static volatile int finished[2], verdict;

__attribute__((used)) static uint32_t *other_thread(uint32_t *sp)
{
    saved_sp[running] = sp;
    running = !running;
    return saved_sp[running];
}

__attribute__((naked)) static void switch_threads(void)
{
    __asm volatile(
        "mrs r0, psp\n"
        "stmdb r0!, {r4-r11}\n"
        "push {r3, lr}\n"
        "bl other_thread\n"
        "pop {r3, lr}\n"
        "ldmia r0!, {r4-r11}\n"
        "msr psp, r0\n"
        "bx lr\n");
}

static void ask_for_switch(void)
{
    SCB_ICSR = SCB_ICSR_PENDSVSET;
}

static void thread_ends(int failed)
{
    verdict |= failed;
    finished[running] = 1;
    while (!finished[0] || !finished[1]) {
    }
    masked(1);
    cryplab_done((uint32_t)verdict);
}

/* Run both, the first one from here; ends the program. */
static int run_threads(handler first, handler second)
{
    uint32_t *frame = stacks[1] + STACK_WORDS - 16;
    vectors_in_ram();
    frame[14] = (uint32_t)second; /* pc of the exception frame behind r4 to r11 */
    frame[15] = 1u << 24;         /* xPSR: Thumb */
    saved_sp[1] = frame;
    table[VECTOR_PENDSV] = switch_threads;
    tick(ask_for_switch, TICK_CYCLES);
    __asm volatile("msr psp, %0\n movs r0, #2\n msr control, r0\n isb\n blx %1\n" : : "r"(stacks[0] + STACK_WORDS), "r"(first)
                   : "r0", "lr", "memory");
    return FAILED;
}

/* ---- locks ---- */

struct lock {
    volatile int held;
};

static struct lock cryp_lock, hash_lock, rng_lock;

static void take(struct lock *lock)
{
    for (int got = 0; !got;) {
        masked(1);
        got = !lock->held;
        lock->held = 1;
        masked(0);
    }
}

static void give(struct lock *lock)
{
    lock->held = 0;
}

/* ---- drivers ---- */

struct cipher {
    uint32_t key[4];
    struct lock lock; /* for one of the faults */
};

API void drv_task_setkey(struct cipher *ctx, const uint8_t *key, unsigned bits)
{
    for (unsigned i = 0; i < bits / 32; i++) {
        ctx->key[i] = load_big(key + 4 * i);
    }
    RCC->AHB2ENR |= RCC_AHB2ENR_CRYPEN;
}

static void cipher_begin(struct cipher *ctx)
{
    CRYP->CR = CRYP_CR_ALGOMODE_AES_ECB | CRYP_CR_DATATYPE_8BIT | CRYP_CR_FFLUSH; /* LINE: configure */
    for (unsigned i = 0; i < 4; i++) {
        (&CRYP->K2LR)[i] = ctx->key[i]; /* LINE: load_key */
    }
    CRYP->CR = CRYP_CR_ALGOMODE_AES_ECB | CRYP_CR_DATATYPE_8BIT | CRYP_CR_CRYPEN; /* LINE: enable */
}

static int cipher_blocks(size_t length, const uint8_t *in, uint8_t *out)
{
    for (; length != 0; length -= BLOCK, in += BLOCK, out += BLOCK) {
        CRYP->DIN = load_word(in); /* LINE: push */
        CRYP->DIN = load_word(in + 4); /* LINE: push */
        CRYP->DIN = load_word(in + 8); /* LINE: push */
        CRYP->DIN = load_word(in + 12); /* LINE: push */
        if (wait_for(&CRYP->SR, CRYP_SR_OFNE, CRYP_SR_OFNE) != 0) {
            return FAILED;
        }
        store_word(out, CRYP->DOUT);
        store_word(out + 4, CRYP->DOUT);
        store_word(out + 8, CRYP->DOUT);
        store_word(out + 12, CRYP->DOUT);
    }
    return 0;
}

API int drv_task_ecb(struct cipher *ctx, size_t length, const uint8_t *in, uint8_t *out)
{
    struct lock *lock = FAULT(lock_in_context) ? &ctx->lock : &cryp_lock;
    if (!FAULT(cipher_not_locked) && !CASE(handler_uses_cipher)) {
        take(lock);
    }
    cipher_begin(ctx);
    if (FAULT(lock_dropped_early)) {
        give(lock);
    }
    int error = cipher_blocks(length, in, out);
    CRYP->CR &= ~CRYP_CR_CRYPEN;
    give(lock);
    return error;
}

API int drv_task_sha256(const uint8_t *in, size_t length, uint8_t *digest)
{
    if (!FAULT(hash_not_locked)) {
        take(&hash_lock);
    }
    RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN;
    HASH->CR = HASH_CR_ALGO_SHA256 | HASH_CR_DATATYPE_8BIT | HASH_CR_INIT; /* LINE: init */
    uint32_t word = 0, rest = length % 4;
    HASH->STR = 8 * rest;
    for (size_t i = 0; i + 4 <= length; i += 4) {
        HASH->DIN = load_word(in + i); /* LINE: feed */
    }
    if (rest != 0) {
        memcpy(&word, in + length - rest, rest);
        HASH->DIN = word;
    }
    HASH->STR = (8 * rest) | HASH_STR_DCAL; /* LINE: feed */
    int error = wait_for(&HASH->SR, HASH_SR_BUSY | HASH_SR_DCIS, HASH_SR_DCIS);
    for (unsigned i = 0; i < 8; i++) {
        store_big(digest + 4 * i, HASH->HR[i]);
    }
    give(&hash_lock);
    return error;
}

API int drv_task_random(uint8_t *out, size_t length)
{
    for (size_t i = 0; i < length; i += 4) {
        if (!FAULT(rng_not_locked)) {
            take(&rng_lock);
        }
        int error = wait_for(&RNG->SR, RNG_SR_DRDY, RNG_SR_DRDY);
        if (CASE(rng_not_locked)) { /* so long that the other thread gets in between */
            for (volatile unsigned n = 0; n < 100; n++) {
            }
        }
        store_word(out + i, RNG->DR); /* LINE: take */
        give(&rng_lock);
        if (error) {
            return FAILED;
        }
    }
    return 0;
}

/* ---- scenarios with threads ---- */

static struct cipher keys[2];
static uint8_t text[2][64], wanted[2][64], out[2][64];

static void setup(void)
{
    for (unsigned i = 0; i < 2; i++) {
        uint8_t key[16];
        fill(key, sizeof key, 7 + i);
        fill(text[i], sizeof text[i], i);
        drv_task_setkey(&keys[i], key, 128);
    }
}

static void cipher_thread(unsigned n)
{
    int failed = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        failed |= drv_task_ecb(&keys[n], 64, text[n], out[n]) != 0 || !SAME(out[n], wanted[n], 64);
    }
    thread_ends(failed);
}

static void cipher_first(void)
{
    cipher_thread(0);
}

static void cipher_second(void)
{
    cipher_thread(1);
}

/* Each thread encrypts with its own key and context. */
int cipher_threads(void)
{
    setup();
    EXPECT(drv_task_ecb(&keys[0], 64, text[0], wanted[0]) == 0 && drv_task_ecb(&keys[1], 64, text[1], wanted[1]) == 0);
    return run_threads(cipher_first, cipher_second);
}

static void hash_thread(unsigned n)
{
    int failed = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        failed |= drv_task_sha256(text[n], 64, out[n]) != 0 || !SAME(out[n], wanted[n], 32);
    }
    thread_ends(failed);
}

static void hash_first(void)
{
    hash_thread(0);
}

static void hash_second(void)
{
    hash_thread(1);
}

int hash_threads(void)
{
    setup();
    EXPECT(drv_task_sha256(text[0], 64, wanted[0]) == 0 && drv_task_sha256(text[1], 64, wanted[1]) == 0);
    return run_threads(hash_first, hash_second);
}

static void random_thread(unsigned n)
{
    int failed = 0;
    for (unsigned i = 0; i < 8; i++) {
        failed |= drv_task_random(out[n], 32) != 0;
    }
    thread_ends(failed);
}

static void random_first(void)
{
    random_thread(0);
}

static void random_second(void)
{
    random_thread(1);
}

int random_threads(void)
{
    RCC->AHB2ENR |= RCC_AHB2ENR_RNGEN;
    RNG->CR = RNG_CR_RNGEN;
    return run_threads(random_first, random_second);
}

/* ---- scenarios with interrupts ---- */

/* The handler encrypts too; a right one leaves it when the block is in use. */
static void encrypting_handler(void)
{
    if (!FAULT(handler_uses_cipher) && CRYP->CR & CRYP_CR_CRYPEN) {
        return;
    }
    drv_task_ecb(&keys[1], 16, text[1], out[1]);
}

int handler_encrypts(void)
{
    int failed = 0;
    setup();
    EXPECT(drv_task_ecb(&keys[0], 64, text[0], wanted[0]) == 0);
    vectors_in_ram();
    tick(encrypting_handler, TICK_CYCLES);
    for (unsigned i = 0; i < ROUNDS; i++) {
        masked(!FAULT(handler_uses_cipher));
        failed |= drv_task_ecb(&keys[0], 64, text[0], out[0]) != 0 || !SAME(out[0], wanted[0], 64);
        masked(0);
    }
    tick(NULL, TICK_CYCLES);
    return failed;
}

/* A pool of random words that the handler fills; it stops the generator when the pool is full. */
static volatile uint32_t pool[8];
static volatile unsigned pooled;

static void pool_handler(void)
{
    uint32_t sr = RNG->SR; /* LINE: cause_not_cleared */
    if (sr & RNG_SR_CEIS && !FAULT(cause_not_cleared)) {
        RNG->CR = 0;
        RNG->SR = ~RNG_SR_CEIS;
        return;
    }
    if (sr & RNG_SR_DRDY && !CASE(cause_not_cleared)) {
        pool[pooled++ % 8] = RNG->DR;
    }
    if (pooled >= 8) {
        RNG->CR = 0; /* LINE: pool_full */
    }
}

static void pool_start(void)
{
    vectors_in_ram();
    RCC->AHB2ENR |= RCC_AHB2ENR_RNGEN;
    interrupt(IRQ_HASH_RNG, pool_handler);
    tick(NULL, TICK_CYCLES);
}

/* Wait asleep until the handler has brought so many words. */
static void pool_await(unsigned count)
{
    for (;;) {
        masked(1);
        if (pooled >= count) {
            break;
        }
        __asm volatile("wfi"); /* LINE: pool_await */
        masked(0); /* LINE: pool_await */
    }
    masked(0);
}

int pool_of_words(void)
{
    pool_start();
    RNG->CR = FAULT(generator_not_started) ? RNG_CR_IE : RNG_CR_IE | RNG_CR_RNGEN; /* LINE: pool_start */
    pool_await(8);
    return 0;
}

/* The clock fails: the handler has to end that, and the program goes on. */
int pool_without_clock(void)
{
    pool_start();
    RNG->CR = RNG_CR_IE | RNG_CR_RNGEN;
    for (volatile unsigned n = 0; n < 1000; n++) {
    }
    return 0;
}

/* Thread and handler both change CR: IE goes off and on around each use of the pool. */
static void stop_handler(void)
{
    RNG->CR &= ~RNG_CR_RNGEN; /* LINE: stop_generator */
}

static __attribute__((noipa)) uint32_t changed(uint32_t cr, uint32_t bit, unsigned on)
{
    return on ? cr | bit : cr & ~bit;
}

int pool_races(void)
{
    vectors_in_ram();
    RCC->AHB2ENR |= RCC_AHB2ENR_RNGEN;
    RNG->CR = RNG_CR_RNGEN;
    tick(stop_handler, TICK_CYCLES);
    for (unsigned i = 0; i < 2000; i++) {
        masked(!FAULT(update_not_masked));
        RNG->CR = changed(RNG->CR, RNG_CR_RNGEN, 1); /* LINE: update */
        RNG->CR = changed(RNG->CR, RNG_CR_IE, i % 2); /* LINE: update */
        masked(0);
    }
    tick(NULL, TICK_CYCLES);
    return 0;
}

/* SHA-256 by interrupts: the handler feeds words, and ends the message when fewer than four bytes are left. */
static const uint8_t *volatile job_in;
static volatile size_t job_left;
static volatile int job_done;

static void hash_handler(void)
{
    if (HASH->SR & HASH_SR_DCIS) {
        HASH->IMR = 0;
        job_done = 1;
        return;
    }
    for (unsigned i = 0; i < 16 && job_left >= 4; i++, job_left -= 4, job_in += 4) {
        HASH->DIN = load_word(job_in);
    }
    if (job_left == 0 || (job_left < 4 && !FAULT(short_rest_not_fed))) {
        uint32_t word = 0;
        memcpy(&word, (const void *)job_in, job_left);
        HASH->STR = 8 * job_left;
        if (job_left != 0) {
            HASH->DIN = word;
        }
        HASH->IMR = HASH_IMR_DCIE;
        HASH->STR = 8 * job_left | HASH_STR_DCAL;
    }
}

API int drv_task_sha256_it(const uint8_t *in, size_t length, uint8_t *digest)
{
    vectors_in_ram();
    RCC->AHB2ENR |= RCC_AHB2ENR_HASHEN;
    interrupt(IRQ_HASH_RNG, hash_handler);
    job_in = in;
    job_left = length;
    job_done = 0;
    HASH->CR = HASH_CR_ALGO_SHA256 | HASH_CR_DATATYPE_8BIT | HASH_CR_INIT;
    HASH->IMR = HASH_IMR_DINIE | HASH_IMR_DCIE;
    for (;;) {
        masked(1);
        if (job_done) {
            break;
        }
        __asm volatile("wfi"); /* LINE: digest_await */
        masked(0); /* LINE: digest_await */
    }
    masked(0);
    for (unsigned i = 0; i < 8; i++) {
        store_big(digest + 4 * i, HASH->HR[i]);
    }
    return 0;
}

int hash_by_interrupt(void)
{
    static const uint8_t sizes[] = {64, 66, 3};
    setup();
    vectors_in_ram();
    tick(NULL, TICK_CYCLES);
    for (unsigned i = 0; i < 3; i++) {
        EXPECT(drv_task_sha256(text[0], sizes[i], wanted[0]) == 0);
        EXPECT(drv_task_sha256_it(text[0], sizes[i], out[0]) == 0 && SAME(out[0], wanted[0], 32));
    }
    EXPECT(drv_task_sha256((const uint8_t *)"abc", 3, out[0]) == 0 && load_big(out[0]) == 0xBA7816BFu);
    return 0;
}

int main(void)
{
    return SCENARIO();
}
