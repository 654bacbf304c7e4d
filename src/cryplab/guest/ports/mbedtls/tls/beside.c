/* See programs/beside.h: mbed TLS. */
#include "beside.h"

#include <string.h>

#include "mbedtls/aes.h"
#include "mbedtls/sha256.h"

static int cipher(struct beside *beside, int mode, const unsigned char *from, unsigned char *to)
{
    mbedtls_aes_context aes;
    unsigned char iv[16];
    memcpy(iv, beside->iv, sizeof iv);
    mbedtls_aes_init(&aes);
    int error = mode == MBEDTLS_AES_ENCRYPT ? mbedtls_aes_setkey_enc(&aes, beside->key, 256)
                                            : mbedtls_aes_setkey_dec(&aes, beside->key, 256);
    error = error != 0 ? error : mbedtls_aes_crypt_cbc(&aes, mode, BESIDE_BYTES, iv, from, to);
    mbedtls_aes_free(&aes);
    return error;
}

int beside_work(struct beside *beside)
{
    int error = cipher(beside, MBEDTLS_AES_ENCRYPT, beside->text, beside->cipher);
    error = error != 0 ? error : cipher(beside, MBEDTLS_AES_DECRYPT, beside->cipher, beside->back);
    return error != 0 ? error : mbedtls_sha256_ret(beside->text, BESIDE_BYTES, beside->digest, 0);
}
