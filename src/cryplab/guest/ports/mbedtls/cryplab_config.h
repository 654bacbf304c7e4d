/* mbed TLS 2.28 for the reference firmware: what the benchmark and the self-tests of 2017 had, and
 * every further module that has a self-test.
 *
 * Builds differ by one macro: CRYPLAB_SOFTWARE (the library's own C code), CRYPLAB_HARDWARE (our
 * drivers), CRYPLAB_HAL_STYLE (AES and SHA-256 by polling in the vendor's 2017 shape). Entropy comes
 * from the RNG in all of them. docs/guest.md tells why each option that costs time is as it is.
 */
#ifndef CRYPLAB_CONFIG_H
#define CRYPLAB_CONFIG_H

/* ---- platform: no operating system, no files, our console ---- */
#define MBEDTLS_HAVE_ASM
#define MBEDTLS_PLATFORM_C
#define MBEDTLS_PLATFORM_PRINTF_MACRO console_printf
#define MBEDTLS_PLATFORM_SNPRINTF_MACRO console_snprintf
#define MBEDTLS_PLATFORM_VSNPRINTF_MACRO console_vsnprintf
#define MBEDTLS_NO_PLATFORM_ENTROPY
#define MBEDTLS_ENTROPY_HARDWARE_ALT
#define MBEDTLS_PLATFORM_ZEROIZE_ALT
#define MBEDTLS_SELF_TEST
#define MBEDTLS_ERROR_STRERROR_DUMMY

/* ---- symmetric ---- */
#define MBEDTLS_AES_C
#define MBEDTLS_ARIA_C
#define MBEDTLS_ARC4_C
#define MBEDTLS_CAMELLIA_C
#define MBEDTLS_CHACHA20_C
#define MBEDTLS_CHACHAPOLY_C
#define MBEDTLS_CIPHER_C
#define MBEDTLS_CIPHER_MODE_CBC
#define MBEDTLS_CIPHER_MODE_CFB
#define MBEDTLS_CIPHER_MODE_CTR
#define MBEDTLS_CIPHER_MODE_OFB
#define MBEDTLS_CIPHER_MODE_XTS
#define MBEDTLS_CIPHER_PADDING_PKCS7
#define MBEDTLS_CCM_C
#define MBEDTLS_CMAC_C
#define MBEDTLS_DES_C
#define MBEDTLS_GCM_C
#define MBEDTLS_NIST_KW_C
#define MBEDTLS_POLY1305_C
#define MBEDTLS_XTEA_C

/* ---- digests and random numbers ---- */
#define MBEDTLS_MD_C
#define MBEDTLS_MD2_C
#define MBEDTLS_MD4_C
#define MBEDTLS_MD5_C
#define MBEDTLS_RIPEMD160_C
#define MBEDTLS_SHA1_C
#define MBEDTLS_SHA256_C
#define MBEDTLS_SHA512_C
#define MBEDTLS_CTR_DRBG_C
#define MBEDTLS_HMAC_DRBG_C
#define MBEDTLS_ENTROPY_C
#define MBEDTLS_ENTROPY_MAX_SOURCES 4

/* ---- public key ---- */
#define MBEDTLS_ASN1_PARSE_C
#define MBEDTLS_ASN1_WRITE_C
#define MBEDTLS_BASE64_C
#define MBEDTLS_BIGNUM_C
#define MBEDTLS_DHM_C
#define MBEDTLS_ECDH_C
#define MBEDTLS_ECJPAKE_C
#define MBEDTLS_ECP_C
#define MBEDTLS_ECP_DP_SECP192R1_ENABLED
#define MBEDTLS_ECP_DP_SECP256R1_ENABLED
#define MBEDTLS_ECP_DP_SECP384R1_ENABLED
#define MBEDTLS_ECP_DP_CURVE25519_ENABLED
#define MBEDTLS_ECP_NIST_OPTIM
#define MBEDTLS_KEY_EXCHANGE_ECJPAKE_ENABLED
#define MBEDTLS_OID_C
#define MBEDTLS_PKCS1_V15
#define MBEDTLS_PKCS1_V21
#define MBEDTLS_PKCS5_C
#define MBEDTLS_RSA_C

/* ---- sizes that cost time, as mbed TLS 2.5 had them ---- */
#define MBEDTLS_ECP_WINDOW_SIZE 6
#if defined(CRYPLAB_KERNEL) /* the table of multiples would be kept in keys that sessions share, with no mutex around it */
#define MBEDTLS_ECP_FIXED_POINT_OPTIM 0
#else
#define MBEDTLS_ECP_FIXED_POINT_OPTIM 1
#endif
#if __has_include("mbedtls/platform_util.h")
#define MBEDTLS_MPI_WINDOW_SIZE 2 /* 2.28 reads its whole table for each window: 6 would make RSA slower by two thirds */
#else
#define MBEDTLS_MPI_WINDOW_SIZE 2
#endif
#define MBEDTLS_MPI_MAX_SIZE 1024

/* Multiplication with UMAAL came with 2.14, the published rows are older; only bn_mul.h looks at this. */
#undef __ARM_FEATURE_DSP

/* ---- who does the work ---- */
#if defined(CRYPLAB_HARDWARE)
#define MBEDTLS_AES_ALT
#define MBEDTLS_DES_ALT
#define MBEDTLS_MD5_ALT
#define MBEDTLS_SHA1_ALT
#if !defined(CRYPLAB_ENGINES) /* F2 and F41x have engines of version 1: GCM and CCM block by block, SHA-256 in software */
#define MBEDTLS_SHA256_ALT
#if !defined(CRYPLAB_FAULTY) /* its GCM and CCM are the library's over AES, as in the firmware of 2017 */
#define MBEDTLS_CCM_ALT
#define MBEDTLS_GCM_ALT
#endif
#endif
#elif defined(CRYPLAB_HAL_STYLE)
#define MBEDTLS_AES_ALT
#if !defined(CRYPLAB_ENGINES)
#define MBEDTLS_SHA256_ALT
#endif
#elif !defined(CRYPLAB_SOFTWARE)
#error "no build chosen"
#endif

#include "console.h"

#include "mbedtls/check_config.h"

#endif
