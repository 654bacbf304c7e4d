/* What the drivers with faults share.
 *
 * A program is one driver file, one of its scenarios and at most one fault:
 *
 *   -DCASE_key_kept=1    which case this is
 *   -DFAULTY=1           1: with the fault, 0: the correct twin
 *   -DSCENARIO=interleave  the function that main() returns; 0 when all results are right
 *
 * FAULT(key_kept) is a constant, 1 only in the faulty build of that case, so a twin differs from its faulty
 * brother by that expression alone. A comment "FOUND: key_kept" marks the line that a finding must name:
 * the wrong access itself, or, where an access is missing, the first one that is wrong without it.
 */
#ifndef FAULTY_H
#define FAULTY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stm32f4.h"

#define FAULTY_MARK_1 0,
#define FAULTY_SECOND(first, second, ...) second
#define FAULTY_PICK(mark) FAULTY_SECOND(mark 1, 0, 0)
#define FAULTY_IS_ONE(value) FAULTY_PICK(FAULTY_MARK_##value)
#define FAULTY_EXPANDED(value) FAULTY_IS_ONE(value)
#define CASE(name) FAULTY_EXPANDED(CASE_##name)
#define FAULT(name) (FAULTY && CASE(name))

/* A function of the drivers' API: seen by the observer, so neither put in line nor cloned. */
#define API __attribute__((noipa))
#define INLINE static inline __attribute__((always_inline))

#define FAILED (-1)
#define BLOCK 16u

/* ---- memory words at any address ---- */

struct any_word {
    uint32_t word;
} __attribute__((packed, may_alias));

INLINE uint32_t load_word(const uint8_t *bytes)
{
    return ((const struct any_word *)bytes)->word;
}

INLINE void store_word(uint8_t *bytes, uint32_t word)
{
    ((struct any_word *)bytes)->word = word;
}

INLINE uint32_t load_big(const uint8_t *bytes)
{
    return __builtin_bswap32(load_word(bytes));
}

INLINE void store_big(uint8_t *bytes, uint32_t number)
{
    store_word(bytes, __builtin_bswap32(number));
}

/* ---- waiting: in time, far above the longest latency of any block ---- */

#define LIMIT_CYCLES 400000u

INLINE int wait_for(const volatile uint32_t *status, uint32_t mask, uint32_t value)
{
    uint32_t start = DWT_CYCCNT;
    while ((*status & mask) != value) {
        if (DWT_CYCCNT - start > LIMIT_CYCLES) {
            return FAILED;
        }
    }
    return 0;
}

/* ---- data of the scenarios ---- */

/* Bytes that differ from each other and from buffer to buffer. */
INLINE void fill(uint8_t *bytes, size_t length, unsigned seed)
{
    uint32_t state = 0x9E3779B9u * (seed + 1);
    for (size_t i = 0; i < length; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(state >> 24);
    }
}

#define EXPECT(condition)   \
    do {                    \
        if (!(condition)) { \
            return __LINE__; \
        }                   \
    } while (0)

#define SAME(a, b, length) (memcmp(a, b, length) == 0)

/* ---- registers that only these programs use ---- */

#define RCC_AHB1ENR_DMA2EN (1u << 22)
#define RCC_AHB2RSTR_CRYPRST (1u << 4)
#define RCC_AHB2RSTR_HASHRST (1u << 5)

#define CRYP_DMACR_DIEN (1u << 0)
#define CRYP_DMACR_DOEN (1u << 1)
#define CRYP_CR_NPBLB(n) ((n) << 20) /* not on F4 */

#define HASH_CR_DMAE (1u << 3)
#define HASH_CR_MODE (1u << 6)
#define HASH_CR_MDMAT (1u << 13)
#define HASH_CR_LKEY (1u << 16)
#define HASH_IMR_DINIE (1u << 0)
#define HASH_IMR_DCIE (1u << 1)

#define RNG_CR_IE (1u << 3)

typedef struct {
    REG CR, NDTR, PAR, M0AR, M1AR, FCR;
} DMA_Stream_TypeDef;

typedef struct {
    REG LISR, HISR, LIFCR, HIFCR;
    DMA_Stream_TypeDef S[8];
} DMA_TypeDef;

#define DMA2 ((DMA_TypeDef *)0x40026400u)
#define DMA_EN (1u << 0)
#define DMA_TO_PERIPHERAL (1u << 6)
#define DMA_PINC (1u << 9)
#define DMA_MINC (1u << 10)
#define DMA_PSIZE(log2) ((uint32_t)(log2) << 11)
#define DMA_MSIZE(log2) ((uint32_t)(log2) << 13)
#define DMA_CHANNEL(n) ((uint32_t)(n) << 25)

#define NVIC_ISER ((REG *)0xE000E100u)
#define NVIC_ICER ((REG *)0xE000E180u)
#define SCB_ICSR (*(REG *)0xE000ED04u)
#define SCB_ICSR_PENDSVSET (1u << 28)
#define SCB_VTOR (*(REG *)0xE000ED08u)
#define IRQ_HASH_RNG 80

#endif
