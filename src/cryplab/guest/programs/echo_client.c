/* Sends bytes to a TLS echo server and compares what comes back: it shows that long conversations stay right. */
#include <string.h>

#include "echo.h"

#define CHUNK 2048

static unsigned char sent[CHUNK], back[CHUNK];

static int connect_server(void)
{
    ip_addr_t address;
    int error = network_resolve(cryplab_echo.peer, &address);
    if (error == NETWORK_OK) {
        error = network_connect(&stream, &address, cryplab_echo.port, cryplab_echo.limit_ms);
    }
    return error != NETWORK_OK ? network_failed("network_connect", error) : 0;
}

static int exchange(void)
{
    uint32_t number = 0;
    while (cryplab_echoed < cryplab_echo.bytes) {
        uint32_t left = cryplab_echo.bytes - cryplab_echoed;
        size_t length = left < CHUNK ? left : CHUNK;
        for (size_t i = 0; i < length; i++) {
            number = number * 1664525u + 1013904223u;
            sent[i] = (unsigned char)(number >> 24);
        }
        int result = write_all(sent, length);
        for (size_t done = 0; result >= 0 && done < length; done += (size_t)result) {
            result = read_some(back + done, length - done);
            if (result == 0) {
                return network_failed(session.call, NETWORK_CLOSED);
            }
        }
        if (result < 0) {
            return library_failed(session.call, result);
        }
        if (memcmp(sent, back, length) != 0) {
            console_printf("byte %u or later came back wrong\n", (unsigned)cryplab_echoed);
            return 1;
        }
        cryplab_echoed += length;
    }
    console_printf("%u bytes came back right\n", (unsigned)cryplab_echoed);
    return 0;
}

int main(void)
{
    const struct tls_settings settings = {
        .verify = 1, .suites = cryplab_echo.suites, .ca = cryplab_echo.pem, .ca_bytes = cryplab_echo.pem_bytes,
    };
    int error = setup(&settings) || open_network() || connect_server() || handshake() || exchange();
    if (!error) {
        tls_close_notify(&session);
    }
    network_close(&stream);
    return error;
}
