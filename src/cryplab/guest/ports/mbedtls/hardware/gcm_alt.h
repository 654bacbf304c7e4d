/* GCM context of our CRYP driver: the key, and the engine's whole state between two calls. */
#ifndef GCM_ALT_H
#define GCM_ALT_H

#include "cryp.h"

typedef struct mbedtls_gcm_context {
    struct cryp_key key;
    uint32_t cr;                 /* mode, direction and data type of the message under way */
    uint32_t iv[4];              /* first counter block of the text; live IV registers between calls */
    uint32_t swap[16];           /* CSGCMCCM and CSGCM registers */
    uint32_t correction[4];      /* to be added to the tag when the IV is not 96 bits long */
    uint64_t add_bytes, text_bytes;
    unsigned char tail[16];      /* last short block of an encryption, zero padded ciphertext */
    unsigned tail_bytes;
    int decrypt;
} mbedtls_gcm_context;

#endif
