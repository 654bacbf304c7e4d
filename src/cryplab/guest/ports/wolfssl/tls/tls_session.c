/* See programs/tls_session.h: wolfSSL. */
#include "tls_session.h"

#include <string.h>
#include <wolfssl/error-ssl.h>
#include <wolfssl/wolfcrypt/random.h>

#include "console.h"
#include "platform.h"

static const word16 curves[] = {WOLFSSL_ECC_SECP256R1, WOLFSSL_ECC_SECP384R1, WOLFSSL_ECC_X25519};

uint32_t network_random(void)
{
    word32 word = 0;
    OS_Seed unused = {0};
    wc_GenerateSeed(&unused, (byte *)&word, sizeof word);
    return word;
}

/* ---- what wolfSSL calls ---- */

static int library_error(struct tls_session *session, int error, int again)
{
    if (error == NETWORK_AGAIN) {
        return again;
    }
    if (error == NETWORK_CLOSED && again == WOLFSSL_CBIO_ERR_WANT_READ) {
        return WOLFSSL_CBIO_ERR_CONN_CLOSE; /* end of file: the library says what that means */
    }
    session->network_error = error;
    return WOLFSSL_CBIO_ERR_GENERAL;
}

static int send_some(WOLFSSL *ssl, char *data, int length, void *context)
{
    (void)ssl;
    struct tls_session *session = context;
    int done = network_send(session->stream, (const uint8_t *)data, (size_t)length);
    return done > 0 ? done : library_error(session, done, WOLFSSL_CBIO_ERR_WANT_WRITE);
}

static int receive_some(WOLFSSL *ssl, char *data, int length, void *context)
{
    (void)ssl;
    struct tls_session *session = context;
    int done = network_receive(session->stream, (uint8_t *)data, (size_t)length);
    return done > 0 ? done : library_error(session, done, WOLFSSL_CBIO_ERR_WANT_READ);
}

/* Called when a certificate is not accepted; stays with the library's verdict. */
static int look_at(int accepted, WOLFSSL_X509_STORE_CTX *store)
{
    struct tls_session *session = store->userCtx;
    session->refused = store->error;
    return accepted;
}

/* ---- endpoint ---- */

/* SSL_load calls count 1 as success and return a code of the library otherwise. */
static int loaded(struct tls_endpoint *endpoint, const char *call, int result)
{
    endpoint->call = call;
    return result == WOLFSSL_SUCCESS ? 0 : result < 0 ? result : WOLFSSL_FATAL_ERROR;
}

static int set_identities(struct tls_endpoint *endpoint, const struct tls_settings *settings)
{
    int error = 0;
    const byte *ca = (const byte *)settings->ca, *own = (const byte *)settings->own;
    if (settings->ca_bytes != 0) {
        error = loaded(endpoint, "wolfSSL_CTX_load_verify_buffer",
                       wolfSSL_CTX_load_verify_buffer(endpoint->context, ca, (long)settings->ca_bytes - 1,
                                                      WOLFSSL_FILETYPE_PEM));
    }
    if (error == 0 && settings->own_bytes != 0) {
        long length = (long)settings->own_bytes - 1;
        error = loaded(endpoint, "wolfSSL_CTX_use_certificate_buffer",
                       wolfSSL_CTX_use_certificate_buffer(endpoint->context, own, length, WOLFSSL_FILETYPE_PEM));
        if (error == 0) {
            error = loaded(endpoint, "wolfSSL_CTX_use_PrivateKey_buffer",
                           wolfSSL_CTX_use_PrivateKey_buffer(endpoint->context, own, length, WOLFSSL_FILETYPE_PEM));
        }
    }
    return error;
}

static int set_suites(struct tls_endpoint *endpoint, const uint16_t *suites)
{
    byte list[2 * TLS_SUITES_MOST];
    int length = 0;
    for (unsigned i = 0; suites != NULL && i < TLS_SUITES_MOST && suites[i] != 0; i++) {
        list[length++] = (byte)(suites[i] >> 8);
        list[length++] = (byte)suites[i];
    }
    if (length == 0) {
        return 0;
    }
    return loaded(endpoint, "wolfSSL_CTX_set_cipher_list_bytes",
                  wolfSSL_CTX_set_cipher_list_bytes(endpoint->context, list, length));
}

int tls_endpoint_open(struct tls_endpoint *endpoint, const struct tls_settings *settings)
{
    memset(endpoint, 0, sizeof *endpoint);
    endpoint->verify = settings->verify;
    platform_init();
    int error = loaded(endpoint, "wolfSSL_Init", wolfSSL_Init());
    if (error != 0) {
        return error;
    }
    endpoint->call = "wolfSSL_CTX_new";
    endpoint->context = wolfSSL_CTX_new(settings->server ? wolfTLSv1_2_server_method() : wolfTLSv1_2_client_method());
    if (endpoint->context == NULL) {
        return MEMORY_E;
    }
    wolfSSL_CTX_SetIOSend(endpoint->context, send_some);
    wolfSSL_CTX_SetIORecv(endpoint->context, receive_some);
    wolfSSL_CTX_set_verify(endpoint->context, settings->verify ? WOLFSSL_VERIFY_PEER : WOLFSSL_VERIFY_NONE, look_at);
    error = set_identities(endpoint, settings);
    return error != 0 ? error : set_suites(endpoint, settings->suites);
}

/* ---- session ---- */

int tls_session_open(struct tls_session *session, struct tls_endpoint *endpoint, struct network_stream *stream,
                     const char *name)
{
    memset(session, 0, sizeof *session);
    session->stream = stream;
    session->call = "wolfSSL_new";
    session->ssl = wolfSSL_new(endpoint->context);
    if (session->ssl == NULL) {
        return MEMORY_E;
    }
    wolfSSL_SetIOReadCtx(session->ssl, session);
    wolfSSL_SetIOWriteCtx(session->ssl, session);
    wolfSSL_SetCertCbCtx(session->ssl, session);
    int result = WOLFSSL_SUCCESS;
    session->call = "wolfSSL_UseSupportedCurve";
    for (unsigned i = 0; i < sizeof curves / sizeof *curves && result == WOLFSSL_SUCCESS; i++) {
        result = wolfSSL_UseSupportedCurve(session->ssl, curves[i]);
    }
    if (result == WOLFSSL_SUCCESS && name != NULL) {
        session->call = "wolfSSL_UseSNI";
        result = wolfSSL_UseSNI(session->ssl, WOLFSSL_SNI_HOST_NAME, name, (unsigned short)strlen(name));
        if (result == WOLFSSL_SUCCESS && endpoint->verify) {
            session->call = "wolfSSL_check_domain_name";
            result = wolfSSL_check_domain_name(session->ssl, name);
        }
    }
    return result == WOLFSSL_SUCCESS ? 0 : result < 0 ? result : WOLFSSL_FATAL_ERROR;
}

/* The library's code behind a result that is no success. */
static int outcome(struct tls_session *session, const char *call, int result)
{
    session->call = call;
    session->error = 0;
    if (result > 0) {
        return result;
    }
    int error = wolfSSL_get_error(session->ssl, result);
    if (error == WOLFSSL_ERROR_WANT_READ || error == WOLFSSL_ERROR_WANT_WRITE) {
        return TLS_AGAIN;
    }
    session->error = error;
    return error;
}

int tls_handshake(struct tls_session *session)
{
    int result = outcome(session, wolfSSL_is_server(session->ssl) ? "wolfSSL_accept" : "wolfSSL_connect",
                         wolfSSL_negotiate(session->ssl));
    return result > 0 ? 0 : result;
}

int tls_write(struct tls_session *session, const void *data, size_t length)
{
    return outcome(session, "wolfSSL_write", wolfSSL_write(session->ssl, data, (int)length));
}

int tls_read(struct tls_session *session, void *data, size_t length)
{
    int result = outcome(session, "wolfSSL_read", wolfSSL_read(session->ssl, data, (int)length));
    return result == WOLFSSL_ERROR_ZERO_RETURN || result == SOCKET_PEER_CLOSED_E ? session->error = 0 : result;
}

void tls_close_notify(struct tls_session *session)
{
    wolfSSL_shutdown(session->ssl);
}

void tls_session_close(struct tls_session *session)
{
    wolfSSL_free(session->ssl);
    session->ssl = NULL;
}
