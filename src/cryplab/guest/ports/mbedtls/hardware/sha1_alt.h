/* SHA-1 context of our HASH driver. */
#ifndef SHA1_ALT_H
#define SHA1_ALT_H

#include "hash.h"

typedef struct mbedtls_sha1_context {
    struct hash_context hash;
} mbedtls_sha1_context;

#endif
