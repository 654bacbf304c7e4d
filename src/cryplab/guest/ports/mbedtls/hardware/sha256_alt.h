/* SHA-224 and SHA-256 context of our HASH driver. */
#ifndef SHA256_ALT_H
#define SHA256_ALT_H

#include "hash.h"

typedef struct mbedtls_sha256_context {
    struct hash_context hash;
    int is224;
} mbedtls_sha256_context;

#endif
