/* A TLS server for one client that sends back what it gets, until the client ends: the other end for boards over a hub. */
#include "echo.h"

static unsigned char data[2048];

static int serve(void)
{
    int result;
    while ((result = read_some(data, sizeof data)) > 0) {
        cryplab_echoed += (uint32_t)result;
        int error = write_all(data, (size_t)result);
        if (error != 0) {
            return library_failed(session.call, error);
        }
    }
    if (result < 0) {
        return library_failed(session.call, result);
    }
    console_printf("%u bytes sent back\n", (unsigned)cryplab_echoed);
    return 0;
}

static int accept_client(void)
{
    console_printf("Listening at port %u\n", cryplab_echo.port);
    int error = network_accept(&stream, cryplab_echo.port, cryplab_echo.limit_ms);
    return error != NETWORK_OK ? network_failed("network_accept", error) : 0;
}

int main(void)
{
    const struct tls_settings settings = {
        .server = 1, .suites = cryplab_echo.suites, .own = cryplab_echo.pem, .own_bytes = cryplab_echo.pem_bytes,
    };
    int error = setup(&settings) || open_network() || accept_client() || handshake() || serve();
    if (!error) {
        tls_close_notify(&session);
    }
    network_close(&stream);
    return error;
}
