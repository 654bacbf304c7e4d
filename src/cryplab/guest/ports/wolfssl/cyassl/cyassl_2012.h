/* CyaSSL 2.4 for the rows that were published with it (`--source DIR`): what its settings.h has for the STM32F2, for a
 * compiler that has not Keil's intrinsics built in. Included ahead of every file of the library.
 */
#ifndef CYASSL_2012_H
#define CYASSL_2012_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SINGLE_THREADED
#define NO_FILESYSTEM
#define NO_MAIN_DRIVER
#define NO_TIME_H
#define NO_RABBIT
#define NO_HC128
#define NO_DSA
#define NO_MD4
#define CYASSL_USER_IO
#define NO_WRITEV
#if defined(CRYPLAB_MATH_FAST)
#define USE_FAST_MATH
#define TFM_TIMING_RESISTANT
#endif
#if defined(CRYPLAB_HARDWARE)
#define CYASSL_STM32F2
#else /* random numbers from the RNG, everything else by the library itself */
#define SIZEOF_LONG_LONG 8
#define NO_DEV_RANDOM
#define NO_CYASSL_DIR
#define STM32F2_RNG
#define KEIL_INTRINSICS
#endif

static inline uint32_t __rev(uint32_t word)
{
    return __builtin_bswap32(word);
}

#endif
