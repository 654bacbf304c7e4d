/* wolfSSL behind programs/tls_session.h. */
#ifndef TLS_LIBRARY_H
#define TLS_LIBRARY_H

#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/ssl.h>

struct tls_endpoint {
    const char *call; /* the library's, that failed */
    WOLFSSL_CTX *context;
    int verify;
};

struct tls_session {
    const char *call;  /* the library's, that came last */
    int network_error; /* once there was one */
    int error;         /* the library's last */
    struct network_stream *stream;
    WOLFSSL *ssl;
    int refused;       /* the library's code for a certificate that it did not accept, 0 for none */
};

#endif
