/* The cryptographic processor of F437/F439: keys, modes and blocks; used by the AES, GCM, CCM and DES drivers.
 *
 * Data go in and out as memory words with DATATYPE 8 bit, so bytes keep their order. A job is
 * cryp_open(), cryp_begin() with its own key, mode and IV, blocks, cryp_close(). Functions return 0, or
 * MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED when the block does not answer.
 */
#ifndef CRYP_H
#define CRYP_H

#include <stddef.h>

#include "bytes.h"
#include "engine.h"

struct cryp_key {
    uint32_t words[8]; /* as the registers K0LR to K3RR take them */
    uint32_t size;     /* the KEYSIZE field of CR */
    int set;
};

/* AES key of 128, 192 or 256 bits; -1 for any other size. */
int cryp_set_aes_key(struct cryp_key *key, const unsigned char *bytes, unsigned bits);

void cryp_open(void);
void cryp_close(void);

/* Configure and enable: `mode` is ALGOMODE with ALGODIR. AES-ECB and CBC decryption prepares the key first.
 * `iv`: 4 words in register order, or NULL. */
int cryp_begin(const struct cryp_key *key, uint32_t mode, const uint32_t *iv);

/* The same up to, not including, CRYPEN: for modes that load more before they start. Returns CR without CRYPEN. */
uint32_t cryp_configure(const struct cryp_key *key, uint32_t mode, const uint32_t *iv);

/* Whole 16-byte blocks through the engine, two under way at a time; `out` may be `in`. */
int cryp_blocks(const unsigned char *in, unsigned char *out, size_t blocks);

/* The same for the 8-byte blocks of DES. */
int cryp_blocks_des(const unsigned char *in, unsigned char *out, size_t blocks);

/* Wait until nothing is under way, then disable. */
int cryp_stop(void);

static inline void cryp_push(const unsigned char *block)
{
    CRYP->DIN = load_word(block);
    CRYP->DIN = load_word(block + 4);
    CRYP->DIN = load_word(block + 8);
    CRYP->DIN = load_word(block + 12);
}

static inline void cryp_pop(unsigned char *block)
{
    store_word(block, CRYP->DOUT);
    store_word(block + 4, CRYP->DOUT);
    store_word(block + 8, CRYP->DOUT);
    store_word(block + 12, CRYP->DOUT);
}

static inline int cryp_wait_result(void)
{
    return engine_wait(&CRYP->SR, CRYP_SR_OFNE, CRYP_SR_OFNE);
}

/* ---- GCM and CCM ---- */

/* AAD in pieces, given to the engine in zero padded blocks; the header phase must be under way. */
struct cryp_header {
    unsigned char block[16];
    unsigned used;
};

int cryp_header_add(struct cryp_header *header, const unsigned char *bytes, size_t length);
int cryp_header_end(struct cryp_header *header);

/* Start one block in counter mode with the present key and IV registers and this counter word; the GCM or CCM
 * state stays in the engine. `in` and `out`: 16 bytes. Leaves CRYPEN = 1. */
int cryp_counter_block(uint32_t cr, uint32_t counter, const unsigned char *in, unsigned char *out);

/* Constant time comparison; 0 when equal. */
int cryp_differs(const unsigned char *a, const unsigned char *b, size_t length);

#endif
