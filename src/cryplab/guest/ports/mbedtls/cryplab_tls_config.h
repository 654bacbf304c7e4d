/* mbed TLS for the programs with network: cryplab_config.h and TLS 1.2 (docs/tls.md). */
#ifndef CRYPLAB_TLS_CONFIG_H
#define CRYPLAB_TLS_CONFIG_H

/* ---- date from the RTC, words for errors ---- */
#define MBEDTLS_HAVE_TIME
#define MBEDTLS_HAVE_TIME_DATE
#define MBEDTLS_PLATFORM_TIME_MACRO date_time
#define MBEDTLS_ERROR_C

/* ---- certificates and keys ---- */
#define MBEDTLS_ECDSA_C
#define MBEDTLS_PEM_PARSE_C
#define MBEDTLS_PK_C
#define MBEDTLS_PK_PARSE_C
#define MBEDTLS_X509_USE_C
#define MBEDTLS_X509_CRT_PARSE_C
#define MBEDTLS_X509_CHECK_KEY_USAGE
#define MBEDTLS_X509_CHECK_EXTENDED_KEY_USAGE
#define MBEDTLS_X509_RSASSA_PSS_SUPPORT

/* ---- TLS ---- */
#define MBEDTLS_KEY_EXCHANGE_RSA_ENABLED
#define MBEDTLS_KEY_EXCHANGE_ECDHE_RSA_ENABLED
#define MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED
#define MBEDTLS_SSL_TLS_C
#define MBEDTLS_SSL_CLI_C
#if defined(CRYPLAB_TLS_SERVER)
#define MBEDTLS_SSL_SRV_C
#endif
#define MBEDTLS_SSL_PROTO_TLS1_2
#define MBEDTLS_SSL_ALL_ALERT_MESSAGES
#define MBEDTLS_SSL_ENCRYPT_THEN_MAC
#define MBEDTLS_SSL_EXTENDED_MASTER_SECRET
#define MBEDTLS_SSL_KEEP_PEER_CERTIFICATE
#define MBEDTLS_SSL_SERVER_NAME_INDICATION
#define MBEDTLS_SSL_IN_CONTENT_LEN 16384
#define MBEDTLS_SSL_OUT_CONTENT_LEN 4096

/* ---- several tasks: mutexes of the kernel around what sessions share ---- */
#if defined(CRYPLAB_KERNEL)
#define MBEDTLS_THREADING_C
#define MBEDTLS_THREADING_ALT
#endif

#include "date.h"

#include "cryplab_config.h"

#endif
