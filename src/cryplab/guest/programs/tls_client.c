/* A TLS client: DHCP, DNS, connection, handshake, the server's certificate, an HTTP request and its answer. It shows
 * whether crypto that passes benchmark and self-tests also holds in a conversation, where several contexts live at once.
 *
 * The lines are those of the mbed OS example of 2017. Exit code: enum tls_stage, 0 when all went well.
 */
#include <string.h>

#include "clock.h"
#include "console.h"
#include "mbedtls/ctr_drbg.h"
#include "mbedtls/entropy.h"
#include "mbedtls/entropy_poll.h"
#include "mbedtls/error.h"
#include "mbedtls/ssl.h"
#include "mbedtls/ssl_internal.h"
#include "network.h"
#include "rows.h"
#include "tls_parameters.h"

#define PRINT_BYTES 2048
#define LIMIT_MS 20000
#define NO_FLAGS 0xFFFFFFFFu
#define ERROR_NETWORK (-0x004C) /* MBEDTLS_ERR_NET_RECV_FAILED: of a module that is not here */

__attribute__((section(".noinit"))) struct cryplab_tls_parameters cryplab_tls;
struct cryplab_tls_end cryplab_tls_end;
struct cryplab_phase cryplab_phases[12];
uint32_t cryplab_phases_count;

static mbedtls_entropy_context entropy;
static mbedtls_ctr_drbg_context random;
static mbedtls_x509_crt authority;
static mbedtls_ssl_config config;
static mbedtls_ssl_context ssl;
static struct network_stream stream;
static int suites[sizeof cryplab_tls.suites / sizeof *cryplab_tls.suites + 1];
static int network_failure;
static char text[2048], rejected[1024];
static uint32_t chain_flags;

/* The library's own order begins with the largest. */
static const mbedtls_ecp_group_id curves[] = {
    MBEDTLS_ECP_DP_SECP256R1, MBEDTLS_ECP_DP_SECP384R1, MBEDTLS_ECP_DP_CURVE25519, MBEDTLS_ECP_DP_NONE,
};

static void defaults(void)
{
    if (cryplab_tls.magic == CRYPLAB_TLS_MAGIC) {
        return;
    }
    memset(&cryplab_tls, 0, sizeof cryplab_tls);
    cryplab_tls.port = 443;
    cryplab_tls.limit_ms = LIMIT_MS;
    cryplab_tls.print_bytes = PRINT_BYTES;
    memcpy(cryplab_tls.mac, "\x02\x00\x00\x00\x00\x01", 6);
    strcpy(cryplab_tls.host, "os.mbed.com");
    strcpy(cryplab_tls.server_name, "os.mbed.com");
    strcpy(cryplab_tls.path, "/media/uploads/mbed_official/hello.txt");
}

uint32_t network_random(void)
{
    uint32_t word = 0;
    size_t given;
    mbedtls_hardware_poll(NULL, (unsigned char *)&word, sizeof word, &given);
    return word;
}

/* ---- phases, errors ---- */

static struct cryplab_phase *begin(const char *name)
{
    struct cryplab_phase *phase = &cryplab_phases[cryplab_phases_count];
    *phase = (struct cryplab_phase){.name = name, .start = clock_cycles(), .idle = network_idle_cycles};
    return phase;
}

static void end(struct cryplab_phase *phase)
{
    phase->end = clock_cycles();
    phase->idle = network_idle_cycles - phase->idle;
    cryplab_phases_count++;
}

/* The other way round in all these: 1 means that it failed. */
static int failed(enum tls_stage stage, const char *call, int error)
{
    cryplab_tls_end.stage = stage;
    cryplab_tls_end.error = error;
    if (network_failure != 0 || stage < TLS_HANDSHAKE) {
        int reason = network_failure != 0 ? network_failure : error;
        cryplab_tls_end.error = reason;
        console_printf("%s() failed: %s (%d)\n", call, network_words(reason), reason);
        return 1;
    }
    mbedtls_strerror(error, text, sizeof text);
    console_printf("%s() failed: -0x%04x (%d): %s\n", call, (unsigned)-error, error, text);
    if (error == MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE) {
        cryplab_tls_end.alert = ssl.in_msg[1];
    }
    return 1;
}

/* ---- setting up ---- */

/* Called for each certificate of the chain, the server's last. The library drops a chain that it does not accept, so its
 * words are taken here. */
static int look_at(void *context, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
    (void)context;
    chain_flags |= *flags;
    if (depth == 0 && chain_flags != 0) {
        mbedtls_x509_crt_info(rejected, sizeof rejected, "    ", certificate);
    }
    return 0;
}

static int setup(void)
{
    mbedtls_entropy_init(&entropy);
    mbedtls_ctr_drbg_init(&random);
    mbedtls_x509_crt_init(&authority);
    mbedtls_ssl_config_init(&config);
    mbedtls_ssl_init(&ssl);
    const char *call = "mbedtls_ctr_drbg_seed";
    int error = mbedtls_ctr_drbg_seed(&random, mbedtls_entropy_func, &entropy, (const unsigned char *)call, strlen(call));
    if (error == 0 && cryplab_tls.ca_bytes != 0) {
        call = "mbedtls_x509_crt_parse";
        error = mbedtls_x509_crt_parse(&authority, (const unsigned char *)cryplab_tls.ca, cryplab_tls.ca_bytes);
    }
    if (error == 0) {
        call = "mbedtls_ssl_config_defaults";
        error = mbedtls_ssl_config_defaults(&config, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM,
                                            MBEDTLS_SSL_PRESET_DEFAULT);
    }
    mbedtls_ssl_conf_ca_chain(&config, &authority, NULL);
    mbedtls_ssl_conf_authmode(&config, cryplab_tls.verify);
    mbedtls_ssl_conf_verify(&config, look_at, NULL);
    mbedtls_ssl_conf_curves(&config, curves);
    mbedtls_ssl_conf_rng(&config, mbedtls_ctr_drbg_random, &random);
    unsigned count = 0;
    while (count < sizeof cryplab_tls.suites / sizeof *cryplab_tls.suites && cryplab_tls.suites[count] != 0) {
        suites[count] = cryplab_tls.suites[count];
        count++;
    }
    if (count != 0) {
        mbedtls_ssl_conf_ciphersuites(&config, suites);
    }
    if (error == 0) {
        call = "mbedtls_ssl_setup";
        error = mbedtls_ssl_setup(&ssl, &config);
    }
    if (error == 0) {
        call = "mbedtls_ssl_set_hostname";
        error = mbedtls_ssl_set_hostname(&ssl, cryplab_tls.server_name);
    }
    if (error != 0) {
        mbedtls_strerror(error, text, sizeof text);
        console_printf("%s() failed: -0x%04x (%d): %s\n", call, (unsigned)-error, error, text);
        cryplab_tls_end.stage = TLS_SETUP;
        cryplab_tls_end.error = error;
    }
    return error != 0;
}

/* ---- what mbed TLS calls for sending and receiving ---- */

static int library_error(int error, int again)
{
    if (error == NETWORK_AGAIN) {
        return again;
    }
    if (error == NETWORK_CLOSED && again == MBEDTLS_ERR_SSL_WANT_READ) {
        return 0; /* end of file: the library says what that means */
    }
    network_failure = error;
    return ERROR_NETWORK;
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

/* True when the call that gave `result` is to be made again; waits until something may have changed. */
static int again(int result, uint32_t start)
{
    if (result != MBEDTLS_ERR_SSL_WANT_READ && result != MBEDTLS_ERR_SSL_WANT_WRITE) {
        return 0;
    }
    if (clock_tick() - start > cryplab_tls.limit_ms) {
        network_failure = NETWORK_TIMEOUT;
        return 0;
    }
    network_wait();
    return 1;
}

/* ---- the steps ---- */

static int open_network(void)
{
    console_printf("\nUsing Ethernet LWIP\n");
    struct cryplab_phase *phase = begin("link");
    int error = network_start(cryplab_tls.mac);
    end(phase);
    if (error != NETWORK_OK) {
        return failed(TLS_LINK, "network_start", error);
    }
    phase = begin("DHCP");
    error = network_dhcp();
    end(phase);
    if (error != NETWORK_OK) {
        return failed(TLS_DHCP, "network_dhcp", error);
    }
    console_printf("Client IP Address is %s\n", network_address());
    return 0;
}

static int connect_server(void)
{
    console_printf("Connecting with %s\n", cryplab_tls.server_name);
    ip_addr_t address;
    struct cryplab_phase *phase = begin("DNS");
    int error = network_resolve(cryplab_tls.host, &address);
    end(phase);
    if (error != NETWORK_OK) {
        return failed(TLS_DNS, "network_resolve", error);
    }
    phase = begin("connect");
    error = network_connect(&stream, &address, cryplab_tls.port, cryplab_tls.limit_ms);
    end(phase);
    if (error != NETWORK_OK) {
        return failed(TLS_CONNECT, "network_connect", error);
    }
    mbedtls_ssl_set_bio(&ssl, &stream, send_some, receive_some, NULL);
    return 0;
}

static void print_certificate(const char *words)
{
    console_printf("Server certificate:\n");
    console_write(words, strlen(words));
}

static void print_verdict(uint32_t flags)
{
    cryplab_tls_end.verify_flags = flags;
    if (cryplab_tls.verify == TLS_VERIFY_NONE) {
        console_printf("Certificate not verified: no CA was given\n\n");
    } else if (flags == 0) {
        console_printf("Certificate verification passed\n\n");
    } else {
        mbedtls_x509_crt_verify_info(text, sizeof text, "    ", flags);
        console_printf("Certificate verification failed:\n%s\n", text);
    }
}

static int handshake(void)
{
    console_printf("Starting the TLS handshake...\n");
    uint32_t start = clock_tick();
    struct cryplab_phase *phase = begin("handshake");
    int error;
    do {
        error = mbedtls_ssl_handshake(&ssl);
        phase->calls++;
    } while (again(error, start));
    end(phase);
    if (error != 0) {
        failed(TLS_HANDSHAKE, "mbedtls_ssl_handshake", error);
        if (error == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED) {
            print_certificate(rejected);
            print_verdict(ssl.session_negotiate != NULL ? ssl.session_negotiate->verify_result : chain_flags);
        }
        return 1;
    }
    cryplab_tls_end.suite = (uint32_t)ssl.session->ciphersuite;
    console_printf("TLS connection to %s established\n", cryplab_tls.server_name);
    if (mbedtls_ssl_get_peer_cert(&ssl) != NULL &&
        mbedtls_x509_crt_info(text, sizeof text, "    ", mbedtls_ssl_get_peer_cert(&ssl)) > 0) {
        print_certificate(text);
    }
    print_verdict(mbedtls_ssl_get_verify_result(&ssl));
    return 0;
}

static int send_request(void)
{
    int length = console_snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                                  cryplab_tls.path, cryplab_tls.server_name);
    uint32_t start = clock_tick();
    struct cryplab_phase *phase = begin("request");
    int done = 0, result;
    do {
        result = mbedtls_ssl_write(&ssl, (const unsigned char *)text + done, (size_t)(length - done));
        done += result > 0 ? result : 0;
        phase->calls += result > 0;
    } while ((result > 0 && done < length) || again(result, start));
    phase->bytes = (uint32_t)done;
    end(phase);
    return result <= 0 ? failed(TLS_REQUEST, "mbedtls_ssl_write", result) : 0;
}

/* Read to the end; the first bytes stay in `text`. */
static int receive_response(void)
{
    static unsigned char chunk[1024];
    uint32_t start = clock_tick();
    size_t kept = 0;
    struct cryplab_phase *phase = begin("response");
    int result;
    do {
        result = mbedtls_ssl_read(&ssl, chunk, sizeof chunk);
        if (result > 0) {
            size_t part = sizeof text - 1 - kept;
            part = part < (size_t)result ? part : (size_t)result;
            memcpy(text + kept, chunk, part);
            kept += part;
            phase->bytes += (uint32_t)result;
            start = clock_tick();
        }
    } while (result > 0 || again(result, start));
    text[kept] = 0;
    phase->calls = (uint32_t)ssl.in_ctr[6] << 8 | ssl.in_ctr[7]; /* records, Finished among them */
    end(phase);
    cryplab_tls_end.received = phase->bytes;
    if (result != 0 && result != MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY && result != MBEDTLS_ERR_SSL_CONN_EOF) {
        return failed(TLS_RESPONSE, "mbedtls_ssl_read", result);
    }
    return 0;
}

static int check(const char *what, int good)
{
    console_printf("HTTPS: Received %s status ... %s\n", what, good ? "[OK]" : "[FAIL]");
    return !good;
}

static int judge_response(void)
{
    console_printf("HTTPS: Received %u chars from server\n", (unsigned)cryplab_tls_end.received);
    int http = strncmp(text, "HTTP/1.", 7) == 0 && strlen(text) > 12;
    for (int i = 9; http && i < 12; i++) {
        cryplab_tls_end.status = 10 * cryplab_tls_end.status + (uint32_t)(text[i] - '0');
    }
    int bad = check("200 OK", cryplab_tls_end.status == 200);
    if (cryplab_tls.expect[0] != 0) {
        static char quoted[sizeof cryplab_tls.expect + 2];
        console_snprintf(quoted, sizeof quoted, "'%s'", cryplab_tls.expect);
        bad |= check(quoted, strstr(text, cryplab_tls.expect) != NULL);
    }
    size_t shown = strlen(text) < cryplab_tls.print_bytes ? strlen(text) : cryplab_tls.print_bytes;
    console_printf("HTTPS: Received message:\n\n");
    console_write(text, shown);
    console_printf("%s\n", shown < cryplab_tls_end.received ? "..." : "");
    if (bad) {
        cryplab_tls_end.stage = TLS_ANSWER;
    }
    return bad;
}

int main(void)
{
    defaults();
    cryplab_tls_end = (struct cryplab_tls_end){.verify_flags = NO_FLAGS, .alert = -1};
    date_set(cryplab_tls.date);
    if (setup() || open_network() || connect_server() || handshake() || send_request() || receive_response() ||
        judge_response()) {
        network_close(&stream);
        return (int)cryplab_tls_end.stage;
    }
    mbedtls_ssl_close_notify(&ssl);
    network_close(&stream);
    return 0;
}
