/* Entropy for mbed TLS from the random number generator of STM32F2/F4 (one word at a time).
 *
 * The block's rules kept here: a word counts only while DRDY is 1 and no error is flagged; the first
 * word after enabling is thrown away but compared with the next, and no two neighbours may be equal
 * (continuous test, RM0090); a seed error is recovered by clearing SEIS and toggling RNGEN, after
 * which the first word is thrown away again; a clock error by clearing CEIS once CECS has gone.
 * Every wait is bounded in time, and a call that fails gives out nothing.
 */
#include <string.h>

#include "mbedtls/entropy.h"
#include "mbedtls/entropy_poll.h"
#include "stm32f4.h"

#define WORD_LIMIT_CYCLES 200000u /* 40 RNG clocks are 140 core cycles at 168 MHz and 48 MHz */
#define RECOVERIES 3

static uint32_t previous;
static int running;

static void restart(void)
{
    RNG->CR &= ~RNG_CR_RNGEN;
    RNG->SR = 0; /* SEIS and CEIS are cleared by writing 0 */
    RNG->CR |= RNG_CR_RNGEN;
}

/* One word with DRDY set and no error; 0 on success. */
static int fresh_word(uint32_t *word)
{
    uint32_t start = DWT_CYCCNT;
    for (;;) {
        uint32_t status = RNG->SR;
        if (status & (RNG_SR_SEIS | RNG_SR_SECS | RNG_SR_CEIS | RNG_SR_CECS)) {
            return -1;
        }
        if (status & RNG_SR_DRDY) {
            *word = RNG->DR;
            return *word == 0 ? -1 : 0; /* a zero is what an empty or failed generator gives */
        }
        if (DWT_CYCCNT - start > WORD_LIMIT_CYCLES) {
            return -1;
        }
    }
}

/* Wait for a clock error to pass, then start anew; the first word only serves for comparison. */
static int recover(void)
{
    uint32_t start = DWT_CYCCNT;
    while (RNG->SR & RNG_SR_CECS) {
        if (DWT_CYCCNT - start > WORD_LIMIT_CYCLES) {
            return -1;
        }
    }
    restart();
    return fresh_word(&previous);
}

static int random_word(uint32_t *word)
{
    for (int tries = 0; tries <= RECOVERIES; tries++) {
        if (tries > 0 && recover() != 0) {
            continue;
        }
        if (fresh_word(word) == 0) {
            if (*word == previous) {
                return -1; /* continuous test failed: no recovery by us */
            }
            previous = *word;
            return 0;
        }
    }
    return -1;
}

/* A program with threads defines these (hardware/engine.h); they may be absent. */
#ifndef ENGINE_H
enum engine { ENGINE_RNG = 2 };
#endif
extern void engine_lock(enum engine engine) __attribute__((weak));
extern void engine_unlock(enum engine engine) __attribute__((weak));

static int collect(unsigned char *output, size_t length)
{
    if (!running) {
        RCC->AHB2ENR |= RCC_AHB2ENR_RNGEN;
        RNG->CR |= RNG_CR_RNGEN;
        if (fresh_word(&previous) != 0 && recover() != 0) {
            return MBEDTLS_ERR_ENTROPY_SOURCE_FAILED;
        }
        running = 1;
    }
    for (size_t done = 0; done < length; done += sizeof(uint32_t)) {
        uint32_t word;
        if (random_word(&word) != 0) {
            running = 0;
            memset(output, 0, length);
            return MBEDTLS_ERR_ENTROPY_SOURCE_FAILED;
        }
        memcpy(output + done, &word, length - done < sizeof word ? length - done : sizeof word);
    }
    return 0;
}

int mbedtls_hardware_poll(void *data, unsigned char *output, size_t length, size_t *given)
{
    (void)data;
    *given = 0;
    if (engine_lock) {
        engine_lock(ENGINE_RNG);
    }
    int status = collect(output, length);
    if (engine_unlock) {
        engine_unlock(ENGINE_RNG);
    }
    if (status == 0) {
        *given = length;
    }
    return status;
}
