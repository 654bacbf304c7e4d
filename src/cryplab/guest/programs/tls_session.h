/* What the programs need of a TLS library: an endpoint (role, suites, certificates, random source), and sessions on it.
 *
 * Each library's port has it: ports/mbedtls/tls, ports/wolfssl/tls. An endpoint serves any number of sessions, each over
 * a stream of its own; a session belongs to one task at a time. Codes of errors are the library's own, below 0.
 */
#ifndef TLS_SESSION_H
#define TLS_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "network.h"
#include "tls_library.h" /* the port's: struct tls_endpoint, struct tls_session */

#define TLS_AGAIN (-0x10000) /* nothing now: network_wait() and call again */
#define TLS_SUITES_MOST 21

struct tls_settings {
    int server;             /* role */
    int verify;             /* the other side must show a certificate that `ca` has signed */
    const uint16_t *suites; /* IANA numbers in order of preference, ended by 0, at most TLS_SUITES_MOST; none: the library's */
    const char *ca;         /* PEM with its closing zero, `ca_bytes` long; 0: none */
    size_t ca_bytes;
    const char *own;        /* our certificate and its key, likewise */
    size_t own_bytes;
};

/* 0, or the code of what failed; `endpoint->call` is the library's call. */
int tls_endpoint_open(struct tls_endpoint *endpoint, const struct tls_settings *settings);

/* Prepare a session over `stream`, which may be connected later. `name`: client: of the server, for SNI and certificate;
 * NULL: none. 0, or the code of what failed; from here on `session->call` is the library's call. */
int tls_session_open(struct tls_session *session, struct tls_endpoint *endpoint, struct network_stream *stream,
                     const char *name);

/* 0 when it is done, TLS_AGAIN, or the code of what failed. When it was the stream, `session->network_error` says so. */
int tls_handshake(struct tls_session *session);
/* Bytes written or read, TLS_AGAIN or a code; 0 read: the other side has ended the conversation. */
int tls_write(struct tls_session *session, const void *data, size_t length);
int tls_read(struct tls_session *session, void *data, size_t length);
/* Say that we end it. */
void tls_close_notify(struct tls_session *session);
void tls_session_close(struct tls_session *session);

/* ---- what is known of a session ---- */

/* A code as people quote it: number and the library's words. */
void tls_describe(int error, char *text, size_t size);
/* Description of a fatal alert received, -1: none. */
int tls_alert(const struct tls_session *session);
/* Suite agreed on: IANA number, the library's name. */
uint32_t tls_suite(const struct tls_session *session);
const char *tls_suite_name(const struct tls_session *session);
/* Records received since encryption began. */
uint32_t tls_records(const struct tls_session *session);
/* The other side's certificate in lines, accepted or not; the number of characters, 0: none came. */
int tls_certificate(const struct tls_session *session, char *text, size_t size);
/* True when the handshake failed by the certificate. */
int tls_certificate_refused(const struct tls_session *session);
/* What is wrong with the certificate: the library's number, 0 for nothing, and its words in lines. */
uint32_t tls_verdict(const struct tls_session *session);
void tls_verdict_words(uint32_t verdict, char *text, size_t size);

#endif
