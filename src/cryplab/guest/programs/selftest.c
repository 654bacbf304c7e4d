/* Every self-test of mbed TLS that is compiled in: published vectors through the library's own calls. It shows
 * that the build computes right, whoever does the work.
 *
 * One line per case, in the shape of the test table that embedded projects print: suite, case, passed,
 * failed, result, elapsed virtual seconds. Verdicts are left in `cryplab_results` (rows.h); the exit
 * code is the number of cases that failed.
 */
#include "clock.h"
#include "console.h"
#include "mbedtls/aes.h"
#include "mbedtls/arc4.h"
#include "mbedtls/aria.h"
#include "mbedtls/base64.h"
#include "mbedtls/bignum.h"
#include "mbedtls/camellia.h"
#include "mbedtls/ccm.h"
#include "mbedtls/chacha20.h"
#include "mbedtls/chachapoly.h"
#include "mbedtls/cmac.h"
#include "mbedtls/ctr_drbg.h"
#include "mbedtls/des.h"
#include "mbedtls/dhm.h"
#include "mbedtls/ecjpake.h"
#include "mbedtls/ecp.h"
#include "mbedtls/entropy.h"
#include "mbedtls/gcm.h"
#include "mbedtls/hmac_drbg.h"
#include "mbedtls/md2.h"
#include "mbedtls/md4.h"
#include "mbedtls/md5.h"
#include "mbedtls/nist_kw.h"
#include "mbedtls/pkcs5.h"
#include "mbedtls/poly1305.h"
#include "mbedtls/ripemd160.h"
#include "mbedtls/rsa.h"
#include "mbedtls/sha1.h"
#include "mbedtls/sha256.h"
#include "mbedtls/sha512.h"
#include "mbedtls/xtea.h"
#include "rows.h"

#define SUITE "mbedtls-selftest"

/* The lock of the drivers (ports/mbedtls/hardware/engine.h): `cryplab check` may put another task's job at every
 * access to a block. Priorities at which a kernel switches tasks wait; device interrupts above them do not. */
#define KERNEL_PRIORITY 0xF0u

static unsigned locks;

#ifndef ENGINE_H
enum engine { ENGINE_CRYP, ENGINE_HASH, ENGINE_RNG };
#endif
void engine_lock(enum engine engine);
void engine_unlock(enum engine engine);

void engine_lock(enum engine engine)
{
    (void)engine;
    __asm volatile("msr basepri, %0" ::"r"(KERNEL_PRIORITY) : "memory");
    locks++;
}

void engine_unlock(enum engine engine)
{
    (void)engine;
    if (--locks == 0) {
        __asm volatile("msr basepri, %0" ::"r"(0) : "memory");
    }
}

static const struct {
    const char *name;
    int (*run)(int verbose);
} cases[] = {
#define CASE(function) {#function, function}
    CASE(mbedtls_md2_self_test),
    CASE(mbedtls_md4_self_test),
    CASE(mbedtls_md5_self_test),
    CASE(mbedtls_ripemd160_self_test),
    CASE(mbedtls_sha1_self_test),
    CASE(mbedtls_sha256_self_test),
    CASE(mbedtls_sha512_self_test),
    CASE(mbedtls_arc4_self_test),
    CASE(mbedtls_des_self_test),
    CASE(mbedtls_aes_self_test),
    CASE(mbedtls_gcm_self_test),
    CASE(mbedtls_ccm_self_test),
    CASE(mbedtls_nist_kw_self_test),
    CASE(mbedtls_cmac_self_test),
    CASE(mbedtls_chacha20_self_test),
    CASE(mbedtls_poly1305_self_test),
    CASE(mbedtls_chachapoly_self_test),
    CASE(mbedtls_aria_self_test),
    CASE(mbedtls_camellia_self_test),
    CASE(mbedtls_xtea_self_test),
    CASE(mbedtls_base64_self_test),
    CASE(mbedtls_mpi_self_test),
    CASE(mbedtls_rsa_self_test),
    CASE(mbedtls_dhm_self_test),
    CASE(mbedtls_ecp_self_test),
    CASE(mbedtls_ecjpake_self_test),
    CASE(mbedtls_entropy_self_test),
    CASE(mbedtls_ctr_drbg_self_test),
    CASE(mbedtls_hmac_drbg_self_test),
    CASE(mbedtls_pkcs5_self_test),
};

#define CASES (sizeof cases / sizeof *cases)

struct cryplab_result cryplab_results[CASES];
uint32_t cryplab_results_count;

int main(void)
{
    unsigned failures = 0;
    console_printf("\n%-18s| %-31s| passed | failed | result | elapsed_time (sec)\n", "test suite", "test case");
    for (unsigned i = 0; i < CASES; i++) {
        if (!cryplab_wanted(cases[i].name)) {
            continue;
        }
        uint64_t start = clock_cycles();
        console_mute(1); /* some tests talk even when told not to */
        unsigned failed = cases[i].run(0) != 0;
        console_mute(0);
        uint64_t cycles = clock_cycles() - start;
        cryplab_results[cryplab_results_count] =
            (struct cryplab_result){SUITE, cases[i].name, !failed, failed, start, cycles};
        cryplab_results_count++;
        unsigned milliseconds = (unsigned)(cycles / (BOARD_CORE_HZ / 1000));
        console_printf("%-18s| %-31s| %6u | %6u | %-6s | %u.%03u\n", SUITE, cases[i].name, !failed, failed,
                       failed ? "FAIL" : "OK", milliseconds / 1000, milliseconds % 1000);
        failures += failed;
    }
    return (int)failures;
}
