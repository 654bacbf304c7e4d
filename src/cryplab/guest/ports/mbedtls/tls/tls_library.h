/* mbed TLS behind programs/tls_session.h. */
#ifndef TLS_LIBRARY_H
#define TLS_LIBRARY_H

#include "mbedtls/ctr_drbg.h"
#include "mbedtls/entropy.h"
#include "mbedtls/ssl.h"

struct tls_endpoint {
    const char *call; /* the library's, that failed */
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
    mbedtls_x509_crt authority, certificate;
    mbedtls_pk_context key;
    mbedtls_ssl_config config;
    int suites[22];
};

struct tls_session {
    const char *call; /* the library's, that came last */
    int network_error; /* once there was one */
    int error;         /* the library's last */
    struct network_stream *stream;
    mbedtls_ssl_context ssl;
    uint32_t chain_flags;
    char *rejected;    /* lines of a certificate that the library did not accept */
};

#endif
