/* AES context in the vendor's 2017 shape: a handle and the key's bytes. */
#ifndef AES_ALT_H
#define AES_ALT_H

#include "cryp_handle.h"

typedef struct mbedtls_aes_context {
    unsigned char key[32];
    struct cryp_handle handle;
} mbedtls_aes_context;

typedef struct mbedtls_aes_xts_context {
    mbedtls_aes_context crypt;
    mbedtls_aes_context tweak;
} mbedtls_aes_xts_context;

#endif
