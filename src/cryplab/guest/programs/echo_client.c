/* Sends bytes to a TLS echo server and compares what comes back: it shows that long conversations stay right. */
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
    return error != NETWORK_OK ? failed("network_connect", error) : 0;
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
                return failed("read_some", NETWORK_CLOSED);
            }
        }
        if (result < 0) {
            return failed("mbedtls_ssl_read", result);
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
    int error = setup(MBEDTLS_SSL_IS_CLIENT);
    mbedtls_ssl_conf_ca_chain(&config, &certificate, NULL);
    error = error || open_network() || connect_server() || handshake() || exchange();
    if (!error) {
        mbedtls_ssl_close_notify(&ssl);
    }
    network_close(&stream);
    return error;
}
