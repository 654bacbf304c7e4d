/* AES context of our CRYP driver: the key, and nothing that lives in the engine. */
#ifndef AES_ALT_H
#define AES_ALT_H

#include "cryp.h"

typedef struct mbedtls_aes_context {
    struct cryp_key key;
} mbedtls_aes_context;

typedef struct mbedtls_aes_xts_context {
    mbedtls_aes_context crypt;
    mbedtls_aes_context tweak;
} mbedtls_aes_xts_context;

#endif
