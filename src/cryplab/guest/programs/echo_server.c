/* A TLS server for one client that sends back what it gets, until the client ends: the other end for boards over a hub. */
#include "echo.h"
#include "mbedtls/pk.h"

static unsigned char data[2048];
static mbedtls_pk_context key;

static int serve(void)
{
    int result;
    while ((result = read_some(data, sizeof data)) > 0) {
        cryplab_echoed += (uint32_t)result;
        int error = write_all(data, (size_t)result);
        if (error != 0) {
            return failed("mbedtls_ssl_write", error);
        }
    }
    if (result < 0) {
        return failed("mbedtls_ssl_read", result);
    }
    console_printf("%u bytes sent back\n", (unsigned)cryplab_echoed);
    return 0;
}

static int prepare_key(void)
{
    mbedtls_pk_init(&key);
    int error = mbedtls_pk_parse_key(&key, (const unsigned char *)cryplab_echo.pem, cryplab_echo.pem_bytes, NULL, 0);
    if (error == 0) {
        error = mbedtls_ssl_conf_own_cert(&config, &certificate, &key);
    }
    return error != 0 ? failed("mbedtls_pk_parse_key", error) : 0;
}

static int accept_client(void)
{
    console_printf("Listening at port %u\n", cryplab_echo.port);
    int error = network_accept(&stream, cryplab_echo.port, cryplab_echo.limit_ms);
    return error != NETWORK_OK ? failed("network_accept", error) : 0;
}

int main(void)
{
    int error = setup(MBEDTLS_SSL_IS_SERVER) || prepare_key() || open_network() || accept_client() || handshake() || serve();
    if (!error) {
        mbedtls_ssl_close_notify(&ssl);
    }
    network_close(&stream);
    return error;
}
