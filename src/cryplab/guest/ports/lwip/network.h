/* The reference programs' way to the network: lwIP with calls that wait, in one main loop or in tasks of the kernel.
 *
 * Whoever waits calls network_wait(), which returns when something may have changed, and now and then, so that the caller
 * can look at the time; meanwhile the core sleeps or other tasks run. Several tasks may call all of these; a stream
 * belongs to one task at a time. Times are virtual milliseconds.
 */
#ifndef NETWORK_H
#define NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "lwip/ip_addr.h"

enum network_error {
    NETWORK_OK = 0,
    NETWORK_NO_PHY = -1,     /* MAC held in reset, or nobody answers on MDIO */
    NETWORK_NO_LINK = -2,    /* auto-negotiation did not end */
    NETWORK_NO_ADDRESS = -3, /* DHCP gave none */
    NETWORK_NO_NAME = -4,    /* DNS does not know the name */
    NETWORK_REFUSED = -5,    /* connection reset by the other side */
    NETWORK_TIMEOUT = -6,
    NETWORK_CLOSED = -7,     /* the other side ended the connection */
    NETWORK_AGAIN = -8,      /* nothing now: network_wait() and try again */
    NETWORK_NO_MEMORY = -9,
};

const char *network_words(int error);

/* Start interface and link; in a build for tasks, the kernel, too. */
int network_start(const uint8_t mac[6]);
/* Get an address by DHCP. */
int network_dhcp(void);
/* Take this address (network byte order in memory) instead, in a network of 256. */
void network_set_address(const uint8_t address[4]);
/* Our address as text. */
const char *network_address(void);
/* Address of a name or of dotted digits. */
int network_resolve(const char *name, ip_addr_t *address);

void network_wait(void);
/* Core cycles slept so far because everybody waited. */
uint64_t network_idle_cycles(void);

/* ---- a TCP connection ---- */

struct tcp_pcb;
struct pbuf;

struct network_stream {
    struct tcp_pcb *connection;
    struct pbuf *received; /* not taken yet */
    size_t taken;          /* of the first received buffer */
    int error;             /* once there was one */
    int connected, ended;
    unsigned task;         /* that uses it */
    /* while it waits for a client */
    uint16_t port;
    struct tcp_pcb *listener;
    struct network_stream *next;
};

int network_connect(struct network_stream *stream, const ip_addr_t *address, uint16_t port, uint32_t limit_ms);
/* From now on a client may come at a port. Several streams may wait at one; a client that comes when none does is refused. */
int network_listen(struct network_stream *stream, uint16_t port);
/* Wait for the client. */
int network_accept(struct network_stream *stream, uint32_t limit_ms);
/* Bytes that went into the send buffer, or NETWORK_AGAIN or another error. */
int network_send(struct network_stream *stream, const uint8_t *data, size_t length);
/* Bytes received, or NETWORK_AGAIN, NETWORK_CLOSED or another error. */
int network_receive(struct network_stream *stream, uint8_t *data, size_t length);
/* Close; waits 20 ms for the last bytes to leave. */
void network_close(struct network_stream *stream);

#endif
