/* A TLS client: DHCP, DNS, connection, handshake, the server's certificate, an HTTP request and its answer. It shows
 * whether crypto that passes benchmark and self-tests also holds in a conversation, where several contexts live at once.
 *
 * The lines are those of the mbed OS example of 2017. Exit code: enum tls_stage, 0 when all went well.
 */
#include <string.h>

#include "beside.h"
#include "clock.h"
#include "console.h"
#include "date.h"
#include "network.h"
#include "rows.h"
#include "tls_parameters.h"
#include "tls_session.h"

#define PRINT_BYTES 2048
#define LIMIT_MS 20000
#define NO_FLAGS 0xFFFFFFFFu

__attribute__((section(".noinit"))) struct cryplab_tls_parameters cryplab_tls;
struct cryplab_tls_end cryplab_tls_end;
struct cryplab_phase cryplab_phases[12];
uint32_t cryplab_phases_count;

static struct tls_endpoint endpoint;
static struct tls_session session;
static struct network_stream stream;
static char text[2048];

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

/* ---- phases, errors ---- */

static struct cryplab_phase *begin(const char *name)
{
    struct cryplab_phase *phase = &cryplab_phases[cryplab_phases_count];
    *phase = (struct cryplab_phase){.name = name, .start = clock_cycles(), .idle = network_idle_cycles()};
    return phase;
}

static void end(struct cryplab_phase *phase)
{
    phase->end = clock_cycles();
    phase->idle = network_idle_cycles() - phase->idle;
    cryplab_phases_count++;
}

/* Both return 1: the step failed. */
static int network_failed(enum tls_stage stage, const char *call, int error)
{
    cryplab_tls_end.stage = stage;
    cryplab_tls_end.error = error;
    console_printf("%s() failed: %s (%d)\n", call, network_words(error), error);
    return 1;
}

static int library_failed(enum tls_stage stage, const char *call, int error)
{
    if (session.network_error != 0) {
        return network_failed(stage, call, session.network_error);
    }
    cryplab_tls_end.stage = stage;
    cryplab_tls_end.error = error;
    cryplab_tls_end.alert = tls_alert(&session);
    tls_describe(error, text, sizeof text);
    console_printf("%s() failed: %s\n", call, text);
    return 1;
}

/* True when the call that gave `result` is to be made again; waits until something may have changed. */
static int again(int result, uint32_t start)
{
    if (result != TLS_AGAIN) {
        return 0;
    }
    if (clock_tick() - start > cryplab_tls.limit_ms) {
        session.network_error = NETWORK_TIMEOUT;
        return 0;
    }
    network_wait();
    return 1;
}

/* ---- the steps ---- */

static int setup(void)
{
    const struct tls_settings settings = {
        .verify = cryplab_tls.verify == TLS_VERIFY_REQUIRED,
        .suites = cryplab_tls.suites,
        .ca = cryplab_tls.ca,
        .ca_bytes = cryplab_tls.ca_bytes,
    };
    int error = tls_endpoint_open(&endpoint, &settings);
    if (error != 0) {
        return library_failed(TLS_SETUP, endpoint.call, error);
    }
    error = tls_session_open(&session, &endpoint, &stream, cryplab_tls.server_name);
    return error != 0 ? library_failed(TLS_SETUP, session.call, error) : 0;
}

static int open_network(void)
{
    console_printf("\nUsing Ethernet LWIP\n");
    struct cryplab_phase *phase = begin("link");
    int error = network_start(cryplab_tls.mac);
    end(phase);
    if (error != NETWORK_OK) {
        return network_failed(TLS_LINK, "network_start", error);
    }
    phase = begin("DHCP");
    error = network_dhcp();
    end(phase);
    if (error != NETWORK_OK) {
        return network_failed(TLS_DHCP, "network_dhcp", error);
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
        return network_failed(TLS_DNS, "network_resolve", error);
    }
    phase = begin("connect");
    error = network_connect(&stream, &address, cryplab_tls.port, cryplab_tls.limit_ms);
    end(phase);
    if (error != NETWORK_OK) {
        return network_failed(TLS_CONNECT, "network_connect", error);
    }
    return 0;
}

static void print_certificate(void)
{
    if (tls_certificate(&session, text, sizeof text) > 0) {
        console_printf("Server certificate:\n");
        console_write(text, strlen(text));
    }
}

static void print_verdict(void)
{
    cryplab_tls_end.verify_flags = tls_verdict(&session);
    if (cryplab_tls.verify == TLS_VERIFY_NONE) {
        console_printf("Certificate not verified: no CA was given\n\n");
    } else if (cryplab_tls_end.verify_flags == 0) {
        console_printf("Certificate verification passed\n\n");
    } else {
        tls_verdict_words(cryplab_tls_end.verify_flags, text, sizeof text);
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
        error = tls_handshake(&session);
        phase->calls++;
    } while (again(error, start));
    end(phase);
    if (error != 0) {
        library_failed(TLS_HANDSHAKE, session.call, error);
        if (tls_certificate_refused(&session)) {
            print_certificate();
            print_verdict();
        }
        return 1;
    }
    cryplab_tls_end.suite = tls_suite(&session);
    console_printf("TLS connection to %s established\n", cryplab_tls.server_name);
    print_certificate();
    print_verdict();
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
        result = tls_write(&session, text + done, (size_t)(length - done));
        done += result > 0 ? result : 0;
        phase->calls += result > 0;
    } while ((result > 0 && done < length) || again(result, start));
    phase->bytes = (uint32_t)done;
    end(phase);
    return result <= 0 ? library_failed(TLS_REQUEST, session.call, result) : 0;
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
        result = tls_read(&session, chunk, sizeof chunk);
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
    phase->calls = tls_records(&session); /* Finished among them */
    end(phase);
    cryplab_tls_end.received = phase->bytes;
    return result != 0 ? library_failed(TLS_RESPONSE, session.call, result) : 0;
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

/* ---- what runs beside the session ---- */

#if defined(CRYPLAB_KERNEL)

static int start_beside(void)
{
    int error = beside_start();
    return error != 0 ? library_failed(TLS_SETUP, "beside_start", error) : 0;
}

static void end_beside(void)
{
    if (beside_end() != 0 && cryplab_tls_end.stage == TLS_DONE) {
        cryplab_tls_end.stage = TLS_BESIDE;
    }
}

#else

static int start_beside(void)
{
    return 0;
}

static void end_beside(void)
{
}

#endif

static int talk(void)
{
    return open_network() || connect_server() || handshake() || send_request() || receive_response() || judge_response();
}

int main(void)
{
    defaults();
    cryplab_tls_end = (struct cryplab_tls_end){.verify_flags = NO_FLAGS, .alert = -1};
    date_set(cryplab_tls.date);
    if (setup() || start_beside()) {
        return (int)cryplab_tls_end.stage;
    }
    if (!talk()) {
        tls_close_notify(&session);
    }
    network_close(&stream);
    end_beside();
    return (int)cryplab_tls_end.stage;
}
