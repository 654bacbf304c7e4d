/* A TLS server that sends back what it gets, one client for each conversation: the other end for boards over a hub. */
#include "echo.h"

static int listen_for_client(struct conversation *conversation)
{
    int error = network_listen(&conversation->stream, cryplab_echo.port);
    return error != NETWORK_OK ? network_failed(conversation, "network_listen", error) : 0;
}

static int accept_client(struct conversation *conversation)
{
    say(conversation, "Listening at port %u\n", cryplab_echo.port);
    int error = network_accept(&conversation->stream, cryplab_echo.limit_ms);
    return error != NETWORK_OK ? network_failed(conversation, "network_accept", error) : 0;
}

static int serve(struct conversation *conversation)
{
    unsigned char *data = conversation->data;
    int result;
    while ((result = read_some(conversation, data, CHUNK)) > 0) {
        went_around(conversation, (size_t)result);
        int error = write_all(conversation, data, (size_t)result);
        if (error != 0) {
            return library_failed(conversation, conversation->session.call, error);
        }
    }
    if (result < 0) {
        return library_failed(conversation, conversation->session.call, result);
    }
    say(conversation, "%u bytes sent back\n", (unsigned)conversation->report->bytes);
    return 0;
}

static int talk(struct conversation *conversation)
{
    int error = accept_client(conversation) || handshake(conversation) || serve(conversation);
    hang_up(conversation, error);
    return error;
}

int main(void)
{
    const struct tls_settings settings = {
        .server = 1, .suites = cryplab_echo.suites, .own = cryplab_echo.pem, .own_bytes = cryplab_echo.pem_bytes,
    };
    return setup(&settings) || open_network() || run_conversations(listen_for_client, talk);
}
