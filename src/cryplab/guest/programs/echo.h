/* What echo client and echo server have in common: the host's wishes, conversations (a TLS session over a TCP stream
 * each), and the report. There is one conversation, or under the kernel several, each in a task of its own.
 *
 * Each program includes it once. Little endian, natural alignment; src/cryplab/tls/echo.py has the same layout.
 */
#ifndef ECHO_H
#define ECHO_H

#include "clock.h"
#include "console.h"
#include "date.h"
#include "network.h"
#include "rows.h"
#include "tls_session.h"

#define ECHO_MAGIC 0x4F484345u /* "ECHO" in memory order */

struct cryplab_echo {
    uint32_t magic;
    uint32_t date;       /* seconds since 1970 UTC for the RTC */
    uint32_t limit_ms;   /* virtual time to wait for the other side */
    uint32_t bytes;      /* client: to send and to have back, in each conversation */
    uint16_t port;
    uint16_t sessions;   /* under the kernel: conversations at once, 1 to SESSIONS_MOST */
    uint8_t address[4];  /* our own; 0.0.0.0: by DHCP */
    uint8_t mac[6];
    uint16_t suites[TLS_SUITES_MOST]; /* IANA numbers in order of preference, ended by 0; none: the library's own list */
    char peer[64];       /* client: the server's address, digits or a name */
    char name[64];       /* client: in the server's certificate */
    uint32_t pem_bytes;  /* client: the CA; server: certificate and key; with its closing zero */
    char pem[4096];
};

#define SESSIONS_MOST 4

/* Of all conversations and of each: bytes echoed, and 0 or the code of what failed. */
struct cryplab_echoed {
    uint32_t bytes;
    int32_t error;
};

uint32_t cryplab_echoed;
int32_t cryplab_echo_error;
struct cryplab_echoed cryplab_echo_sessions[SESSIONS_MOST];

__attribute__((section(".noinit"))) struct cryplab_echo cryplab_echo;

#define CHUNK 2048

struct conversation {
    struct cryplab_echoed *report;
    struct tls_session session;
    struct network_stream stream;
    unsigned char data[CHUNK], back[CHUNK];
};

static struct tls_endpoint endpoint;

static void say(const struct conversation *conversation, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int run_conversations(int (*prepare)(struct conversation *), int (*talk)(struct conversation *));

#if defined(CRYPLAB_KERNEL)
#include "echo_tasks.h"
#else
#include "echo_alone.h"
#endif

static void went_around(struct conversation *conversation, size_t length)
{
    conversation->report->bytes += (uint32_t)length;
    uint32_t total = 0;
    for (unsigned i = 0; i < SESSIONS_MOST; i++) {
        total += cryplab_echo_sessions[i].bytes;
    }
    cryplab_echoed = total;
}

/* All of these return 1: the step failed. The conversation is NULL before there is one. */
static int failed(struct conversation *conversation, const char *call, int error, const char *words)
{
    cryplab_echo_error = error;
    if (conversation != NULL) {
        conversation->report->error = error;
    }
    say(conversation, "%s() failed: %s\n", call, words);
    return 1;
}

static int network_failed(struct conversation *conversation, const char *call, int error)
{
    char words[80];
    console_snprintf(words, sizeof words, "%s (%d)", network_words(error), error);
    return failed(conversation, call, error, words);
}

static int library_failed(struct conversation *conversation, const char *call, int error)
{
    if (conversation != NULL && conversation->session.network_error != 0) {
        return network_failed(conversation, call, conversation->session.network_error);
    }
    char words[128];
    tls_describe(error, words, sizeof words);
    return failed(conversation, call, error, words);
}

/* True when the call is to be made again; waits until something may have changed. */
static int again(struct conversation *conversation, int result, uint32_t start)
{
    if (result != TLS_AGAIN) {
        return 0;
    }
    if (clock_tick() - start > cryplab_echo.limit_ms) {
        conversation->session.network_error = NETWORK_TIMEOUT;
        return 0;
    }
    network_wait();
    return 1;
}

static int setup(const struct tls_settings *settings)
{
    date_set(cryplab_echo.date);
    int error = tls_endpoint_open(&endpoint, settings);
    return error != 0 ? library_failed(NULL, endpoint.call, error) : 0;
}

static int open_network(void)
{
    console_printf("\nUsing Ethernet LWIP\n");
    int error = network_start(cryplab_echo.mac);
    if (error == NETWORK_OK && cryplab_echo.address[0] != 0) {
        network_set_address(cryplab_echo.address);
    } else if (error == NETWORK_OK) {
        error = network_dhcp();
    }
    if (error != NETWORK_OK) {
        return network_failed(NULL, "network_start", error);
    }
    console_printf("IP Address is %s\n", network_address());
    return 0;
}

static int handshake(struct conversation *conversation)
{
    struct tls_session *session = &conversation->session;
    uint32_t start = clock_tick();
    int error = tls_session_open(session, &endpoint, &conversation->stream,
                                 cryplab_echo.name[0] != 0 ? cryplab_echo.name : NULL);
    while (error == 0 && again(conversation, error = tls_handshake(session), start)) {
        error = 0;
    }
    if (error != 0) {
        return library_failed(conversation, session->call, error);
    }
    say(conversation, "TLS connection established, %s\n", tls_suite_name(session));
    return 0;
}

/* 0, or a code. */
static int write_all(struct conversation *conversation, const unsigned char *data, size_t length)
{
    uint32_t start = clock_tick();
    for (size_t done = 0; done < length;) {
        int result = tls_write(&conversation->session, data + done, length - done);
        if (result > 0) {
            done += (size_t)result;
        } else if (!again(conversation, result, start)) {
            return result;
        }
    }
    return 0;
}

/* Some bytes; 0 at the end of the connection. */
static int read_some(struct conversation *conversation, unsigned char *data, size_t length)
{
    uint32_t start = clock_tick();
    int result;
    do {
        result = tls_read(&conversation->session, data, length);
    } while (again(conversation, result, start));
    return result;
}

static void hang_up(struct conversation *conversation, int error)
{
    if (!error) {
        tls_close_notify(&conversation->session);
    }
    network_close(&conversation->stream);
}

#endif
