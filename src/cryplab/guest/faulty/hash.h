/* Hashes and HMAC on HASH of F437/F439: the API of hash.c. */
#ifndef HASH_H
#define HASH_H

#include "faulty.h"

#define HASH_BLOCK 64u
#define HASH_FIRST 68u /* a block is worked on when the first word of the next one comes */
#define HASH_SWAP 54u  /* context-swap registers; a plain hash needs the first 38 */

struct hash {
    uint32_t algorithm;   /* ALGO, MODE and LKEY of CR */
    uint32_t stamp;       /* of the state that was saved last; 0: none */
    uint32_t *saved;      /* where the context-swap registers are kept: `swap` */
    uint32_t swap[HASH_SWAP];
    uint8_t rest[HASH_FIRST];
    size_t pending;       /* bytes in `rest` */
    int fed;              /* the engine has seen some of the message */
    size_t last_update;
    uint8_t key[128];     /* HMAC */
    size_t key_bytes;
};

void drv_md5_free(struct hash *ctx);
int drv_md5_starts(struct hash *ctx);
int drv_md5_update(struct hash *ctx, const uint8_t *in, size_t length);
int drv_md5_finish(struct hash *ctx, uint8_t *digest);
int drv_md5(const uint8_t *in, size_t length, uint8_t *digest);

void drv_sha1_free(struct hash *ctx);
int drv_sha1_starts(struct hash *ctx);
int drv_sha1_update(struct hash *ctx, const uint8_t *in, size_t length);
int drv_sha1_finish(struct hash *ctx, uint8_t *digest);
int drv_sha1(const uint8_t *in, size_t length, uint8_t *digest);

/* `is224`: 0 for SHA-256, 1 for SHA-224 */
void drv_sha256_free(struct hash *ctx);
int drv_sha256_starts(struct hash *ctx, int is224);
int drv_sha256_update(struct hash *ctx, const uint8_t *in, size_t length);
int drv_sha256_finish(struct hash *ctx, uint8_t *digest);
int drv_sha256(const uint8_t *in, size_t length, uint8_t *digest, int is224);
void drv_sha256_clone(struct hash *ctx, const struct hash *from);
/* The digest so far; the message goes on. */
int drv_sha256_peek(struct hash *ctx, uint8_t digest[32]);

/* HMAC-SHA-256; keys of 1 to 128 bytes */
int drv_hmac_starts(struct hash *ctx, const uint8_t *key, size_t key_length);
int drv_hmac_update(struct hash *ctx, const uint8_t *in, size_t length);
int drv_hmac_finish(struct hash *ctx, uint8_t mac[32]);

#endif
