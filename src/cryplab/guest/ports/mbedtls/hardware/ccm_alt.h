/* CCM context of our CRYP driver: the key; every call is a whole message. */
#ifndef CCM_ALT_H
#define CCM_ALT_H

#include "cryp.h"

typedef struct mbedtls_ccm_context {
    struct cryp_key key;
} mbedtls_ccm_context;

#endif
