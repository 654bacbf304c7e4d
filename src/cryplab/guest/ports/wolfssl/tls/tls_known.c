/* See programs/tls_session.h: what wolfSSL knows of a session, in words. */
#include "tls_session.h"

#include <string.h>
#include <wolfssl/error-ssl.h>
#include <wolfssl/internal.h>

#include "console.h"

#define LABEL "    %-18s: "

void tls_describe(int error, char *text, size_t size)
{
    console_snprintf(text, size, "%d: %s", error, wolfSSL_ERR_reason_error_string((unsigned long)error));
}

int tls_alert(const struct tls_session *session)
{
    WOLFSSL_ALERT_HISTORY seen;
    if (session->ssl == NULL || session->error != FATAL_ERROR) {
        return -1;
    }
    wolfSSL_get_alert_history(session->ssl, &seen);
    return seen.last_rx.code;
}

uint32_t tls_suite(const struct tls_session *session)
{
    return (uint32_t)wolfSSL_get_current_cipher_suite(session->ssl);
}

const char *tls_suite_name(const struct tls_session *session)
{
    return wolfSSL_get_cipher_name(session->ssl);
}

uint32_t tls_records(const struct tls_session *session)
{
    return session->ssl->keys.peer_sequence_number_lo;
}

/* ---- the certificate ---- */

struct lines {
    char *text;
    size_t size;
    int length;
};

static void add(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct lines *lines, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = lines->size - (size_t)lines->length;
    int total = console_vsnprintf(lines->text + lines->length, left, format, arguments);
    va_end(arguments);
    lines->length += (size_t)total < left ? total : (int)left - 1;
}

/* `/C=GB/CN=server` as `C=GB, CN=server`: a slash begins an attribute where letters and `=` follow. */
static void add_name(struct lines *lines, const char *label, const char *name)
{
    add(lines, LABEL, label);
    for (const char *at = name; *at != 0; at++) {
        size_t letters = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
        if (*at == '/' && letters != 0 && at[1 + letters] == '=') {
            add(lines, "%s", at == name ? "" : ", ");
        } else {
            add(lines, "%c", *at);
        }
    }
    add(lines, "\n");
}

/* YYMMDDHHMMSSZ or YYYYMMDDHHMMSSZ. */
static void add_date(struct lines *lines, const char *label, const WOLFSSL_ASN1_TIME *date)
{
    const char *digits = (const char *)date->data;
    const char *century = date->type == ASN_GENERALIZED_TIME ? "" : digits[0] >= '5' ? "19" : "20";
    if (date->type == ASN_GENERALIZED_TIME) {
        add(lines, LABEL "%.4s", label, digits);
        digits += 4;
    } else {
        add(lines, LABEL "%s%.2s", label, century, digits);
        digits += 2;
    }
    add(lines, "-%.2s-%.2s %.2s:%.2s:%.2s\n", digits, digits + 2, digits + 4, digits + 6, digits + 8);
}

static int rsa_bits(const WOLFSSL_X509 *certificate)
{
    RsaKey key;
    word32 at = 0;
    int bits = 0;
    if (wc_InitRsaKey(&key, NULL) == 0) {
        if (wc_RsaPublicKeyDecode(certificate->pubKey.buffer, &at, &key, certificate->pubKey.length) == 0) {
            bits = 8 * wc_RsaEncryptSize(&key);
        }
        wc_FreeRsaKey(&key);
    }
    return bits;
}

static void add_key(struct lines *lines, const WOLFSSL_X509 *certificate)
{
    if (certificate->pubKeyOID == RSAk) {
        add(lines, LABEL "%d bits\n", "RSA key size", rsa_bits(certificate));
    } else {
        int curve = wc_ecc_get_curve_idx(wc_ecc_get_oid(certificate->pkCurveOID, NULL, NULL));
        add(lines, LABEL "%d bits\n", "EC key size", curve >= 0 ? 8 * wc_ecc_get_curve_size_from_id(wc_ecc_get_curve_id(curve)) : 0);
    }
}

static void add_alternative_names(struct lines *lines, const DNS_entry *name)
{
    if (name != NULL) {
        add(lines, "    subject alt name  :\n");
    }
    for (; name != NULL; name = name->next) {
        if (name->type == ASN_DNS_TYPE) {
            add(lines, "        dNSName : %.*s\n", name->len, name->name);
        }
    }
}

int tls_certificate(const struct tls_session *session, char *text, size_t size)
{
    struct lines lines = {text, size, 0};
    const WOLFSSL_X509 *certificate = &session->ssl->peerCert;
    if (certificate->issuer.sz == 0) {
        return 0;
    }
    add(&lines, LABEL "%d\n", "cert. version", certificate->version);
    add(&lines, LABEL, "serial number");
    for (int i = 0; i < certificate->serialSz; i++) {
        add(&lines, "%s%02X", i == 0 ? "" : ":", certificate->serial[i]);
    }
    add(&lines, "\n");
    add_name(&lines, "issuer name", certificate->issuer.name);
    add_name(&lines, "subject name", certificate->subject.name);
    add_date(&lines, "issued  on", &certificate->notBefore);
    add_date(&lines, "expires on", &certificate->notAfter);
    add(&lines, LABEL "%s\n", "signed using", GetSigName(certificate->sigOID));
    add_key(&lines, certificate);
    add(&lines, LABEL "CA=%s\n", "basic constraints", certificate->isCa ? "true" : "false");
    add_alternative_names(&lines, certificate->altNames);
    return lines.length;
}

int tls_certificate_refused(const struct tls_session *session)
{
    return session->refused != 0;
}

uint32_t tls_verdict(const struct tls_session *session)
{
    return (uint32_t)-session->refused;
}

void tls_verdict_words(uint32_t verdict, char *text, size_t size)
{
    console_snprintf(text, size, "    %s\n", wolfSSL_ERR_reason_error_string((unsigned long)-(int)verdict));
}
