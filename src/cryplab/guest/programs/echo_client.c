/* Sends bytes to a TLS echo server and compares what comes back: it shows that long conversations stay right. */
#include <string.h>

#include "echo.h"

#define STARTING_MS 500 /* a server on a board that was switched on with ours may refuse so long */
#define PAUSE_MS 10

static int nothing(struct conversation *conversation)
{
    (void)conversation;
    return 0;
}

static void pause_ms(uint32_t ms)
{
    for (uint32_t start = clock_tick(); clock_tick() - start < ms;) {
        network_wait();
    }
}

static int connect_server(struct conversation *conversation)
{
    ip_addr_t address;
    uint32_t start = clock_tick();
    int error = network_resolve(cryplab_echo.peer, &address);
    if (error == NETWORK_OK) {
        error = network_connect(&conversation->stream, &address, cryplab_echo.port, cryplab_echo.limit_ms);
    }
    while (error == NETWORK_REFUSED && clock_tick() - start < STARTING_MS) {
        pause_ms(PAUSE_MS);
        error = network_connect(&conversation->stream, &address, cryplab_echo.port, cryplab_echo.limit_ms);
    }
    return error != NETWORK_OK ? network_failed(conversation, "network_connect", error) : 0;
}

static int exchange(struct conversation *conversation)
{
    unsigned char *sent = conversation->data, *back = conversation->back;
    const struct cryplab_echoed *report = conversation->report;
    uint32_t number = (uint32_t)(report - cryplab_echo_sessions); /* each has bytes of its own */
    while (report->bytes < cryplab_echo.bytes) {
        uint32_t left = cryplab_echo.bytes - report->bytes;
        size_t length = left < CHUNK ? left : CHUNK;
        for (size_t i = 0; i < length; i++) {
            number = number * 1664525u + 1013904223u;
            sent[i] = (unsigned char)(number >> 24);
        }
        int result = write_all(conversation, sent, length);
        for (size_t done = 0; result >= 0 && done < length; done += (size_t)result) {
            result = read_some(conversation, back + done, length - done);
            if (result == 0) {
                return network_failed(conversation, conversation->session.call, NETWORK_CLOSED);
            }
        }
        if (result < 0) {
            return library_failed(conversation, conversation->session.call, result);
        }
        if (memcmp(sent, back, length) != 0) {
            say(conversation, "byte %u or later came back wrong\n", (unsigned)report->bytes);
            return 1;
        }
        went_around(conversation, length);
    }
    say(conversation, "%u bytes came back right\n", (unsigned)report->bytes);
    return 0;
}

static int talk(struct conversation *conversation)
{
    int error = connect_server(conversation) || handshake(conversation) || exchange(conversation);
    hang_up(conversation, error);
    return error;
}

int main(void)
{
    const struct tls_settings settings = {
        .verify = 1, .suites = cryplab_echo.suites, .ca = cryplab_echo.pem, .ca_bytes = cryplab_echo.pem_bytes,
    };
    return setup(&settings) || open_network() || run_conversations(nothing, talk);
}
