/* wolfCrypt 5.5.4 for the reference firmware: its benchmark, its test, and the eleven rows of 2012.
 *
 * From the command line: CRYPLAB_SOFTWARE or CRYPLAB_HARDWARE; CRYPLAB_ENGINES=1 for F2 (Standard Peripheral Library
 * calls), nothing for F4 (CubeMX HAL calls); CRYPLAB_MATH_HEAP, CRYPLAB_MATH_FAST or CRYPLAB_MATH_SP. The random
 * numbers come from the RNG in all builds. docs/wolfssl.md tells why each option that costs time is as it is.
 */
#ifndef USER_SETTINGS_H
#define USER_SETTINGS_H

/* ---- platform ---- */
#define WOLFCRYPT_ONLY
#define NO_FILESYSTEM
#define NO_WRITEV
#define NO_MAIN_DRIVER
#define NO_ERROR_QUEUE
#define WOLFSSL_IGNORE_FILE_WARN
#define WOLFSSL_NO_SOCK
#define WOLFSSL_GENERAL_ALIGNMENT 4
#define WOLFSSL_SMALL_STACK
#define WOLFSSL_USER_CURRTIME
#define NO_ASN_TIME
#define SIZEOF_LONG_LONG 8
#if !defined(CRYPLAB_KERNEL)
#define SINGLE_THREADED
#else
#define WOLFSSL_USER_MUTEX
#include "tasks.h"
typedef struct task_mutex wolfSSL_Mutex;
#endif

/* ---- the chip, and who does the work ---- */
#if defined(CRYPLAB_SPL)
#define WOLFSSL_STM32F2
#else
#define WOLFSSL_STM32F4
#define WOLFSSL_STM32_CUBEMX
#define STM32_HAL_V2
#endif
#if defined(CRYPLAB_SOFTWARE)
#define NO_STM32_CRYPTO
#define NO_STM32_HASH
#elif !defined(CRYPLAB_HARDWARE)
#error "no build chosen"
#endif

/* ---- big integers ---- */
#if defined(CRYPLAB_MATH_HEAP)
#define USE_INTEGER_HEAP_MATH
#elif defined(CRYPLAB_MATH_FAST)
#define USE_FAST_MATH
#define TFM_TIMING_RESISTANT
#define FP_MAX_BITS 4096
#elif defined(CRYPLAB_MATH_SP)
#define USE_FAST_MATH
#define TFM_TIMING_RESISTANT
#define FP_MAX_BITS 4096
#define WOLFSSL_SP
#define WOLFSSL_SP_SMALL
#define WOLFSSL_SP_ASM
#define WOLFSSL_SP_ARM_CORTEX_M_ASM
#define WOLFSSL_HAVE_SP_RSA
#define WOLFSSL_HAVE_SP_DH
#define WOLFSSL_HAVE_SP_ECC
#define SP_WORD_SIZE 32
#else
#error "no big integers chosen"
#endif
#if defined(CRYPLAB_CTAOCRYPT) /* 2012: no blinding, no hardening, exponents of DH by the size of the group */
#define WC_NO_HARDEN
#define WOLFSSL_NO_DH186
#else
#define ECC_TIMING_RESISTANT
#define WC_RSA_BLINDING
#endif

/* ---- algorithms ---- */
#define HAVE_AES_CBC
#define HAVE_AES_ECB
#define HAVE_AES_DECRYPT
#if !(defined(CRYPLAB_HAL) && defined(CRYPLAB_HARDWARE) && defined(CRYPLAB_ENGINES))
#define HAVE_AESGCM /* the port takes every F4 for one whose CRYP has GCM; F41x has not */
#endif
#define HAVE_AESCCM
#define WOLFSSL_AES_COUNTER
#define WOLFSSL_AES_DIRECT
#define WOLFSSL_DES_ECB
#define WOLFSSL_ALLOW_RC4
#define HAVE_CHACHA
#define HAVE_POLY1305
#if !(defined(CRYPLAB_SPL) && defined(CRYPLAB_HARDWARE))
#define HAVE_HKDF /* its digests are fed in pieces of odd lengths, which the port gets wrong on F2 (docs/wolfssl.md) */
#endif
#define HAVE_ECC
#define ECC_SHAMIR
#define HAVE_CURVE25519
#define HAVE_ED25519
#define HAVE_DH_DEFAULT_PARAMS
#define HAVE_FFDHE_2048
#define WOLFSSL_SHA224
#define WOLFSSL_SHA384
#define WOLFSSL_SHA512
#define WOLFSSL_SHA3
#define WOLFSSL_CMAC
#define HAVE_HASHDRBG
#define NO_MD4
#define NO_DSA
#define NO_RC2
#define NO_OLD_TLS
#define NO_SIG_WRAPPER
#define GCM_SMALL /* no table at all, as in the published software rows of F437 */

/* ---- test and benchmark ---- */
#define USE_CERT_BUFFERS_2048
#define USE_CERT_BUFFERS_256
#define BENCH_EMBEDDED
#define BENCH_MIN_RUNTIME_SEC CRYPLAB_BENCH_SECONDS

#endif
