/* What echo client and echo server have in common: the host's wishes, a TLS context over a TCP stream, and the report.
 *
 * Each program includes it once. Little endian, natural alignment; tests/tls/echo.py has the same layout.
 */
#ifndef ECHO_H
#define ECHO_H

#include <string.h>

#include "clock.h"
#include "console.h"
#include "mbedtls/ctr_drbg.h"
#include "mbedtls/entropy.h"
#include "mbedtls/entropy_poll.h"
#include "mbedtls/error.h"
#include "mbedtls/ssl.h"
#include "network.h"
#include "rows.h"

#define ECHO_MAGIC 0x4F484345u /* "ECHO" in memory order */

struct cryplab_echo {
    uint32_t magic;
    uint32_t date;       /* seconds since 1970 UTC for the RTC */
    uint32_t limit_ms;   /* virtual time to wait for the other side */
    uint32_t bytes;      /* client: to send and to have back */
    uint16_t port;
    uint8_t address[4];  /* our own; 0.0.0.0: by DHCP */
    uint8_t mac[6];
    char peer[64];       /* client: the server's address, digits or a name */
    char name[64];       /* client: in the server's certificate */
    uint32_t pem_bytes;  /* client: the CA; server: certificate and key; with its closing zero */
    char pem[4096];
};

/* Bytes echoed, and 0 or the code of what failed. */
uint32_t cryplab_echoed;
int32_t cryplab_echo_error;

__attribute__((section(".noinit"))) struct cryplab_echo cryplab_echo;

static mbedtls_entropy_context entropy;
static mbedtls_ctr_drbg_context random;
static mbedtls_x509_crt certificate;
static mbedtls_ssl_config config;
static mbedtls_ssl_context ssl;
static struct network_stream stream;
static int network_failure;

uint32_t network_random(void)
{
    uint32_t word = 0;
    size_t given;
    mbedtls_hardware_poll(NULL, (unsigned char *)&word, sizeof word, &given);
    return word;
}

static int failed(const char *call, int error)
{
    char words[128];
    cryplab_echo_error = network_failure != 0 ? network_failure : error;
    if (cryplab_echo_error >= NETWORK_NO_MEMORY) {
        strcpy(words, network_words(cryplab_echo_error));
    } else {
        mbedtls_strerror(error, words, sizeof words);
    }
    console_printf("%s() failed: %d: %s\n", call, (int)cryplab_echo_error, words);
    return 1;
}

static int library_error(int error, int again)
{
    if (error == NETWORK_AGAIN) {
        return again;
    }
    if (error == NETWORK_CLOSED && again == MBEDTLS_ERR_SSL_WANT_READ) {
        return 0; /* end of file: the library says what that means */
    }
    network_failure = error;
    return -1;
}

static int send_some(void *context, const unsigned char *data, size_t length)
{
    int done = network_send(context, data, length);
    return done > 0 ? done : library_error(done, MBEDTLS_ERR_SSL_WANT_WRITE);
}

static int receive_some(void *context, unsigned char *data, size_t length)
{
    int done = network_receive(context, data, length);
    return done > 0 ? done : library_error(done, MBEDTLS_ERR_SSL_WANT_READ);
}

/* True when the call is to be made again; waits until something may have changed. */
static int again(int result, uint32_t start)
{
    if (result != MBEDTLS_ERR_SSL_WANT_READ && result != MBEDTLS_ERR_SSL_WANT_WRITE) {
        return 0;
    }
    if (clock_tick() - start > cryplab_echo.limit_ms) {
        network_failure = NETWORK_TIMEOUT;
        return 0;
    }
    network_wait();
    return 1;
}

static int setup(int endpoint)
{
    date_set(cryplab_echo.date);
    mbedtls_entropy_init(&entropy);
    mbedtls_ctr_drbg_init(&random);
    mbedtls_x509_crt_init(&certificate);
    mbedtls_ssl_config_init(&config);
    mbedtls_ssl_init(&ssl);
    int error = mbedtls_ctr_drbg_seed(&random, mbedtls_entropy_func, &entropy, (const unsigned char *)"echo", 4);
    if (error == 0) {
        error = mbedtls_x509_crt_parse(&certificate, (const unsigned char *)cryplab_echo.pem, cryplab_echo.pem_bytes);
    }
    if (error == 0) {
        error = mbedtls_ssl_config_defaults(&config, endpoint, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
    }
    mbedtls_ssl_conf_rng(&config, mbedtls_ctr_drbg_random, &random);
    return error != 0 ? failed("setup", error) : 0;
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
        return failed("network_start", error);
    }
    console_printf("IP Address is %s\n", network_address());
    return 0;
}

static int handshake(void)
{
    uint32_t start = clock_tick();
    int error = mbedtls_ssl_setup(&ssl, &config);
    if (error == 0 && cryplab_echo.name[0] != 0) {
        error = mbedtls_ssl_set_hostname(&ssl, cryplab_echo.name);
    }
    mbedtls_ssl_set_bio(&ssl, &stream, send_some, receive_some, NULL);
    while (error == 0 && again(error = mbedtls_ssl_handshake(&ssl), start)) {
        error = 0;
    }
    if (error != 0) {
        return failed("mbedtls_ssl_handshake", error);
    }
    console_printf("TLS connection established, %s\n", mbedtls_ssl_get_ciphersuite(&ssl));
    return 0;
}

static int write_all(const unsigned char *data, size_t length)
{
    uint32_t start = clock_tick();
    for (size_t done = 0; done < length;) {
        int result = mbedtls_ssl_write(&ssl, data + done, length - done);
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
        result = mbedtls_ssl_read(&ssl, data, length);
    } while (again(result, start));
    return result == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY || result == MBEDTLS_ERR_SSL_CONN_EOF ? 0 : result;
}

#endif
