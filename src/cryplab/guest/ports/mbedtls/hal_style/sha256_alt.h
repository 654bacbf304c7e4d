/* SHA-224 and SHA-256 context in the vendor's 2017 shape: a buffer of one block and a saved hash context. */
#ifndef SHA256_ALT_H
#define SHA256_ALT_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SWAP_WORDS 38
#define SHA256_BUFFER_BYTES 68 /* a block and the word that starts it */

typedef struct mbedtls_sha256_context {
    uint32_t saved_cr, saved_str;
    uint32_t saved[SHA256_SWAP_WORDS];
    unsigned char buffer[SHA256_BUFFER_BYTES];
    uint8_t buffered;
    uint8_t fed; /* the engine has seen a block of this message */
    int is224;
} mbedtls_sha256_context;

#endif
