/* Random bytes from RNG version 1, one fault at a time; see faulty.h.
 *
 * The correct driver looks at DRDY and the error flags before each word, waits in time, refuses 0 and a word
 * equal to the last one, and after a seed error clears SEIS, restarts the generator and drops its first word. A
 * clock error, or errors again and again, it reports.
 */
#include "clock.h"
#include "faulty.h"

#define ERRORS (RNG_SR_SEIS | RNG_SR_CEIS | RNG_SR_SECS | RNG_SR_CECS)
#define TRIES 4

int drv_rng_init(void);
int drv_rng_fill(uint8_t *out, size_t length);

static uint32_t last_word;

/* ---- generator ---- */

API int drv_rng_init(void)
{
    uint32_t cr = RNG_CR_RNGEN;
    if (!FAULT(rng_clock_off)) {
        RCC->AHB2ENR |= RCC_AHB2ENR_RNGEN;
    }
    if (FAULT(rng_ced_written)) {
        cr |= 1u << 5; /* CED of later versions */
    }
    RNG->CR = cr; /* LINE: enable */
    return 0;
}

static void recover(void)
{
    if (!FAULT(rng_flag_kept)) {
        RNG->SR = ~RNG_SR_SEIS;
    }
    if (!FAULT(rng_not_restarted)) {
        RNG->CR = 0;
        RNG->CR = RNG_CR_RNGEN; /* LINE: restart */
    }
    last_word = 0;
}

/* Until DRDY or an error shows; the limit is far above the longest latency. */
static int await(void)
{
    uint32_t start = DWT_CYCCNT, ticks = clock_ticks;
    uint32_t wanted = FAULT(rng_seed_error_polled) || FAULT(rng_clock_error_polled) || FAULT(rng_tick_stopped)
                          ? RNG_SR_DRDY : RNG_SR_DRDY | ERRORS;
    unsigned polls = FAULT(rng_gives_up_at_once) ? 1 : FAULT(rng_poll_limit) ? 50 : 0;
    while (!(RNG->SR & wanted)) { /* LINE: await */
        if (FAULT(rng_seed_error_polled) || FAULT(rng_clock_error_polled)) {
            continue;
        }
        if (FAULT(rng_tick_stopped)) { /* the tick does not count while interrupts are masked */
            if (clock_ticks - ticks > 10) {
                return FAILED;
            }
            continue;
        }
        if ((polls != 0 && --polls == 0) || DWT_CYCCNT - start > LIMIT_CYCLES) {
            return FAILED;
        }
    }
    return 0;
}

static int seed_error(uint32_t sr)
{
    if (FAULT(rng_flag_kept)) {
        return (sr & RNG_SR_SECS) != 0;
    }
    if (FAULT(rng_error_test)) { /* two different flags ANDed */
        return (sr & RNG_SR_SEIS & RNG_SR_SECS) != 0;
    }
    return (sr & (RNG_SR_SEIS | RNG_SR_SECS)) != 0;
}

static int acceptable(uint32_t word)
{
    if ((word == 0 && !FAULT(rng_zero_taken)) || (word == last_word && word != 0 && !FAULT(rng_same_taken))) {
        return 0;
    }
    last_word = word;
    return 1;
}

static int next_word(uint32_t *word)
{
    for (unsigned tries = 0; tries < TRIES || FAULT(rng_recovers_for_ever); tries++) {
        if (await() != 0) {
            return FAILED;
        }
        uint32_t sr = RNG->SR; /* LINE: status */
        if (seed_error(sr) && FAULT(rng_error_sticks)) {
            return FAILED;
        }
        if (seed_error(sr) && !FAULT(rng_read_again)) {
            recover();
            continue;
        }
        if (sr & RNG_SR_CECS) {
            if (FAULT(rng_recovers_for_ever)) {
                recover();
                continue;
            }
            return FAILED;
        }
        if (FAULT(rng_flags_ored) && (sr | RNG_SR_SEIS)) {
            return FAILED;
        }
        *word = RNG->DR; /* LINE: take */
        if (acceptable(*word)) {
            return 0;
        }
    }
    return FAILED;
}

/* Four words on one look at the flag. */
static int four_words(uint8_t *out)
{
    if (await() != 0) {
        return FAILED;
    }
    for (unsigned i = 0; i < 16; i += 4) {
        store_word(out + i, RNG->DR); /* LINE: rng_four_words */
    }
    return 0;
}

static void software(uint8_t *out, size_t length)
{
    static uint32_t state = 12345;
    for (size_t i = 0; i < length; i++) {
        state = state * 1103515245u + 12345;
        out[i] = (uint8_t)(state >> 16);
    }
}

API int drv_rng_fill(uint8_t *out, size_t length)
{ /* LINE: fill */
    if (FAULT(rng_software)) {
        software(out, length);
        return 0;
    }
    size_t end = FAULT(rng_last_word_missed) && length > 4 ? length - 4 : length;
    for (size_t i = 0; i < end; i += 4) {
        uint32_t word = 0;
        size_t part = length - i < 4 && !FAULT(rng_tail_whole) ? length - i : 4;
        if (FAULT(rng_four_words) && length - i >= 16) {
            if (four_words(out + i) != 0) {
                return FAILED;
            }
            i += 12;
            continue;
        }
        if (FAULT(rng_chunk_skipped) && !(RNG->SR & RNG_SR_DRDY)) {
            continue;
        }
        int error = next_word(&word);
        if (error && !FAULT(rng_error_lost)) {
            return FAILED;
        }
        memcpy(out + i, &word, part);
    }
    return 0;
}

/* Power management between two calls. */
API void drv_rng_suspend(void)
{
    RCC->AHB2ENR &= ~RCC_AHB2ENR_RNGEN;
}

API int drv_rng_fill_isr(uint8_t *out, size_t length)
{
    if (!FAULT(rng_suspended_used)) {
        RCC->AHB2ENR |= RCC_AHB2ENR_RNGEN;
    }
    return drv_rng_fill(out, length);
}

/* ---- scenarios ---- */

static uint8_t out[72];

static int filled(size_t length)
{
    unsigned zeros = 0;
    for (size_t i = 0; i + 4 <= length; i += 4) {
        zeros += load_word(out + i) == 0 || load_word(out + i) == 0xA5A5A5A5u;
    }
    return zeros == 0 && out[length] == 0xA5;
}

/* Requests of several sizes; nothing behind them is touched. */
int requests(void)
{
    static const uint8_t sizes[] = {4, 16, 64, 5, 7};
    EXPECT(drv_rng_init() == 0);
    for (unsigned i = 0; i < sizeof sizes; i++) {
        memset(out, 0xA5, sizeof out);
        EXPECT(drv_rng_fill(out, sizes[i]) == 0 && filled(sizes[i]));
    }
    return 0;
}

/* A seed error comes in the first request; the second one must succeed whatever became of the first. */
int after_error(void)
{
    EXPECT(drv_rng_init() == 0);
    memset(out, 0xA5, sizeof out);
    int first = drv_rng_fill(out, 32);
    EXPECT(first != 0 || filled(32));
    memset(out, 0xA5, sizeof out);
    EXPECT(drv_rng_fill(out, 32) == 0 && filled(32));
    return 0;
}

/* The generator cannot work: an error has to come, in bounded time. */
int must_fail(void)
{
    EXPECT(drv_rng_init() == 0);
    EXPECT(drv_rng_fill(out, 32) != 0);
    return 0;
}

/* The same with interrupts masked. */
int must_fail_masked(void)
{
    __asm volatile("cpsid i");
    int failed = must_fail();
    __asm volatile("cpsie i");
    return failed;
}

/* The board's clock set-up, with or without the PLL that makes 48 MHz. */
int without_pll(void)
{
    if (FAULT(rng_kernel_clock_off)) {
        RCC->CFGR &= ~3u;
        while (RCC->CFGR & RCC_CFGR_SWS) {
        }
        RCC->CR &= ~RCC_CR_PLLON;
    }
    return requests();
}

/* Between two requests the block's clock is switched off. */
int suspended(void)
{
    EXPECT(drv_rng_init() == 0);
    memset(out, 0xA5, sizeof out);
    EXPECT(drv_rng_fill(out, 8) == 0);
    drv_rng_suspend();
    EXPECT(drv_rng_fill_isr(out, 8) == 0 && filled(8));
    return 0;
}

int main(void)
{
    return SCENARIO();
}
