/* CRYP, HASH and RNG as vendor libraries drive them: polling, interrupts, DMA with interrupts. */
#include <string.h>
#include "hal.h"

/* NIST SP 800-38A, F.2.1: AES-128-CBC */
static const uint8_t key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static const uint8_t iv[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t plain[64] = {
    0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a,
    0xae, 0x2d, 0x8a, 0x57, 0x1e, 0x03, 0xac, 0x9c, 0x9e, 0xb7, 0x6f, 0xac, 0x45, 0xaf, 0x8e, 0x51,
    0x30, 0xc8, 0x1c, 0x46, 0xa3, 0x5c, 0xe4, 0x11, 0xe5, 0xfb, 0xc1, 0x19, 0x1a, 0x0a, 0x52, 0xef,
    0xf6, 0x9f, 0x24, 0x45, 0xdf, 0x4f, 0x9b, 0x17, 0xad, 0x2b, 0x41, 0x7b, 0xe6, 0x6c, 0x37, 0x10,
};
static const uint8_t secret[64] = {
    0x76, 0x49, 0xab, 0xac, 0x81, 0x19, 0xb2, 0x46, 0xce, 0xe9, 0x8e, 0x9b, 0x12, 0xe9, 0x19, 0x7d,
    0x50, 0x86, 0xcb, 0x9b, 0x50, 0x72, 0x19, 0xee, 0x95, 0xdb, 0x11, 0x3a, 0x91, 0x76, 0x78, 0xb2,
    0x73, 0xbe, 0xd6, 0xb8, 0xe3, 0xc1, 0x74, 0x3b, 0x71, 0x16, 0xe6, 0x9e, 0x22, 0x22, 0x95, 0x16,
    0x3f, 0xf1, 0xca, 0xa1, 0x68, 0x1f, 0xac, 0x09, 0x12, 0x0e, 0xca, 0x30, 0x75, 0x86, 0xe1, 0xa7,
};
/* FIPS 180: SHA-256 of "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq" */
static const char message[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
static const uint32_t digest[8] = {
    0x248d6a61, 0xd20638b8, 0xe5c02693, 0x0c3e6039, 0xa33ce459, 0x64ff2167, 0xf6ecedd4, 0x19db06c1,
};

static uint32_t in[16], out[16];
static volatile uint32_t in_left, out_left, out_done, hash_done, words_drawn, draws[8];

static uint32_t big_endian(const uint8_t *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }

static void cryp_init(int decrypt)
{
    REG(CRYP) &= ~(1u << 15);
    REG(CRYP) |= 1u << 14;
    if (decrypt) {
        REG(CRYP) = 7u << 3;
        for (int i = 0; i < 4; i++) {
            REG(CRYP + 0x30 + 4 * i) = big_endian(key + 4 * i);
        }
        REG(CRYP) |= 1u << 15;
        (void)hal_wait(CRYP + 4, 1u << 4, 0, 10);
        while (REG(CRYP) & 1u << 15) {
        }
    }
    REG(CRYP) = 5u << 3 | 2u << 6 | (decrypt ? 4u : 0);
    for (int i = 0; i < 4; i++) {
        if (!decrypt) {
            REG(CRYP + 0x30 + 4 * i) = big_endian(key + 4 * i);
        }
        REG(CRYP + 0x40 + 4 * i) = big_endian(iv + 4 * i);
    }
    REG(CRYP) |= 1u << 14;
}

static int cryp_poll(int decrypt)
{
    memcpy(in, decrypt ? secret : plain, 64);
    cryp_init(decrypt);
    REG(CRYP) |= 1u << 15;
    for (int block = 0; block < 16; block += 4) {
        for (int i = 0; i < 4; i++) {
            REG(CRYP + 8) = in[block + i];
        }
        if (hal_wait(CRYP + 4, 1u << 2, 1u << 2, 10)) {
            return 0;
        }
        for (int i = 0; i < 4; i++) {
            out[block + i] = REG(CRYP + 0x0C);
        }
    }
    REG(CRYP) &= ~(1u << 15);
    return !memcmp(out, decrypt ? plain : secret, 64);
}

static int cryp_interrupt(int decrypt)
{
    memcpy(in, decrypt ? secret : plain, 64);
    memset(out, 0, sizeof out);
    in_left = out_left = 16;
    cryp_init(decrypt);
    hal_enable_irq(79, 4);
    REG(CRYP + 0x14) = 3;
    REG(CRYP) |= 1u << 15;
    uint32_t start = tick_ms;
    while (out_left && tick_ms - start < 10) {
    }
    REG(CRYP) &= ~(1u << 15);
    return !memcmp(out, decrypt ? plain : secret, 64);
}

void CRYP_IRQHandler(void)
{
    uint32_t pending = REG(CRYP + 0x1C);
    if (pending & 1) {
        if (in_left) {
            REG(CRYP + 8) = in[16 - in_left];
            in_left--;
        } else {
            REG(CRYP + 0x14) &= ~1u;
        }
    }
    if (pending & 2) {
        out[16 - out_left] = REG(CRYP + 0x0C);
        if (--out_left == 0) {
            REG(CRYP + 0x14) = 0;
        }
    }
}

static void stream(uint32_t number, uint32_t channel, uint32_t peripheral, const void *memory, uint32_t words, uint32_t more)
{
    uint32_t base = DMA2 + 0x10 + 0x18 * number;
    static const uint8_t place[4] = {0, 6, 16, 22};
    REG(base) &= ~1u;
    (void)hal_wait(base, 1, 0, 5);
    REG(DMA2 + (number < 4 ? 8 : 12)) = 0x3Du << place[number % 4];
    REG(base + 0x04) = words;
    REG(base + 0x08) = peripheral;
    REG(base + 0x0C) = (uint32_t)memory;
    REG(base + 0x14) = 0;
    REG(base) = channel << 25 | 3u << 16 | 2u << 13 | 2u << 11 | 1u << 10 | 1u << 4 | 1u << 2 | more;
    REG(base) |= 1;
}

static int cryp_dma(int decrypt)
{
    memcpy(in, decrypt ? secret : plain, 64);
    memset(out, 0, sizeof out);
    out_done = 0;
    REG(RCC + 0x30) |= 1u << 22;
    cryp_init(decrypt);
    hal_enable_irq(68, 4);
    hal_enable_irq(69, 4);
    REG(CRYP) |= 1u << 15;
    stream(6, 2, CRYP + 8, in, 16, 1u << 6);
    stream(5, 2, CRYP + 0x0C, out, 16, 0);
    REG(CRYP + 0x10) = 3;
    uint32_t start = tick_ms;
    while (!out_done && tick_ms - start < 10) {
        __asm__ volatile("wfi");
    }
    REG(CRYP + 0x10) = 0;
    REG(CRYP) &= ~(1u << 15);
    return !memcmp(out, decrypt ? plain : secret, 64);
}

void DMA2_Stream6_IRQHandler(void)
{
    REG(DMA2 + 0x0C) = 0x3Du << 16;
    REG(CRYP + 0x10) &= ~1u;
}

void DMA2_Stream5_IRQHandler(void)
{
    REG(DMA2 + 0x0C) = 0x3Du << 6;
    out_done = 1;
}

static int digest_is_right(void)
{
    int good = 1;
    for (int i = 0; i < 8; i++) {
        good &= REG(HASH + 0x310 + 4 * i) == digest[i];
    }
    return good;
}

static int hash_poll(void)
{
    memcpy(in, message, 56);
    REG(HASH) = 1u << 18 | 1u << 7 | 2u << 4 | 1u << 2;
    REG(HASH + 8) = 0;
    for (int i = 0; i < 14; i++) {
        REG(HASH + 4) = in[i];
    }
    REG(HASH + 8) |= 1u << 8;
    return hal_wait(HASH + 0x24, 2, 2, 10) == HAL_OK && digest_is_right();
}

static int hash_dma(void)
{
    memcpy(in, message, 56);
    hash_done = 0;
    REG(HASH) = 1u << 18 | 1u << 7 | 2u << 4 | 1u << 2;
    REG(HASH + 8) = 0;
    REG(HASH + 0x20) = 2; /* DCIE */
    hal_enable_irq(80, 4);
    hal_enable_irq(70, 4);
    stream(7, 2, HASH + 4, in, 14, 1u << 6);
    REG(HASH) |= 1u << 3;
    uint32_t start = tick_ms;
    while (!hash_done && tick_ms - start < 10) {
        __asm__ volatile("wfi");
    }
    return digest_is_right();
}

void DMA2_Stream7_IRQHandler(void) { REG(DMA2 + 0x0C) = 0x3Du << 22; }

void HASH_RNG_IRQHandler(void)
{
    if (REG(HASH + 0x20) & 2 && REG(HASH + 0x24) & 2) {
        REG(HASH + 0x20) = 0;
        hash_done = 1;
    }
    if (REG(RNG + 4) & 1) {
        uint32_t word = REG(RNG + 8);
        if (words_drawn < 8) {
            draws[words_drawn++] = word;
        } else {
            REG(RNG) = 0;
        }
    }
}

static int rng_interrupt(void)
{
    int different = 1;
    hal_enable_irq(80, 4);
    REG(RNG) = 3u << 2;
    uint32_t start = tick_ms;
    while (words_drawn < 8 && tick_ms - start < 10) {
    }
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < i; k++) {
            different &= draws[i] != draws[k];
        }
    }
    return words_drawn == 8 && different;
}

void crypto_checks(void)
{
    REG(RCC + 0x34) |= 7u << 4;
    (void)REG(RCC + 0x34);
    check("AES-CBC by polling", cryp_poll(0) && cryp_poll(1));
    check("AES-CBC by interrupt", cryp_interrupt(0) && cryp_interrupt(1));
    check("AES-CBC by DMA", cryp_dma(0) && cryp_dma(1));
    check("SHA-256 by polling", hash_poll());
    check("SHA-256 by DMA", hash_dma());
    check("RNG by interrupt", rng_interrupt());
}
