/* MD5 context of our HASH driver. */
#ifndef MD5_ALT_H
#define MD5_ALT_H

#include "hash.h"

typedef struct mbedtls_md5_context {
    struct hash_context hash;
} mbedtls_md5_context;

#endif
