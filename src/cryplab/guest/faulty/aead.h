/* AES-GCM and AES-CCM on CRYP: the API of aead.c. Directions as in aes.h: 1 encrypts. */
#ifndef AEAD_H
#define AEAD_H

#include "faulty.h"

struct aead {
    uint32_t key[8];      /* as K0LR to K3RR take them */
    uint32_t size;        /* KEYSIZE field of CR */
    unsigned bits;
    uint32_t cr;          /* mode, direction, key size, data type */
    uint32_t iv[4];
    uint32_t swap[16];    /* CSGCMCCM0R to 7R, CSGCM0R to 7R */
    size_t aad_bytes, text_bytes;
    uint8_t tail[16];     /* ciphertext of a short last block, zero padded */
    size_t tail_bytes;
    uint8_t scratch[16];  /* for one of the faults */
    int started;
};

int drv_gcm_setkey(struct aead *ctx, const uint8_t *key, unsigned bits);
int drv_gcm_crypt(struct aead *ctx, int direction, size_t length, const uint8_t *iv, size_t iv_length,
                  const uint8_t *aad, size_t aad_length, const uint8_t *in, uint8_t *out, uint8_t *tag,
                  size_t tag_length);
int drv_gcm_open(struct aead *ctx, size_t length, const uint8_t *iv, size_t iv_length, const uint8_t *aad,
                 size_t aad_length, const uint8_t *tag, size_t tag_length, const uint8_t *in, uint8_t *out);
int drv_gcm_start(struct aead *ctx, int direction, const uint8_t *iv, size_t iv_length, const uint8_t *aad,
                  size_t aad_length);
int drv_gcm_update(struct aead *ctx, size_t length, const uint8_t *in, uint8_t *out);
int drv_gcm_finish(struct aead *ctx, uint8_t *tag, size_t tag_length);
int drv_ccm_setkey(struct aead *ctx, const uint8_t *key, unsigned bits);
int drv_ccm_seal(struct aead *ctx, size_t length, const uint8_t *iv, size_t iv_length, const uint8_t *aad,
                 size_t aad_length, const uint8_t *in, uint8_t *out, uint8_t *tag, size_t tag_length);
int drv_ccm_open(struct aead *ctx, size_t length, const uint8_t *iv, size_t iv_length, const uint8_t *aad,
                 size_t aad_length, const uint8_t *in, uint8_t *out, const uint8_t *tag, size_t tag_length);

#endif
