/* What echo client and echo server have in common: the host's wishes, a TLS session over a TCP stream, and the report.
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
    uint32_t bytes;      /* client: to send and to have back */
    uint16_t port;
    uint8_t address[4];  /* our own; 0.0.0.0: by DHCP */
    uint8_t mac[6];
    uint16_t suites[TLS_SUITES_MOST]; /* IANA numbers in order of preference, ended by 0; none: the library's own list */
    char peer[64];       /* client: the server's address, digits or a name */
    char name[64];       /* client: in the server's certificate */
    uint32_t pem_bytes;  /* client: the CA; server: certificate and key; with its closing zero */
    char pem[4096];
};

/* Bytes echoed, and 0 or the code of what failed. */
uint32_t cryplab_echoed;
int32_t cryplab_echo_error;

__attribute__((section(".noinit"))) struct cryplab_echo cryplab_echo;

static struct tls_endpoint endpoint;
static struct tls_session session;
static struct network_stream stream;

/* All of these return 1: the step failed. */
static int network_failed(const char *call, int error)
{
    cryplab_echo_error = error;
    console_printf("%s() failed: %s (%d)\n", call, network_words(error), error);
    return 1;
}

static int library_failed(const char *call, int error)
{
    if (session.network_error != 0) {
        return network_failed(call, session.network_error);
    }
    char words[128];
    cryplab_echo_error = error;
    tls_describe(error, words, sizeof words);
    console_printf("%s() failed: %s\n", call, words);
    return 1;
}

/* True when the call is to be made again; waits until something may have changed. */
static int again(int result, uint32_t start)
{
    if (result != TLS_AGAIN) {
        return 0;
    }
    if (clock_tick() - start > cryplab_echo.limit_ms) {
        session.network_error = NETWORK_TIMEOUT;
        return 0;
    }
    network_wait();
    return 1;
}

static int setup(const struct tls_settings *settings)
{
    date_set(cryplab_echo.date);
    int error = tls_endpoint_open(&endpoint, settings);
    return error != 0 ? library_failed(endpoint.call, error) : 0;
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
        return network_failed("network_start", error);
    }
    console_printf("IP Address is %s\n", network_address());
    return 0;
}

static int handshake(void)
{
    uint32_t start = clock_tick();
    int error = tls_session_open(&session, &endpoint, &stream, cryplab_echo.name[0] != 0 ? cryplab_echo.name : NULL);
    while (error == 0 && again(error = tls_handshake(&session), start)) {
        error = 0;
    }
    if (error != 0) {
        return library_failed(session.call, error);
    }
    console_printf("TLS connection established, %s\n", tls_suite_name(&session));
    return 0;
}

/* 0, or a code. */
static int write_all(const unsigned char *data, size_t length)
{
    uint32_t start = clock_tick();
    for (size_t done = 0; done < length;) {
        int result = tls_write(&session, data + done, length - done);
        if (result > 0) {
            done += (size_t)result;
        } else if (!again(result, start)) {
            return result;
        }
    }
    return 0;
}

/* Some bytes; 0 at the end of the connection. */
static int read_some(unsigned char *data, size_t length)
{
    uint32_t start = clock_tick();
    int result;
    do {
        result = tls_read(&session, data, length);
    } while (again(result, start));
    return result;
}

#endif
