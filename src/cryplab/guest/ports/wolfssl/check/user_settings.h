/* wolfCrypt as `cryplab check` calls it: set up as for the other programs, with all modes of AES that it can call, and
 * with a mutex that keeps other tasks out.
 */
#ifndef CHECK_USER_SETTINGS_H
#define CHECK_USER_SETTINGS_H

#include "../user_settings.h"

#define WOLFSSL_AES_CFB
#define WOLFSSL_AES_OFB
#define WOLFSSL_AESGCM_STREAM

#undef SINGLE_THREADED
#define WOLFSSL_USER_MUTEX

struct check_mutex {
    unsigned taken;
};
typedef struct check_mutex wolfSSL_Mutex;

#endif
