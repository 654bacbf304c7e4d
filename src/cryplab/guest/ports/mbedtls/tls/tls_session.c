/* See programs/tls_session.h: mbed TLS. */
#include "tls_session.h"

#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "mbedtls/entropy_poll.h"
#include "mbedtls/error.h"
#include "mbedtls/ssl_internal.h"

#define ERROR_NETWORK (-0x004C) /* MBEDTLS_ERR_NET_RECV_FAILED: of a module that is not here */
#define LINES_BYTES 1024
#define INDENT "    "

/* The library's own order begins with the largest. */
static const mbedtls_ecp_group_id curves[] = {
    MBEDTLS_ECP_DP_SECP256R1, MBEDTLS_ECP_DP_SECP384R1, MBEDTLS_ECP_DP_CURVE25519, MBEDTLS_ECP_DP_NONE,
};

uint32_t network_random(void)
{
    uint32_t word = 0;
    size_t given;
    mbedtls_hardware_poll(NULL, (unsigned char *)&word, sizeof word, &given);
    return word;
}

/* ---- endpoint ---- */

static int set_identities(struct tls_endpoint *endpoint, const struct tls_settings *settings)
{
    int error = 0;
    if (settings->ca_bytes != 0) {
        endpoint->call = "mbedtls_x509_crt_parse";
        error = mbedtls_x509_crt_parse(&endpoint->authority, (const unsigned char *)settings->ca, settings->ca_bytes);
    }
    if (error == 0 && settings->own_bytes != 0) {
        const unsigned char *own = (const unsigned char *)settings->own;
        endpoint->call = "mbedtls_x509_crt_parse";
        error = mbedtls_x509_crt_parse(&endpoint->certificate, own, settings->own_bytes);
        if (error == 0) {
            endpoint->call = "mbedtls_pk_parse_key";
            error = mbedtls_pk_parse_key(&endpoint->key, own, settings->own_bytes, NULL, 0);
        }
        if (error == 0) {
            endpoint->call = "mbedtls_ssl_conf_own_cert";
            error = mbedtls_ssl_conf_own_cert(&endpoint->config, &endpoint->certificate, &endpoint->key);
        }
    }
    return error;
}

static void set_wishes(struct tls_endpoint *endpoint, const struct tls_settings *settings)
{
    mbedtls_ssl_conf_ca_chain(&endpoint->config, &endpoint->authority, NULL);
    mbedtls_ssl_conf_authmode(&endpoint->config, settings->verify ? MBEDTLS_SSL_VERIFY_REQUIRED : MBEDTLS_SSL_VERIFY_NONE);
    mbedtls_ssl_conf_curves(&endpoint->config, curves);
    mbedtls_ssl_conf_rng(&endpoint->config, mbedtls_ctr_drbg_random, &endpoint->random);
    unsigned count = 0;
    while (settings->suites != NULL && count < TLS_SUITES_MOST && settings->suites[count] != 0) {
        endpoint->suites[count] = settings->suites[count];
        count++;
    }
    if (count != 0) {
        mbedtls_ssl_conf_ciphersuites(&endpoint->config, endpoint->suites);
    }
}

int tls_endpoint_open(struct tls_endpoint *endpoint, const struct tls_settings *settings)
{
    memset(endpoint, 0, sizeof *endpoint);
    mbedtls_entropy_init(&endpoint->entropy);
    mbedtls_ctr_drbg_init(&endpoint->random);
    mbedtls_x509_crt_init(&endpoint->authority);
    mbedtls_x509_crt_init(&endpoint->certificate);
    mbedtls_pk_init(&endpoint->key);
    mbedtls_ssl_config_init(&endpoint->config);
    const char *call = endpoint->call = "mbedtls_ctr_drbg_seed";
    int error = mbedtls_ctr_drbg_seed(&endpoint->random, mbedtls_entropy_func, &endpoint->entropy,
                                      (const unsigned char *)call, strlen(call));
    if (error == 0) {
        endpoint->call = "mbedtls_ssl_config_defaults";
        error = mbedtls_ssl_config_defaults(&endpoint->config,
                                            settings->server ? MBEDTLS_SSL_IS_SERVER : MBEDTLS_SSL_IS_CLIENT,
                                            MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
    }
    if (error == 0) {
        error = set_identities(endpoint, settings);
    }
    set_wishes(endpoint, settings);
    return error;
}

/* ---- what mbed TLS calls ---- */

static int library_error(struct tls_session *session, int error, int again)
{
    if (error == NETWORK_AGAIN) {
        return again;
    }
    if (error == NETWORK_CLOSED && again == MBEDTLS_ERR_SSL_WANT_READ) {
        return 0; /* end of file: the library says what that means */
    }
    session->network_error = error;
    return ERROR_NETWORK;
}

static int send_some(void *context, const unsigned char *data, size_t length)
{
    struct tls_session *session = context;
    int done = network_send(session->stream, data, length);
    return done > 0 ? done : library_error(session, done, MBEDTLS_ERR_SSL_WANT_WRITE);
}

static int receive_some(void *context, unsigned char *data, size_t length)
{
    struct tls_session *session = context;
    int done = network_receive(session->stream, data, length);
    return done > 0 ? done : library_error(session, done, MBEDTLS_ERR_SSL_WANT_READ);
}

/* Called for each certificate of the chain, the server's last. The library drops a chain that it does not accept, so its
 * words are taken here. */
static int look_at(void *context, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
    struct tls_session *session = context;
    session->chain_flags |= *flags;
    if (depth == 0 && session->chain_flags != 0 && session->rejected == NULL) {
        session->rejected = malloc(LINES_BYTES);
        if (session->rejected != NULL) {
            mbedtls_x509_crt_info(session->rejected, LINES_BYTES, INDENT, certificate);
        }
    }
    return 0;
}

/* ---- session ---- */

int tls_session_open(struct tls_session *session, struct tls_endpoint *endpoint, struct network_stream *stream,
                     const char *name)
{
    memset(session, 0, sizeof *session);
    session->stream = stream;
    mbedtls_ssl_init(&session->ssl);
    session->call = "mbedtls_ssl_setup";
    int error = mbedtls_ssl_setup(&session->ssl, &endpoint->config);
    if (error == 0 && name != NULL) {
        session->call = "mbedtls_ssl_set_hostname";
        error = mbedtls_ssl_set_hostname(&session->ssl, name);
    }
    mbedtls_ssl_set_verify(&session->ssl, look_at, session);
    mbedtls_ssl_set_bio(&session->ssl, session, send_some, receive_some, NULL);
    return error;
}

static int outcome(struct tls_session *session, const char *call, int result)
{
    session->call = call;
    if (result == MBEDTLS_ERR_SSL_WANT_READ || result == MBEDTLS_ERR_SSL_WANT_WRITE) {
        return TLS_AGAIN;
    }
    session->error = result < 0 ? result : 0;
    return result;
}

int tls_handshake(struct tls_session *session)
{
    return outcome(session, "mbedtls_ssl_handshake", mbedtls_ssl_handshake(&session->ssl));
}

int tls_write(struct tls_session *session, const void *data, size_t length)
{
    return outcome(session, "mbedtls_ssl_write", mbedtls_ssl_write(&session->ssl, data, length));
}

int tls_read(struct tls_session *session, void *data, size_t length)
{
    int result = mbedtls_ssl_read(&session->ssl, data, length);
    if (result == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY || result == MBEDTLS_ERR_SSL_CONN_EOF) {
        result = 0;
    }
    return outcome(session, "mbedtls_ssl_read", result);
}

void tls_close_notify(struct tls_session *session)
{
    mbedtls_ssl_close_notify(&session->ssl);
}

void tls_session_close(struct tls_session *session)
{
    mbedtls_ssl_free(&session->ssl);
    free(session->rejected);
    session->rejected = NULL;
}

/* ---- what is known of a session ---- */

void tls_describe(int error, char *text, size_t size)
{
    int length = console_snprintf(text, size, "-0x%04x (%d): ", (unsigned)-error, error);
    mbedtls_strerror(error, text + length, size - (size_t)length);
}

int tls_alert(const struct tls_session *session)
{
    return session->error == MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE ? session->ssl.in_msg[1] : -1;
}

uint32_t tls_suite(const struct tls_session *session)
{
    return session->ssl.session != NULL ? (uint32_t)session->ssl.session->ciphersuite : 0;
}

const char *tls_suite_name(const struct tls_session *session)
{
    return mbedtls_ssl_get_ciphersuite(&session->ssl);
}

uint32_t tls_records(const struct tls_session *session)
{
    const unsigned char *counter = session->ssl.in_ctr;
    return (uint32_t)counter[4] << 24 | (uint32_t)counter[5] << 16 | (uint32_t)counter[6] << 8 | counter[7];
}

int tls_certificate(const struct tls_session *session, char *text, size_t size)
{
    const mbedtls_x509_crt *certificate = mbedtls_ssl_get_peer_cert(&session->ssl);
    if (certificate == NULL) {
        return console_snprintf(text, size, "%s", session->rejected != NULL ? session->rejected : "");
    }
    int length = mbedtls_x509_crt_info(text, size, INDENT, certificate);
    return length > 0 ? length : 0;
}

int tls_certificate_refused(const struct tls_session *session)
{
    return session->error == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED;
}

uint32_t tls_verdict(const struct tls_session *session)
{
    const mbedtls_ssl_context *ssl = &session->ssl;
    if (ssl->session != NULL) {
        return mbedtls_ssl_get_verify_result(ssl);
    }
    return ssl->session_negotiate != NULL ? ssl->session_negotiate->verify_result : session->chain_flags;
}

void tls_verdict_words(uint32_t verdict, char *text, size_t size)
{
    mbedtls_x509_crt_verify_info(text, size, INDENT, verdict);
}
