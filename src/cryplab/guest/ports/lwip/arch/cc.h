/* What lwIP must know of compiler and platform: GCC for a little-endian Cortex-M, our console and RNG. */
#ifndef LWIP_ARCH_CC_H
#define LWIP_ARCH_CC_H

#include <stdint.h>

#include "console.h"

typedef uint32_t sys_prot_t;

/* A random word for ports, transaction ids and sequence numbers. */
uint32_t network_random(void);

#define LWIP_RAND() network_random()
#define LWIP_NO_UNISTD_H 1
#define LWIP_NO_INTTYPES_H 1
#define X8_F "02x"
#define U16_F "u"
#define S16_F "d"
#define X16_F "x"
#define U32_F "u"
#define S32_F "d"
#define X32_F "x"
#define SZT_F "u"
#define LWIP_PLATFORM_DIAG(arguments) console_printf arguments
#define LWIP_PLATFORM_ASSERT(text) network_assertion(text)

void network_assertion(const char *text) __attribute__((noreturn));

#endif
