/* The hash processor of F437/F439 for MD5, SHA-1, SHA-224 and SHA-256.
 *
 * The engine starts a block only when the first word of the next one is written, and its state can be
 * saved only between blocks. So a context feeds 17 words first and 16 at a time then, keeps the rest
 * (up to 67 bytes) in memory, and saves the engine's context-swap registers at the end of each call.
 */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_FIRST_BYTES 68 /* one block and the word that starts it */
#define HASH_BLOCK_BYTES 64
#define HASH_SWAP_WORDS 38  /* what a plain hash needs */

struct hash_context {
    uint32_t algorithm;              /* the ALGO bits of CR */
    uint32_t stamp;                  /* number of the save that made `swap`: equal to the engine's, the state is there */
    uint32_t swap[HASH_SWAP_WORDS];
    uint8_t fed;                     /* the engine has seen a block of this message */
    uint8_t pending;                 /* bytes in `rest` */
    unsigned char rest[HASH_FIRST_BYTES];
};

void hash_start(struct hash_context *ctx, uint32_t algorithm);
int hash_update(struct hash_context *ctx, const unsigned char *bytes, size_t length);
int hash_finish(struct hash_context *ctx, unsigned char *digest, size_t digest_bytes);

#endif
