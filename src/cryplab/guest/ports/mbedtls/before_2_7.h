/* Calls that mbed TLS got with 2.7, for benchmarks of older sources (`--source`), such as the 2.5 of the published rows.
 *
 * Digests returned nothing then, and an RSA key was put together in its context.
 */
#ifndef BEFORE_2_7_H
#define BEFORE_2_7_H

#include "mbedtls/version.h"

#if MBEDTLS_VERSION_NUMBER < 0x02070000

#include "mbedtls/md5.h"
#include "mbedtls/rsa.h"
#include "mbedtls/sha1.h"
#include "mbedtls/sha256.h"
#include "mbedtls/sha512.h"

static inline int mbedtls_md5_ret(const unsigned char *input, size_t bytes, unsigned char *digest)
{
    mbedtls_md5(input, bytes, digest);
    return 0;
}

static inline int mbedtls_sha1_ret(const unsigned char *input, size_t bytes, unsigned char *digest)
{
    mbedtls_sha1(input, bytes, digest);
    return 0;
}

static inline int mbedtls_sha256_ret(const unsigned char *input, size_t bytes, unsigned char *digest, int is224)
{
    mbedtls_sha256(input, bytes, digest, is224);
    return 0;
}

static inline int mbedtls_sha512_ret(const unsigned char *input, size_t bytes, unsigned char *digest, int is384)
{
    mbedtls_sha512(input, bytes, digest, is384);
    return 0;
}

static inline int mbedtls_rsa_import_raw(mbedtls_rsa_context *rsa, const unsigned char *n, size_t n_bytes,
                                         const unsigned char *p, size_t p_bytes, const unsigned char *q,
                                         size_t q_bytes, const unsigned char *d, size_t d_bytes,
                                         const unsigned char *e, size_t e_bytes)
{
    rsa->len = n_bytes;
    int error = mbedtls_mpi_read_binary(&rsa->N, n, n_bytes);
    error = error ? error : mbedtls_mpi_read_binary(&rsa->P, p, p_bytes);
    error = error ? error : mbedtls_mpi_read_binary(&rsa->Q, q, q_bytes);
    error = error ? error : mbedtls_mpi_read_binary(&rsa->D, d, d_bytes);
    return error ? error : mbedtls_mpi_read_binary(&rsa->E, e, e_bytes);
}

/* The parts of the Chinese remainder: D mod P-1, D mod Q-1, 1/Q mod P. */
static inline int mbedtls_rsa_complete(mbedtls_rsa_context *rsa)
{
    mbedtls_mpi less;
    mbedtls_mpi_init(&less);
    int error = mbedtls_mpi_sub_int(&less, &rsa->P, 1);
    error = error ? error : mbedtls_mpi_mod_mpi(&rsa->DP, &rsa->D, &less);
    error = error ? error : mbedtls_mpi_sub_int(&less, &rsa->Q, 1);
    error = error ? error : mbedtls_mpi_mod_mpi(&rsa->DQ, &rsa->D, &less);
    error = error ? error : mbedtls_mpi_inv_mod(&rsa->QP, &rsa->Q, &rsa->P);
    mbedtls_mpi_free(&less);
    return error;
}

#endif
#endif
