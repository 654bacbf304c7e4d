/* The eleven rows that were published for the STM32F2 in 2012, by calls of wolfCrypt: software against hardware.
 *
 * A row does what CTaoCrypt's benchmark of the time did: 1024 bytes a call; a cipher's key is set before the clock
 * starts; a digest is one message fed 1024 bytes at a time; RSA and DH have 2048 bits. Rows are left in
 * `cryplab_rows` (rows.h) and printed in the form of the time.
 */
#include <string.h>

#if defined(CRYPLAB_CYASSL)
#include "calls.h"
#else
#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/arc4.h>
#include <wolfssl/wolfcrypt/asn_public.h>
#include <wolfssl/wolfcrypt/des3.h>
#include <wolfssl/wolfcrypt/dh.h>
#include <wolfssl/wolfcrypt/md5.h>
#include <wolfssl/wolfcrypt/random.h>
#include <wolfssl/wolfcrypt/rsa.h>
#include <wolfssl/wolfcrypt/sha.h>
#include <wolfssl/wolfcrypt/sha256.h>
#include <wolfssl/wolfcrypt/wc_port.h>
#endif

#include "board.h"
#include "clock.h"
#include "console.h"
#include "ctaocrypt_keys.h"
#include "platform.h"
#include "rows.h"

#define CALL_BYTES 1024
#define KEY_BYTES 256
#define WARM_UP_CALLS 2
#define CALLS 32
#define ROWS 11

struct cryplab_row cryplab_rows[ROWS];
uint32_t cryplab_rows_count;

static byte plain[CALL_BYTES], cipher[CALL_BYTES];
static byte key[24], iv[16], digest[32];
static unsigned failures;
static WC_RNG rng;

static union {
    Aes aes;
    Arc4 arc4;
    Des des;
    Des3 des3;
    wc_Md5 md5;
    wc_Sha sha;
    wc_Sha256 sha256;
    RsaKey rsa;
    DhKey dh;
} context;

/* ---- rows ---- */

static struct cryplab_row *measure(const char *name, const char *unit, int (*run)(void), int (*end)(void),
                                   unsigned calls, unsigned bytes)
{
    struct cryplab_row *row = &cryplab_rows[cryplab_rows_count];
    int error = 0;
    uint64_t start = clock_cycles();
    for (unsigned i = 0; i < calls && error >= 0; i++) {
        error = run();
    }
    if (end != NULL && error >= 0) {
        error = end();
    }
    uint64_t finish = clock_cycles();
    *row = (struct cryplab_row){name, unit, calls, bytes * calls, start, finish - start};
    cryplab_rows_count++;
    if (error < 0) {
        console_printf("%-10s FAILED: %d\n", name, error);
        failures++;
        return NULL;
    }
    return row;
}

static unsigned thousandth(uint64_t cycles, unsigned scale)
{
    return (unsigned)((cycles * scale + BOARD_CORE_HZ / 2) / BOARD_CORE_HZ);
}

/* AES        1024 kB took 0.822 seconds,   1.22 MB/s */
static void throughput(const char *name, int (*prepare)(void), int (*run)(void), int (*end)(void))
{
    if (!cryplab_wanted(name)) {
        return;
    }
    int error = prepare();
    for (unsigned i = 0; i < WARM_UP_CALLS && error == 0; i++) {
        error = run();
    }
    if (error == 0 && end != NULL) {
        error = end();
    }
    if (error == 0) {
        error = prepare();
    }
    if (error != 0) {
        console_printf("%-10s FAILED: %d\n", name, error);
        failures++;
        return;
    }
    const struct cryplab_row *row = measure(name, "MB/s", run, end, CALLS, CALL_BYTES);
    if (row != NULL) {
        unsigned milliseconds = thousandth(row->cycles, 1000);
        uint64_t hundredths = (uint64_t)row->bytes * BOARD_CORE_HZ * 100 / row->cycles;
        unsigned speed = (unsigned)((hundredths + (1u << 19)) >> 20);
        console_printf("%-8s %6u kB took %u.%03u seconds, %3u.%02u MB/s\n", name, (unsigned)row->bytes / 1024,
                       milliseconds / 1000, milliseconds % 1000, speed / 100, speed % 100);
    }
}

/* RSA 2048 encryption took 111.17 milliseconds, avg over 1 iterations */
static void key_operation(const char *name, int (*run)(void))
{
    const struct cryplab_row *row = cryplab_wanted(name) ? measure(name, "ms", run, NULL, 1, 0) : NULL;
    if (row != NULL) {
        unsigned hundredths = thousandth(row->cycles, 100000);
        console_printf("%s took %u.%02u milliseconds, avg over %u iterations\n", name, hundredths / 100,
                       hundredths % 100, (unsigned)row->calls);
    }
}

/* ---- ciphers ---- */

static int prepare_aes(void)
{
    int error = wc_AesInit(&context.aes, NULL, INVALID_DEVID);
    return error ? error : wc_AesSetKey(&context.aes, key, 16, iv, AES_ENCRYPTION);
}
static int run_aes(void) { return wc_AesCbcEncrypt(&context.aes, plain, cipher, CALL_BYTES); }

static int prepare_arc4(void)
{
    int error = wc_Arc4Init(&context.arc4, NULL, INVALID_DEVID);
    return error ? error : wc_Arc4SetKey(&context.arc4, key, 16);
}
static int run_arc4(void) { return wc_Arc4Process(&context.arc4, cipher, plain, CALL_BYTES); }

static int prepare_des(void) { return wc_Des_SetKey(&context.des, key, iv, DES_ENCRYPTION); }
static int run_des(void) { return wc_Des_CbcEncrypt(&context.des, plain, cipher, CALL_BYTES); }

static int prepare_des3(void)
{
    int error = wc_Des3Init(&context.des3, NULL, INVALID_DEVID);
    return error ? error : wc_Des3_SetKey(&context.des3, key, iv, DES_ENCRYPTION);
}
static int run_des3(void) { return wc_Des3_CbcEncrypt(&context.des3, plain, cipher, CALL_BYTES); }

/* ---- digests ---- */

static int prepare_md5(void) { return wc_InitMd5(&context.md5); }
static int run_md5(void) { return wc_Md5Update(&context.md5, plain, CALL_BYTES); }
static int end_md5(void) { return wc_Md5Final(&context.md5, digest); }

static int prepare_sha(void) { return wc_InitSha(&context.sha); }
static int run_sha(void) { return wc_ShaUpdate(&context.sha, plain, CALL_BYTES); }
static int end_sha(void) { return wc_ShaFinal(&context.sha, digest); }

static int prepare_sha256(void) { return wc_InitSha256(&context.sha256); }
static int run_sha256(void) { return wc_Sha256Update(&context.sha256, plain, CALL_BYTES); }
static int end_sha256(void) { return wc_Sha256Final(&context.sha256, digest); }

/* ---- public keys ---- */

static byte number[KEY_BYTES], other[KEY_BYTES], secret[KEY_BYTES], agreed[KEY_BYTES];
static word32 secret_bytes, other_bytes, agreed_bytes;
static const byte message[] = "Everyone gets Friday off.";

static int run_rsa_encryption(void)
{
    return wc_RsaPublicEncrypt(message, sizeof message - 1, number, sizeof number, &context.rsa, &rng);
}
static int run_rsa_decryption(void)
{
    return wc_RsaPrivateDecrypt(number, sizeof number, other, sizeof other, &context.rsa);
}

static void rsa_rows(void)
{
    if (!cryplab_wanted("RSA 2048 encryption") && !cryplab_wanted("RSA 2048 decryption")) {
        return;
    }
    word32 at = 0;
    int error = wc_InitRsaKey(&context.rsa, NULL);
    error = error ? error
                  : wc_RsaPrivateKeyDecode(rsa_key, &at, &context.rsa, sizeof rsa_key);
#if defined(WC_RSA_BLINDING)
    error = error ? error : wc_RsaSetRNG(&context.rsa, &rng);
#endif
    if (error == 0 && !cryplab_wanted("RSA 2048 encryption")) {
        error = run_rsa_encryption() < 0;
    }
    if (error != 0) {
        console_printf("RSA FAILED: %d\n", error);
        failures++;
        return;
    }
    key_operation("RSA 2048 encryption", run_rsa_encryption);
    key_operation("RSA 2048 decryption", run_rsa_decryption);
    if (cryplab_wanted("RSA 2048 decryption") && memcmp(other, message, sizeof message - 1) != 0) {
        console_printf("RSA FAILED: what came back is not what went in\n");
        failures++;
    }
    wc_FreeRsaKey(&context.rsa);
}

static int make_pair(byte *own, word32 *own_bytes, byte *public, word32 *public_bytes)
{
    *own_bytes = *public_bytes = KEY_BYTES;
    return wc_DhGenerateKeyPair(&context.dh, &rng, own, own_bytes, public, public_bytes);
}
static int run_dh_generation(void) { return make_pair(secret, &secret_bytes, number, &agreed_bytes); }
static int run_dh_agreement(void)
{
    agreed_bytes = KEY_BYTES;
    return wc_DhAgree(&context.dh, agreed, &agreed_bytes, secret, secret_bytes, other, other_bytes);
}

static void dh_rows(void)
{
    if (!cryplab_wanted("DH 2048 key generation") && !cryplab_wanted("DH 2048 key agreement")) {
        return;
    }
    static byte other_secret[KEY_BYTES];
    word32 other_secret_bytes, at = 0;
    int error = wc_InitDhKey(&context.dh);
    error = error ? error : wc_DhKeyDecode(dh_group, &at, &context.dh, sizeof dh_group);
    error = error ? error : make_pair(other_secret, &other_secret_bytes, other, &other_bytes);
    if (error == 0 && !cryplab_wanted("DH 2048 key generation")) {
        error = run_dh_generation();
    }
    if (error != 0) {
        console_printf("DH FAILED: %d\n", error);
        failures++;
        return;
    }
    key_operation("DH 2048 key generation", run_dh_generation);
    key_operation("DH 2048 key agreement", run_dh_agreement);
    wc_FreeDhKey(&context.dh);
}

int main(void)
{
    platform_init();
    for (unsigned i = 0; i < sizeof key; i++) {
        key[i] = (byte)(0x13 * i + 0x27);
    }
    int error = wolfCrypt_Init();
    error = error ? error : wc_InitRng(&rng);
    if (error != 0) {
        console_printf("wolfCrypt FAILED to start: %d\n", error);
        return 1;
    }
    throughput("AES", prepare_aes, run_aes, NULL);
    throughput("ARC4", prepare_arc4, run_arc4, NULL);
    throughput("DES", prepare_des, run_des, NULL);
    throughput("3DES", prepare_des3, run_des3, NULL);
    console_printf("\n");
    throughput("MD5", prepare_md5, run_md5, end_md5);
    throughput("SHA", prepare_sha, run_sha, end_sha);
    throughput("SHA-256", prepare_sha256, run_sha256, end_sha256);
    console_printf("\n");
    rsa_rows();
    dh_rows();
    return failures != 0;
}
