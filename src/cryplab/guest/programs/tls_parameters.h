/* What the host tells the TLS client between loading and starting, and what the client leaves behind.
 *
 * Little endian, natural alignment, all of it at fixed symbols; src/cryplab/tls.py has the same layout.
 *
 *   cryplab_tls                              wishes; they count when the magic is CRYPLAB_TLS_MAGIC
 *   cryplab_tls_end                          how it ended
 *   cryplab_phases, cryplab_phases_count     what took how long; complete up to the count at any moment
 */
#ifndef TLS_PARAMETERS_H
#define TLS_PARAMETERS_H

#include <stdint.h>

#define CRYPLAB_TLS_MAGIC 0x53544C43u /* "CLTS" in memory order */

enum tls_verify { TLS_VERIFY_NONE, TLS_VERIFY_REQUIRED = 2 };

struct cryplab_tls_parameters {
    uint32_t magic;
    uint32_t date;         /* seconds since 1970 UTC for the RTC; 0: it has been set */
    uint32_t limit_ms;     /* virtual time to wait for the other side */
    uint32_t print_bytes;  /* of the answer */
    uint16_t port;
    uint16_t verify;       /* enum tls_verify */
    uint8_t mac[6];
    uint16_t suites[21];   /* IANA numbers in order of preference, ended by 0; none: the library's own list */
    char host[128];        /* to connect to: name or dotted digits */
    char server_name[128]; /* for SNI, the certificate and the Host line */
    char path[256];
    char expect[64];       /* text that the answer must contain; empty: none */
    uint32_t ca_bytes;     /* PEM, with its closing zero; 0: none */
    char ca[8192];
};

enum tls_stage {
    TLS_DONE, TLS_SETUP, TLS_LINK, TLS_DHCP, TLS_DNS, TLS_CONNECT, TLS_HANDSHAKE, TLS_REQUEST, TLS_RESPONSE, TLS_ANSWER,
    TLS_BESIDE, /* the session went well, what ran beside it did not */
};

struct cryplab_tls_end {
    uint32_t stage;        /* enum tls_stage: where it failed; TLS_DONE when it did not */
    int32_t error;         /* the library's code, or enum network_error */
    uint32_t verify_flags; /* MBEDTLS_X509_BADCERT_..., all ones: not known */
    int32_t alert;         /* description of a fatal alert received, -1: none */
    uint32_t suite;        /* IANA number, 0: none agreed */
    uint32_t status;       /* of HTTP */
    uint32_t received;     /* bytes of the answer */
};

struct cryplab_phase {     /* 40 bytes */
    const char *name;
    uint32_t calls, bytes;
    uint32_t reserved;
    uint64_t start, end;   /* core cycles, as clock_cycles() counts */
    uint64_t idle;         /* of these slept, waiting for the network */
};

extern struct cryplab_tls_parameters cryplab_tls;
extern struct cryplab_tls_end cryplab_tls_end;
extern struct cryplab_phase cryplab_phases[12];
extern uint32_t cryplab_phases_count;

#endif
