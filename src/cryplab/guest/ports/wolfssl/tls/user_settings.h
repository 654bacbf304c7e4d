/* wolfSSL 5.5.4 for the programs with network: wolfCrypt set up as for the other programs, and TLS 1.2 (docs/tls.md).
 *
 * CRYPLAB_FAULTY, with CRYPLAB_HARDWARE: HASH, too. Buffers are as long as the record at hand; client and server are
 * both there, so that all programs have the same library.
 */
#ifndef TLS_USER_SETTINGS_H
#define TLS_USER_SETTINGS_H

#include "../user_settings.h"

#include "date.h"

/* ---- the chip: HASH is left out, as the port's digests of messages in pieces are wrong ---- */
#if defined(CRYPLAB_HARDWARE) && !defined(CRYPLAB_FAULTY)
#define NO_STM32_HASH
#endif

/* ---- TLS and X.509 instead of wolfCrypt alone ---- */
#undef WOLFCRYPT_ONLY
#undef WOLFSSL_NO_SOCK
#define WOLFSSL_USER_IO
#define NO_OLD_TLS
#define NO_SESSION_CACHE
#define NO_PSK
#define WOLFSSL_SET_CIPHER_BYTES
#define HAVE_TLS_EXTENSIONS
#define HAVE_SUPPORTED_CURVES
#define HAVE_SNI
#define HAVE_SERVER_RENEGOTIATION_INFO /* present-day clients refuse a server that does not speak of it */
#define HAVE_EXTENDED_MASTER
#define HAVE_ENCRYPT_THEN_MAC
#define KEEP_PEER_CERT
#define WOLFSSL_PEM_TO_DER

/* ---- what TLS needs of wolfCrypt, and what it does not ---- */
#define HAVE_ECC384
#define WOLFSSL_SP_384
#define WC_RSA_PSS
#undef HAVE_CHACHA
#undef HAVE_POLY1305
#undef HAVE_ED25519
#undef HAVE_DH_DEFAULT_PARAMS
#undef HAVE_FFDHE_2048
#undef WOLFSSL_ALLOW_RC4
#undef WOLFSSL_SHA3
#undef WOLFSSL_CMAC
#undef WOLFSSL_HAVE_SP_DH
#undef HAVE_HKDF
#undef USE_CERT_BUFFERS_2048
#undef USE_CERT_BUFFERS_256
#define NO_DH
#define NO_DES3
#define NO_RC4
#define NO_PWDBASED

/* ---- the date ---- */
#undef NO_ASN_TIME
#undef WOLFSSL_USER_CURRTIME
#define XTIME(seconds) date_time(seconds)

#endif
