/* AES and DES on CRYP: the API of aes.c. */
#ifndef AES_H
#define AES_H

#include "faulty.h"

struct aes {
    uint32_t key[8];            /* as K0LR to K3RR take them */
    uint32_t size;              /* KEYSIZE field of CR */
    const uint8_t *key_pointer; /* for one of the faults */
    unsigned bits;
    int loaded;                 /* for faults that remember */
};

enum direction { DECRYPT, ENCRYPT };

void drv_aes_init(struct aes *ctx);
void drv_aes_free(struct aes *ctx);
int drv_aes_setkey(struct aes *ctx, const uint8_t *key, unsigned bits);
int drv_aes_ecb(struct aes *ctx, int direction, size_t length, const uint8_t *in, uint8_t *out);
int drv_aes_cbc(struct aes *ctx, int direction, size_t length, uint8_t iv[16], const uint8_t *in, uint8_t *out);
/* `offset` bytes of the key-stream block are used up; `counter` is the next block's. */
int drv_aes_ctr(struct aes *ctx, size_t length, size_t *offset, uint8_t counter[16], uint8_t stream[16],
                const uint8_t *in, uint8_t *out);
int drv_des_setkey(struct aes *ctx, const uint8_t key[8]);
int drv_des_ecb(struct aes *ctx, int direction, const uint8_t in[8], uint8_t out[8]);

#endif
