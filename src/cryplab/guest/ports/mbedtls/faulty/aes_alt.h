/* AES context of the faulty build: beside the key it remembers for what the key was loaded. */
#ifndef AES_ALT_H
#define AES_ALT_H

#include "cryp.h"

typedef struct mbedtls_aes_context {
    struct cryp_key key;
    uint32_t loaded; /* mode for which the key registers were loaded, plus 1; 0: not yet */
} mbedtls_aes_context;

typedef struct mbedtls_aes_xts_context {
    mbedtls_aes_context crypt;
    mbedtls_aes_context tweak;
} mbedtls_aes_xts_context;

#endif
