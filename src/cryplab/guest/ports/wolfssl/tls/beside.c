/* See programs/beside.h: wolfSSL. */
#include "beside.h"

#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/sha256.h>

int beside_work(struct beside *beside)
{
    Aes aes;
    wc_Sha256 sha;
    int error = wc_AesInit(&aes, NULL, INVALID_DEVID);
    error = error ? error : wc_AesSetKey(&aes, beside->key, 32, beside->iv, AES_ENCRYPTION);
    error = error ? error : wc_AesCbcEncrypt(&aes, beside->cipher, beside->text, BESIDE_BYTES);
    error = error ? error : wc_AesSetKey(&aes, beside->key, 32, beside->iv, AES_DECRYPTION);
    error = error ? error : wc_AesCbcDecrypt(&aes, beside->back, beside->cipher, BESIDE_BYTES);
    wc_AesFree(&aes);
    error = error ? error : wc_InitSha256(&sha);
    error = error ? error : wc_Sha256Update(&sha, beside->text, BESIDE_BYTES);
    return error ? error : wc_Sha256Final(&sha, beside->digest);
}
