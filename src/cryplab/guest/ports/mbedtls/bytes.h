/* Memory words at any address, as our drivers move them to and from 32-bit registers. */
#ifndef BYTES_H
#define BYTES_H

#include <stdint.h>

struct any_word {
    uint32_t word;
} __attribute__((packed, may_alias));

/* Four bytes as they lie in memory (little endian), aligned or not. */
static inline uint32_t load_word(const unsigned char *bytes)
{
    return ((const struct any_word *)bytes)->word;
}

static inline void store_word(unsigned char *bytes, uint32_t word)
{
    ((struct any_word *)bytes)->word = word;
}

/* Four bytes as a big-endian number, and back: the order of key, IV and digest registers. */
static inline uint32_t load_big(const unsigned char *bytes)
{
    return __builtin_bswap32(load_word(bytes));
}

static inline void store_big(unsigned char *bytes, uint32_t number)
{
    store_word(bytes, __builtin_bswap32(number));
}

/* Overwrite a context so that no compiler leaves it out; whole words, any alignment of 4. */
static inline void wipe_words(void *memory, unsigned bytes)
{
    volatile uint32_t *word = memory;
    for (; bytes >= 4; bytes -= 4) {
        *word++ = 0;
    }
}

#endif
