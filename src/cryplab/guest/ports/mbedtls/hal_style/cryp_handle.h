/* CRYP by polling in the shape of a vendor library of 2017: a handle, one function per mode, a tick for time-outs.
 *
 * Published hardware rows were made with such a driver. Shape, not text: per 16 bytes four stores to
 * DIN, one call for the tick, a loop on SR.OFNE that looks at the time-out at each turn, four loads
 * from DOUT; handle state and lock around each call. Unlike the driver of 2017 this one loads key and
 * mode whenever another key or mode was in the block before, and the IV at every call: contexts may be
 * interleaved. `key_number` is new at each key set and never used twice.
 */
#ifndef CRYP_HANDLE_H
#define CRYP_HANDLE_H

#include <stdint.h>

#include "stm32f4.h"

enum cryp_status { CRYP_OK, CRYP_BUSY, CRYP_TIMEOUT };
enum cryp_state { CRYP_STATE_RESET, CRYP_STATE_READY, CRYP_STATE_BUSY, CRYP_STATE_TIMEOUT };
enum cryp_phase { CRYP_PHASE_READY, CRYP_PHASE_PROCESS };

#define CRYP_NO_LIMIT 0xFFFFFFFFu

struct cryp_handle {
    CRYP_TypeDef *instance;
    uint32_t data_type, key_size;
    uint8_t *key, *iv;
    uint32_t key_number;
    uint8_t locked;
    volatile enum cryp_state state;
    enum cryp_phase phase;
};

void cryp_handle_init(struct cryp_handle *handle);
enum cryp_status cryp_aes_ecb_encrypt(struct cryp_handle *handle, uint8_t *in, uint16_t size, uint8_t *out, uint32_t limit);
enum cryp_status cryp_aes_ecb_decrypt(struct cryp_handle *handle, uint8_t *in, uint16_t size, uint8_t *out, uint32_t limit);
enum cryp_status cryp_aes_cbc_encrypt(struct cryp_handle *handle, uint8_t *in, uint16_t size, uint8_t *out, uint32_t limit);
enum cryp_status cryp_aes_cbc_decrypt(struct cryp_handle *handle, uint8_t *in, uint16_t size, uint8_t *out, uint32_t limit);

#endif
