/* DES and triple DES contexts of our CRYP driver: the keys and the direction they were set for. */
#ifndef DES_ALT_H
#define DES_ALT_H

#include "cryp.h"

typedef struct mbedtls_des_context {
    struct cryp_key key;
    int decrypt;
} mbedtls_des_context;

typedef struct mbedtls_des3_context {
    struct cryp_key key;
    int decrypt;
} mbedtls_des3_context;

#endif
