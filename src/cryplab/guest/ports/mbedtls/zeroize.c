/* Wiping memory byte by byte, as mbed TLS 2.5 wiped its contexts; the library's own way since is memset. */
#include <stddef.h>

#if __has_include("mbedtls/platform_util.h") /* since 2.10 */
#include "mbedtls/platform_util.h"

void mbedtls_platform_zeroize(void *buffer, size_t size)
{
    volatile unsigned char *byte = buffer;
    while (size--) {
        *byte++ = 0;
    }
}
#endif
