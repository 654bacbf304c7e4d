/* A computation that an interrupt may cut anywhere without changing what comes out.
 *
 * SHA-256 and AES-128 in software, code full of IT blocks, and floating point in single precision. The
 * interrupt handler counts, and spoils every register and flag that it may. Results are left in `results`;
 * the test pends the interrupt after every so many cycles and compares with a run that was left alone.
 */
#include "start.h"

#define SYSTICK ((volatile uint32_t *)0xE000E010)
#define ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define LENGTH 192

#ifndef PERIOD
#define PERIOD 0 /* cycles between interrupts of SysTick; 0: off */
#endif

struct {
    uint32_t digest[8];
    uint8_t cipher[64];
    uint32_t conditions;
    float sum, products[8];
} results;
volatile uint32_t interrupts;

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* SHA-256 of a message of whole blocks less 9 bytes of padding. */
static void sha256(const uint8_t *message, uint32_t length, uint32_t *state)
{
    static const uint32_t start[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    uint32_t w[64];
    for (int i = 0; i < 8; i++) {
        state[i] = start[i];
    }
    for (uint32_t at = 0; at < length + 9; at += 64) {
        for (uint32_t i = 0; i < 16; i++) {
            w[i] = 0;
            for (uint32_t b = 0; b < 4; b++) {
                uint32_t place = at + 4 * i + b;
                w[i] = w[i] << 8 | (place < length ? message[place] : place == length ? 0x80 : 0);
            }
        }
        if (at + 64 >= length + 9) {
            w[15] = 8 * length;
        }
        for (int i = 16; i < 64; i++) {
            uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + (ROTATE(a, 7) ^ ROTATE(a, 18) ^ a >> 3) + (ROTATE(b, 17) ^ ROTATE(b, 19) ^ b >> 10);
        }
        uint32_t v[8];
        for (int i = 0; i < 8; i++) {
            v[i] = state[i];
        }
        for (int i = 0; i < 64; i++) {
            uint32_t e = v[4], a = v[0];
            uint32_t t1 = v[7] + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + K[i] + w[i];
            uint32_t t2 = (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
            v[7] = v[6], v[6] = v[5], v[5] = e, v[4] = v[3] + t1, v[3] = v[2], v[2] = v[1], v[1] = a, v[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) {
            state[i] += v[i];
        }
    }
}

/* AES-128 by the letter: the S-box computed, one state of bytes. */
static uint8_t sbox[256];

static uint8_t doubled(uint8_t x) { return (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1B : 0)); }

static void make_sbox(void)
{
    uint8_t p = 1, q = 1;
    do {
        p = (uint8_t)(p ^ doubled(p));
        q ^= (uint8_t)(q << 1), q ^= (uint8_t)(q << 2), q ^= (uint8_t)(q << 4);
        q ^= q & 0x80 ? 0x09 : 0;
        uint8_t r1 = (uint8_t)(q << 1 | q >> 7), r2 = (uint8_t)(q << 2 | q >> 6), r3 = (uint8_t)(q << 3 | q >> 5),
                r4 = (uint8_t)(q << 4 | q >> 4);
        sbox[p] = q ^ r1 ^ r2 ^ r3 ^ r4 ^ 0x63;
    } while (p != 1);
    sbox[0] = 0x63;
}

static void aes(const uint8_t *key, const uint8_t *in, uint8_t *out)
{
    uint8_t k[176], s[16], t[16], round_constant = 1;
    for (int i = 0; i < 16; i++) {
        k[i] = key[i];
    }
    for (int i = 16; i < 176; i += 4) {
        uint8_t w[4] = {k[i - 4], k[i - 3], k[i - 2], k[i - 1]};
        if (i % 16 == 0) {
            uint8_t first = w[0];
            w[0] = sbox[w[1]] ^ round_constant, w[1] = sbox[w[2]], w[2] = sbox[w[3]], w[3] = sbox[first];
            round_constant = doubled(round_constant);
        }
        for (int b = 0; b < 4; b++) {
            k[i + b] = k[i + b - 16] ^ w[b];
        }
    }
    for (int i = 0; i < 16; i++) {
        s[i] = in[i] ^ k[i];
    }
    for (int round = 1; round <= 10; round++) {
        for (int i = 0; i < 16; i++) {
            t[i] = sbox[s[(i + 4 * (i % 4)) % 16]];
        }
        for (int i = 0; i < 16; i++) {
            const uint8_t *c = t + (i & ~3);
            uint8_t a = c[i % 4], b = c[(i + 1) % 4];
            s[i] = round == 10 ? t[i] : doubled(a) ^ doubled(b) ^ b ^ c[(i + 2) % 4] ^ c[(i + 3) % 4];
            s[i] ^= k[16 * round + i];
        }
    }
    for (int i = 0; i < 16; i++) {
        out[i] = s[i];
    }
}

/* Every length and pattern of IT blocks, with loads, stores and flags inside. */
static __attribute__((noinline)) uint32_t conditions(uint32_t n)
{
    uint32_t total = 0;
    static volatile uint32_t memory[4];
    for (uint32_t i = 0; i < n; i++) {
        __asm__ volatile(
            "cmp %1, #7           \n"
            "itttt gt             \n"
            "addgt %0, %0, #3     \n"
            "ldrgt r3, [%2]       \n"
            "addgt r3, r3, %1     \n"
            "strgt r3, [%2]       \n"
            "tst %1, #1           \n"
            "itete eq             \n"
            "addeq %0, %0, %1     \n"
            "subne %0, %0, #1     \n"
            "ldreq r3, [%2, #4]   \n"
            "ldrne r3, [%2, #8]   \n"
            "add %0, %0, r3       \n"
            "str %0, [%2, #4]     \n"
            "cmp %0, #0           \n"
            "it mi                \n"
            "mvnmi %0, %0         \n"
            "ite cs               \n"
            "strcs %0, [%2, #8]   \n"
            "strcc %1, [%2, #8]   \n"
            "adds r3, %0, %1      \n"
            "itt vc               \n"
            "adcvc %0, %0, #0     \n"
            "rorvc %0, %0, #5     \n"
            : "+r"(total)
            : "r"(i), "r"(memory)
            : "r3", "cc", "memory");
    }
    return total ^ memory[0];
}

static void floats(void)
{
    float x = 1.5f, sum = 0;
    for (int i = 0; i < 8; i++) {
        x = x * 1.25f - 0.125f;
        results.products[i] = x / (float)(i + 3);
        sum += results.products[i] * x;
    }
    results.sum = sum;
}

/* Counts and spoils what a handler may spoil. */
static __attribute__((always_inline)) inline void spoil(void)
{
    interrupts++;
    __asm__ volatile(
        "mov r0, #0x55        \n"
        "mov r1, r0           \n"
        "mov r2, r0           \n"
        "mov r3, r0           \n"
        "mov r12, r0          \n"
        "vmov s0, r0          \n"
        "vmov s7, r0          \n"
        "vmov s15, r0         \n"
        "vcmp.f32 s0, s7      \n"
        "vmrs APSR_nzcv, fpscr\n"
        "cmp r0, #0           \n"
        "itt ne               \n"
        "addne r1, r1, #1     \n"
        "addne r2, r2, #1     \n"
        ::: "r0", "r1", "r2", "r3", "r12", "s0", "s7", "s15", "cc");
}

void SysTick_Handler(void) { spoil(); }
void Any_IRQHandler(void) { spoil(); }

int main(void)
{
    static uint8_t message[LENGTH];
    uint8_t key[16];
    *(volatile uint32_t *)0xE000E100 = 1; /* interrupt 0, which nothing else drives */
    if (PERIOD) {
        SYSTICK[1] = PERIOD ? PERIOD - 1 : 0;
        SYSTICK[2] = 0;
        SYSTICK[0] = 7;
    }
    for (uint32_t i = 0; i < LENGTH; i++) {
        message[i] = (uint8_t)(5 * i + 1);
    }
    for (uint32_t i = 0; i < 16; i++) {
        key[i] = (uint8_t)(16 * i + 3);
    }
    make_sbox();
    sha256(message, LENGTH, results.digest);
    for (int i = 0; i < 4; i++) {
        aes(key, message + 16 * i, results.cipher + 16 * i);
    }
    results.conditions = conditions(40);
    floats();
    return 0;
}
