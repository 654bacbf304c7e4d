/* See network.h: one TCP connection over lwIP's callbacks. */
#include <string.h>

#include "clock.h"
#include "lwip/tcp.h"
#include "network.h"

#define CLOSE_WAIT_MS 20
#define CHUNK 0x7FFFu

static void failed(void *argument, err_t error)
{
    struct network_stream *stream = argument;
    stream->connection = NULL; /* lwIP has freed it */
    stream->error = error == ERR_RST ? NETWORK_REFUSED : error == ERR_MEM ? NETWORK_NO_MEMORY : NETWORK_TIMEOUT;
}

static err_t connected(void *argument, struct tcp_pcb *connection, err_t error)
{
    (void)connection, (void)error;
    ((struct network_stream *)argument)->connected = 1;
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
    return ERR_OK;
}

static void adopt(struct network_stream *stream, struct tcp_pcb *connection)
{
    stream->connection = connection;
    tcp_arg(connection, stream);
    tcp_err(connection, failed);
    tcp_recv(connection, received);
    tcp_nagle_disable(connection);
}

static err_t accepted(void *argument, struct tcp_pcb *connection, err_t error)
{
    struct network_stream *stream = argument;
    if (error != ERR_OK || connection == NULL || stream->connected) {
        return ERR_VAL; /* one at a time: lwIP resets it */
    }
    adopt(stream, connection);
    stream->connected = 1;
    return ERR_OK;
}

int network_accept(struct network_stream *stream, uint16_t port, uint32_t limit_ms)
{
    memset(stream, 0, sizeof *stream);
    struct tcp_pcb *fresh = tcp_new();
    if (fresh == NULL || tcp_bind(fresh, IP_ADDR_ANY, port) != ERR_OK) {
        return NETWORK_NO_MEMORY;
    }
    struct tcp_pcb *listener = tcp_listen_with_backlog(fresh, 1);
    if (listener == NULL) {
        return NETWORK_NO_MEMORY;
    }
    tcp_arg(listener, stream);
    tcp_accept(listener, accepted);
    uint32_t start = clock_tick();
    while (!stream->connected && clock_tick() - start <= limit_ms) {
        network_wait();
    }
    tcp_close(listener);
    return stream->connected ? NETWORK_OK : NETWORK_TIMEOUT;
}

int network_connect(struct network_stream *stream, const ip_addr_t *address, uint16_t port, uint32_t limit_ms)
{
    memset(stream, 0, sizeof *stream);
    struct tcp_pcb *connection = tcp_new();
    if (connection == NULL) {
        return NETWORK_NO_MEMORY;
    }
    adopt(stream, connection);
    if (tcp_connect(stream->connection, address, port, connected) != ERR_OK) {
        return NETWORK_NO_MEMORY;
    }
    uint32_t start = clock_tick();
    while (!stream->connected && !stream->error) {
        if (clock_tick() - start > limit_ms) {
            network_close(stream);
            return NETWORK_TIMEOUT;
        }
        network_wait();
    }
    return stream->error;
}

int network_send(struct network_stream *stream, const uint8_t *data, size_t length)
{
    network_poll();
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

int network_receive(struct network_stream *stream, uint8_t *data, size_t length)
{
    network_poll();
    size_t done = 0;
    while (done < length && stream->received != NULL) {
        struct pbuf *first = stream->received;
        size_t part = first->len - stream->taken;
        part = part < length - done ? part : length - done;
        memcpy(data + done, (const uint8_t *)first->payload + stream->taken, part);
        done += part;
        stream->taken += part;
        if (stream->taken == first->len) {
            stream->received = first->next;
            stream->taken = 0;
            if (first->next != NULL) {
                pbuf_ref(first->next);
            }
            pbuf_free(first);
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

void network_close(struct network_stream *stream)
{
    if (stream->received != NULL) {
        pbuf_free(stream->received);
        stream->received = NULL;
    }
    struct tcp_pcb *connection = stream->connection;
    stream->connection = NULL;
    if (connection == NULL) {
        return;
    }
    tcp_arg(connection, NULL);
    tcp_err(connection, NULL);
    tcp_recv(connection, NULL);
    if (tcp_close(connection) != ERR_OK) {
        tcp_abort(connection);
    }
    uint32_t start = clock_tick();
    for (uint32_t limit = stream->connected ? CLOSE_WAIT_MS : 0; clock_tick() - start < limit;) {
        network_wait(); /* the last bytes leave before the core stops */
    }
}
