/* The benchmark of mbed TLS as published in 2017 for the u-blox C030: the same rows, in order, then
 * SHA-1, MD5, DES and 3DES. It shows what a library call costs from the caller's side.
 *
 * Symmetric rows: one-shot calls over 1024 bytes; a few calls warm caches up, the next ones are
 * counted in core cycles. Key operations are single shots, as they were published: RSA from fixed
 * keys, the public operation first (it also prepares the modulus), elliptic curves from a freshly
 * loaded group. Random bytes come from rand(), so every run does the same work.
 */
#include <stdlib.h>
#include <string.h>

#include "before_2_7.h"
#include "benchmark_keys.h"
#include "clock.h"
#include "console.h"
#include "mbedtls/aes.h"
#include "mbedtls/ccm.h"
#include "mbedtls/ctr_drbg.h"
#include "mbedtls/des.h"
#include "mbedtls/ecdh.h"
#include "mbedtls/gcm.h"
#include "mbedtls/hmac_drbg.h"
#include "mbedtls/md5.h"
#include "mbedtls/rsa.h"
#include "mbedtls/sha1.h"
#include "mbedtls/sha256.h"
#include "mbedtls/sha512.h"
#include "rows.h"

#define BUFFER_BYTES 1024
#define WARM_UP_CALLS 3
#define CALLS 24

struct cryplab_row cryplab_rows[40];
uint32_t cryplab_rows_count;

static unsigned char buffer[BUFFER_BYTES];
static unsigned char scratch[200]; /* key, IV, digest and tag of the row that runs */
static int failures;

static union {
    mbedtls_aes_context aes;
    mbedtls_gcm_context gcm;
    mbedtls_ccm_context ccm;
    mbedtls_ctr_drbg_context ctr_drbg;
    mbedtls_hmac_drbg_context hmac_drbg;
    mbedtls_des_context des;
    mbedtls_des3_context des3;
    mbedtls_rsa_context rsa;
} context;

static struct {
    mbedtls_ecp_group group;
    mbedtls_ecp_point own, peer;
    mbedtls_mpi secret, shared;
} ecdh;

static int pseudo_random(void *state, unsigned char *output, size_t length)
{
    (void)state;
    while (length > 0) {
        int word = rand();
        size_t part = length < sizeof word ? length : sizeof word;
        memcpy(output, &word, part);
        output += part;
        length -= part;
    }
    return 0;
}

/* ---- rows ---- */

struct bench {
    const char *name;
    int (*prepare)(unsigned argument);
    int (*run)(void);
    void (*finish)(void);
    unsigned argument;
};

static struct cryplab_row *measure(const char *name, const char *unit, int (*run)(void), unsigned calls, unsigned bytes)
{
    struct cryplab_row *row = &cryplab_rows[cryplab_rows_count];
    int error = 0;
    uint64_t start = clock_cycles();
    for (unsigned i = 0; i < calls; i++) {
        error |= run();
    }
    uint64_t end = clock_cycles();
    *row = (struct cryplab_row){name, unit, calls, bytes * calls, start, end - start};
    cryplab_rows_count++;
    if (error) {
        console_printf("  %-24s :  FAILED: -0x%04x\n", name, -error);
        failures++;
        return NULL;
    }
    return row;
}

static void throughput(const struct bench *bench)
{
    if (!cryplab_wanted(bench->name)) {
        return;
    }
    memset(buffer, 0xAA, sizeof buffer);
    memset(scratch, 0xBB, sizeof scratch);
    int error = bench->prepare ? bench->prepare(bench->argument) : 0;
    for (unsigned i = 0; i < WARM_UP_CALLS; i++) {
        error |= bench->run();
    }
    if (error) {
        console_printf("  %-24s :  FAILED: -0x%04x\n", bench->name, -error);
        failures++;
        return;
    }
    const struct cryplab_row *row = measure(bench->name, "KB/s", bench->run, CALLS, BUFFER_BYTES);
    if (row) {
        uint64_t per_second = (uint64_t)row->bytes * BOARD_CORE_HZ / row->cycles;
        console_printf("  %-24s :  %9u KB/s\n", bench->name, (unsigned)(per_second / 1024));
    }
    if (bench->finish) {
        bench->finish();
    }
}

/* A row "RSA-2048 public" is printed as "RSA-2048 : 20 ms/ public". */
static int key_operation(const char *name, int (*run)(void))
{
    const struct cryplab_row *row = measure(name, "ms", run, 1, 0);
    if (row) {
        const char *what = strchr(name, ' ');
        console_printf("  %-24.*s :  %6u ms/%s\n", (int)(what - name), name,
                       (unsigned)(row->cycles / (BOARD_CORE_HZ / 1000)), what);
    }
    return row == NULL;
}

static int run_md5(void) { return mbedtls_md5_ret(buffer, BUFFER_BYTES, scratch); }
static int run_sha1(void) { return mbedtls_sha1_ret(buffer, BUFFER_BYTES, scratch); }
static int run_sha256(void) { return mbedtls_sha256_ret(buffer, BUFFER_BYTES, scratch, 0); }
static int run_sha512(void) { return mbedtls_sha512_ret(buffer, BUFFER_BYTES, scratch, 0); }

static int prepare_aes(unsigned bits)
{
    mbedtls_aes_init(&context.aes);
    return mbedtls_aes_setkey_enc(&context.aes, scratch, bits);
}
static int run_cbc(void)
{
    return mbedtls_aes_crypt_cbc(&context.aes, MBEDTLS_AES_ENCRYPT, BUFFER_BYTES, scratch, buffer, buffer);
}
static void finish_aes(void) { mbedtls_aes_free(&context.aes); }

static int prepare_gcm(unsigned bits)
{
    mbedtls_gcm_init(&context.gcm);
    return mbedtls_gcm_setkey(&context.gcm, MBEDTLS_CIPHER_ID_AES, scratch, bits);
}
static int run_gcm(void)
{
    return mbedtls_gcm_crypt_and_tag(&context.gcm, MBEDTLS_GCM_ENCRYPT, BUFFER_BYTES, scratch, 12, NULL, 0, buffer,
                                     buffer, 16, scratch);
}
static void finish_gcm(void) { mbedtls_gcm_free(&context.gcm); }

static int prepare_ccm(unsigned bits)
{
    mbedtls_ccm_init(&context.ccm);
    return mbedtls_ccm_setkey(&context.ccm, MBEDTLS_CIPHER_ID_AES, scratch, bits);
}
static int run_ccm(void)
{
    return mbedtls_ccm_encrypt_and_tag(&context.ccm, BUFFER_BYTES, scratch, 12, NULL, 0, buffer, buffer, scratch, 16);
}
static void finish_ccm(void) { mbedtls_ccm_free(&context.ccm); }

static int prepare_ctr_drbg(unsigned resistance)
{
    mbedtls_ctr_drbg_init(&context.ctr_drbg);
    int error = mbedtls_ctr_drbg_seed(&context.ctr_drbg, pseudo_random, NULL, NULL, 0);
    mbedtls_ctr_drbg_set_prediction_resistance(&context.ctr_drbg, (int)resistance);
    return error;
}
static int run_ctr_drbg(void) { return mbedtls_ctr_drbg_random(&context.ctr_drbg, buffer, BUFFER_BYTES); }
static void finish_ctr_drbg(void) { mbedtls_ctr_drbg_free(&context.ctr_drbg); }

static int prepare_hmac_drbg(unsigned resistance)
{
    mbedtls_hmac_drbg_init(&context.hmac_drbg);
    const mbedtls_md_info_t *md = mbedtls_md_info_from_type(MBEDTLS_MD_SHA256);
    int error = mbedtls_hmac_drbg_seed(&context.hmac_drbg, md, pseudo_random, NULL, NULL, 0);
    mbedtls_hmac_drbg_set_prediction_resistance(&context.hmac_drbg, (int)resistance);
    return error;
}
static int run_hmac_drbg(void) { return mbedtls_hmac_drbg_random(&context.hmac_drbg, buffer, BUFFER_BYTES); }
static void finish_hmac_drbg(void) { mbedtls_hmac_drbg_free(&context.hmac_drbg); }

static int prepare_des(unsigned unused)
{
    (void)unused;
    mbedtls_des_init(&context.des);
    return mbedtls_des_setkey_enc(&context.des, scratch);
}
static int run_des(void)
{
    return mbedtls_des_crypt_cbc(&context.des, MBEDTLS_DES_ENCRYPT, BUFFER_BYTES, scratch, buffer, buffer);
}
static void finish_des(void) { mbedtls_des_free(&context.des); }

static int prepare_des3(unsigned unused)
{
    (void)unused;
    mbedtls_des3_init(&context.des3);
    return mbedtls_des3_set3key_enc(&context.des3, scratch);
}
static int run_des3(void)
{
    return mbedtls_des3_crypt_cbc(&context.des3, MBEDTLS_DES_ENCRYPT, BUFFER_BYTES, scratch, buffer, buffer);
}
static void finish_des3(void) { mbedtls_des3_free(&context.des3); }

static const struct bench symmetric[] = {
    {"SHA-256", NULL, run_sha256, NULL, 0},
    {"SHA-512", NULL, run_sha512, NULL, 0},
    {"AES-CBC-128", prepare_aes, run_cbc, finish_aes, 128},
    {"AES-CBC-192", prepare_aes, run_cbc, finish_aes, 192},
    {"AES-CBC-256", prepare_aes, run_cbc, finish_aes, 256},
    {"AES-GCM-128", prepare_gcm, run_gcm, finish_gcm, 128},
    {"AES-GCM-192", prepare_gcm, run_gcm, finish_gcm, 192},
    {"AES-GCM-256", prepare_gcm, run_gcm, finish_gcm, 256},
    {"AES-CCM-128", prepare_ccm, run_ccm, finish_ccm, 128},
    {"AES-CCM-192", prepare_ccm, run_ccm, finish_ccm, 192},
    {"AES-CCM-256", prepare_ccm, run_ccm, finish_ccm, 256},
    {"CTR_DRBG (NOPR)", prepare_ctr_drbg, run_ctr_drbg, finish_ctr_drbg, MBEDTLS_CTR_DRBG_PR_OFF},
    {"CTR_DRBG (PR)", prepare_ctr_drbg, run_ctr_drbg, finish_ctr_drbg, MBEDTLS_CTR_DRBG_PR_ON},
    {"HMAC_DRBG SHA-256 (NOPR)", prepare_hmac_drbg, run_hmac_drbg, finish_hmac_drbg, MBEDTLS_HMAC_DRBG_PR_OFF},
    {"HMAC_DRBG SHA-256 (PR)", prepare_hmac_drbg, run_hmac_drbg, finish_hmac_drbg, MBEDTLS_HMAC_DRBG_PR_ON},
};

static const struct bench further[] = {
    {"SHA-1", NULL, run_sha1, NULL, 0},
    {"MD5", NULL, run_md5, NULL, 0},
    {"DES", prepare_des, run_des, finish_des, 0},
    {"3DES", prepare_des3, run_des3, finish_des3, 0},
};

/* ---- RSA ---- */

static unsigned char number[512];

static int run_rsa_public(void)
{
    number[0] = 0;
    return mbedtls_rsa_public(&context.rsa, number, number);
}
static int run_rsa_private(void)
{
    number[0] = 0;
    return mbedtls_rsa_private(&context.rsa, pseudo_random, NULL, number, number);
}

static int load_rsa(const struct rsa_key *key)
{
    static const unsigned char exponent[] = {RSA_PUBLIC_EXPONENT >> 16, RSA_PUBLIC_EXPONENT >> 8 & 0xFF,
                                             RSA_PUBLIC_EXPONENT & 0xFF};
    unsigned bytes = key->bits / 8;
    mbedtls_rsa_init(&context.rsa, MBEDTLS_RSA_PKCS_V15, 0);
    int error = mbedtls_rsa_import_raw(&context.rsa, key->n, bytes, key->p, bytes / 2, key->q, bytes / 2, key->d, bytes,
                                       exponent, sizeof exponent);
    return error ? error : mbedtls_rsa_complete(&context.rsa);
}

static void rsa_rows(const struct rsa_key *key, const char *public_row, const char *private_row)
{
    if (!cryplab_wanted(public_row) && !cryplab_wanted(private_row)) {
        return;
    }
    memset(number, 0x2A, sizeof number);
    int error = load_rsa(key);
    if (error) {
        console_printf("  %-24s :  FAILED: -0x%04x\n", public_row, -error);
        failures++;
    } else {
        if (cryplab_wanted(public_row)) {
            key_operation(public_row, run_rsa_public);
        }
        if (cryplab_wanted(private_row)) {
            key_operation(private_row, run_rsa_private);
        }
    }
    mbedtls_rsa_free(&context.rsa);
}

/* ---- elliptic curve Diffie-Hellman ---- */

static int own_key(void)
{
    return mbedtls_ecdh_gen_public(&ecdh.group, &ecdh.secret, &ecdh.own, pseudo_random, NULL);
}
static int run_static(void)
{
    return mbedtls_ecdh_compute_shared(&ecdh.group, &ecdh.shared, &ecdh.peer, &ecdh.secret, pseudo_random, NULL);
}
static int run_ephemeral(void)
{
    int error = own_key();
    return error ? error : run_static();
}

static void ecdh_row(const char *name, mbedtls_ecp_group_id curve, int ephemeral)
{
    if (!cryplab_wanted(name)) {
        return;
    }
    mbedtls_mpi peer_secret;
    mbedtls_mpi_init(&peer_secret);
    mbedtls_ecp_group_init(&ecdh.group);
    mbedtls_ecp_point_init(&ecdh.own);
    mbedtls_ecp_point_init(&ecdh.peer);
    mbedtls_mpi_init(&ecdh.secret);
    mbedtls_mpi_init(&ecdh.shared);
    int error = mbedtls_ecp_group_load(&ecdh.group, curve);
    error = error ? error : mbedtls_ecdh_gen_public(&ecdh.group, &peer_secret, &ecdh.peer, pseudo_random, NULL);
    if (!error && ephemeral) { /* the group as it comes, with no table of multiples of the base point */
        mbedtls_ecp_group_free(&ecdh.group);
        error = mbedtls_ecp_group_load(&ecdh.group, curve);
    } else if (!error) {
        error = own_key();
    }
    if (error) {
        console_printf("  %-24s :  FAILED: -0x%04x\n", name, -error);
        failures++;
    } else {
        key_operation(name, ephemeral ? run_ephemeral : run_static);
    }
    mbedtls_mpi_free(&ecdh.shared);
    mbedtls_mpi_free(&ecdh.secret);
    mbedtls_ecp_point_free(&ecdh.peer);
    mbedtls_ecp_point_free(&ecdh.own);
    mbedtls_ecp_group_free(&ecdh.group);
    mbedtls_mpi_free(&peer_secret);
}

int main(void)
{
    console_printf("\n");
    for (unsigned i = 0; i < sizeof symmetric / sizeof *symmetric; i++) {
        throughput(&symmetric[i]);
    }
    rsa_rows(&rsa_2048, "RSA-2048 public", "RSA-2048 private");
    rsa_rows(&rsa_4096, "RSA-4096 public", "RSA-4096 private");
    ecdh_row("ECDHE-secp384r1 handshake", MBEDTLS_ECP_DP_SECP384R1, 1);
    ecdh_row("ECDHE-secp256r1 handshake", MBEDTLS_ECP_DP_SECP256R1, 1);
    ecdh_row("ECDHE-Curve25519 handshake", MBEDTLS_ECP_DP_CURVE25519, 1);
    ecdh_row("ECDH-secp384r1 handshake", MBEDTLS_ECP_DP_SECP384R1, 0);
    ecdh_row("ECDH-secp256r1 handshake", MBEDTLS_ECP_DP_SECP256R1, 0);
    ecdh_row("ECDH-Curve25519 handshake", MBEDTLS_ECP_DP_CURVE25519, 0);
    for (unsigned i = 0; i < sizeof further / sizeof *further; i++) {
        throughput(&further[i]);
    }
    console_printf("\n");
    return failures != 0;
}
