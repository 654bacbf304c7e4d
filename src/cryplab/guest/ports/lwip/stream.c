/* See network.h: TCP connections over lwIP's callbacks, which say what has changed to who waits for it. */
#include <string.h>

#include "clock.h"
#include "lwip/tcp.h"
#include "network.h"
#include "sharing.h"

#define CLOSE_WAIT_MS 20
#define CHUNK 0x7FFFu

static struct network_stream *waiting; /* for a client, who came first at the front */

static void failed(void *argument, err_t error)
{
    struct network_stream *stream = argument;
    stream->connection = NULL; /* lwIP has freed it */
    stream->error = error == ERR_RST ? NETWORK_REFUSED : error == ERR_MEM ? NETWORK_NO_MEMORY : NETWORK_TIMEOUT;
    network_changed(stream);
}

static err_t connected(void *argument, struct tcp_pcb *connection, err_t error)
{
    (void)connection, (void)error;
    struct network_stream *stream = argument;
    stream->connected = 1;
    network_changed(stream);
    return ERR_OK;
}

static err_t received(void *argument, struct tcp_pcb *connection, struct pbuf *data, err_t error)
{
    (void)connection, (void)error;
    struct network_stream *stream = argument;
    if (data == NULL) {
        stream->ended = 1;
    } else if (stream->received == NULL) {
        stream->received = data;
        stream->taken = 0;
    } else {
        pbuf_cat(stream->received, data);
    }
    network_changed(stream);
    return ERR_OK;
}

/* Bytes have arrived at the other side, so there is room for more. */
static err_t arrived(void *argument, struct tcp_pcb *connection, u16_t length)
{
    (void)connection, (void)length;
    network_changed(argument);
    return ERR_OK;
}

static void adopt(struct network_stream *stream, struct tcp_pcb *connection)
{
    stream->connection = connection;
    tcp_arg(connection, stream);
    tcp_err(connection, failed);
    tcp_recv(connection, received);
    tcp_sent(connection, arrived);
    tcp_nagle_disable(connection);
}

/* ---- waiting for a client ---- */

/* A client has come at a listener, whose argument is its port. */
static err_t accepted(void *argument, struct tcp_pcb *connection, err_t error)
{
    struct network_stream *stream = waiting;
    while (stream != NULL && (stream->connected || stream->port != (unsigned)argument)) {
        stream = stream->next;
    }
    if (error != ERR_OK || connection == NULL || stream == NULL) {
        return ERR_VAL; /* nobody waits: lwIP resets it */
    }
    adopt(stream, connection);
    stream->connected = 1;
    network_changed(stream);
    return ERR_OK;
}

static struct tcp_pcb *listen_at(uint16_t port)
{
    for (struct network_stream *other = waiting; other != NULL; other = other->next) {
        if (other->port == port) {
            return other->listener;
        }
    }
    struct tcp_pcb *fresh = tcp_new();
    if (fresh == NULL) {
        return NULL;
    }
    ip_set_option(fresh, SOF_REUSEADDR); /* those who came earlier have the same port */
    struct tcp_pcb *listener = tcp_bind(fresh, IP_ADDR_ANY, port) == ERR_OK ? tcp_listen(fresh) : NULL;
    if (listener == NULL) {
        tcp_close(fresh);
        return NULL;
    }
    tcp_arg(listener, (void *)(uint32_t)port);
    tcp_accept(listener, accepted);
    return listener;
}

int network_listen(struct network_stream *stream, uint16_t port)
{
    memset(stream, 0, sizeof *stream);
    network_enter();
    network_mine(stream);
    struct network_stream **end = &waiting;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    stream->port = port;
    stream->listener = listen_at(port);
    if (stream->listener != NULL) {
        *end = stream;
    }
    network_leave();
    return stream->listener != NULL ? NETWORK_OK : NETWORK_NO_MEMORY;
}

/* The last one who waits at a port closes it. */
static void stop_waiting(struct network_stream *stream)
{
    int others = 0;
    struct network_stream **at = &waiting;
    while (*at != NULL) {
        if (*at == stream) {
            *at = stream->next;
        } else {
            others |= (*at)->listener == stream->listener;
            at = &(*at)->next;
        }
    }
    if (!others) {
        tcp_close(stream->listener);
    }
    stream->listener = NULL;
    stream->next = NULL;
}

int network_accept(struct network_stream *stream, uint32_t limit_ms)
{
    network_enter();
    network_mine(stream);
    network_leave();
    uint32_t start = clock_tick();
    while (!stream->connected && clock_tick() - start <= limit_ms) {
        network_wait();
    }
    network_enter();
    stop_waiting(stream);
    network_leave();
    return stream->connected ? NETWORK_OK : NETWORK_TIMEOUT;
}

/* ---- connections ---- */

static int start_connecting(struct network_stream *stream, const ip_addr_t *address, uint16_t port)
{
    struct tcp_pcb *connection = tcp_new();
    if (connection == NULL) {
        return 0;
    }
    adopt(stream, connection);
    return tcp_connect(connection, address, port, connected) == ERR_OK;
}

int network_connect(struct network_stream *stream, const ip_addr_t *address, uint16_t port, uint32_t limit_ms)
{
    memset(stream, 0, sizeof *stream);
    network_enter();
    network_mine(stream);
    int started = start_connecting(stream, address, port);
    network_leave();
    uint32_t start = clock_tick();
    while (started && !stream->connected && !stream->error && clock_tick() - start <= limit_ms) {
        network_wait();
    }
    if (stream->connected || stream->error) {
        return stream->error;
    }
    network_close(stream);
    return started ? NETWORK_TIMEOUT : NETWORK_NO_MEMORY;
}

static int send_part(struct network_stream *stream, const uint8_t *data, size_t length)
{
    if (stream->error || stream->connection == NULL) {
        return stream->error ? stream->error : NETWORK_CLOSED;
    }
    size_t room = tcp_sndbuf(stream->connection);
    size_t part = length < room ? length : room;
    part = part < CHUNK ? part : CHUNK;
    if (part == 0 || tcp_write(stream->connection, data, (u16_t)part, TCP_WRITE_FLAG_COPY) != ERR_OK) {
        return NETWORK_AGAIN;
    }
    tcp_output(stream->connection);
    return (int)part;
}

int network_send(struct network_stream *stream, const uint8_t *data, size_t length)
{
    network_enter();
    network_mine(stream);
    network_work();
    int result = send_part(stream, data, length);
    network_leave();
    return result;
}

/* The first of what was received goes once it is taken. */
static void drop_first(struct network_stream *stream)
{
    struct pbuf *first = stream->received;
    stream->received = first->next;
    stream->taken = 0;
    if (first->next != NULL) {
        pbuf_ref(first->next);
    }
    pbuf_free(first);
}

static int receive_part(struct network_stream *stream, uint8_t *data, size_t length)
{
    size_t done = 0;
    while (done < length && stream->received != NULL) {
        struct pbuf *first = stream->received;
        size_t part = first->len - stream->taken;
        part = part < length - done ? part : length - done;
        memcpy(data + done, (const uint8_t *)first->payload + stream->taken, part);
        done += part;
        stream->taken += part;
        if (stream->taken == first->len) {
            drop_first(stream);
        }
    }
    if (done != 0) {
        if (stream->connection != NULL) {
            tcp_recved(stream->connection, (u16_t)done);
        }
        return (int)done;
    }
    return stream->error ? stream->error : stream->ended ? NETWORK_CLOSED : NETWORK_AGAIN;
}

int network_receive(struct network_stream *stream, uint8_t *data, size_t length)
{
    network_enter();
    network_mine(stream);
    network_work();
    int result = receive_part(stream, data, length);
    network_leave();
    return result;
}

/* Nothing of lwIP's points at the stream any more; whether there was a connection. */
static int release(struct network_stream *stream)
{
    if (stream->received != NULL) {
        pbuf_free(stream->received);
        stream->received = NULL;
    }
    struct tcp_pcb *connection = stream->connection;
    stream->connection = NULL;
    if (connection == NULL) {
        return 0;
    }
    tcp_arg(connection, NULL);
    tcp_err(connection, NULL);
    tcp_recv(connection, NULL);
    tcp_sent(connection, NULL);
    if (tcp_close(connection) != ERR_OK) {
        tcp_abort(connection);
    }
    return 1;
}

void network_close(struct network_stream *stream)
{
    network_enter();
    int open = release(stream) && stream->connected;
    network_leave();
    uint32_t start = clock_tick();
    while (open && clock_tick() - start < CLOSE_WAIT_MS) {
        network_wait_at_most(CLOSE_WAIT_MS - (clock_tick() - start)); /* the last bytes leave before the core stops */
    }
}
