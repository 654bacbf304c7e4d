/* Included ahead of some modules of the library: wipe contexts, leave local variables alone.
 *
 * mbed TLS 2.5, which made the published rows, did not wipe the local variables of AES, SHA and DRBG; 2.28
 * does, which forces them into memory and costs AES-CBC a fifth. Contexts are wiped in both.
 * WIPED_CONTEXT: the module's context type.
 */
#ifndef WIPE_CONTEXTS_H
#define WIPE_CONTEXTS_H

#include "mbedtls/platform_util.h"

#define mbedtls_platform_zeroize(buffer, size)                                                                        \
    _Generic((buffer), WIPED_CONTEXT *: (mbedtls_platform_zeroize)((buffer), (size)), default: (void)(buffer))

#endif
