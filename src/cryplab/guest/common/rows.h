/* Where a reference program leaves what it measured, for the host to read by symbol.
 *
 * Little endian, natural alignment; strings are zero terminated in flash. A program defines either
 * or both tables; a table is complete up to its count at any moment.
 *
 *   cryplab_rows, cryplab_rows_count         benchmark rows
 *   cryplab_results, cryplab_results_count   verdicts of a self-test
 *   cryplab_exit_code                        set by cryplab_done()
 *   cryplab_stopped                          the core sleeps here for ever after cryplab_done()
 *   cryplab_filter, cryplab_filter_magic     comma separated globs of row or case names to run; the
 *                                            host may write them between loading and starting, they
 *                                            count when the magic is CRYPLAB_FILTER_MAGIC
 */
#ifndef CRYPLAB_ROWS_H
#define CRYPLAB_ROWS_H

#include <stdint.h>

#define CRYPLAB_FILTER_MAGIC 0x43524C42u /* "BLRC" in memory order */

struct cryplab_row {      /* 32 bytes */
    const char *name;     /* as in the published table */
    const char *unit;     /* "KB/s" (1024 bytes) or "ms" */
    uint32_t calls;       /* calls measured */
    uint32_t bytes;       /* total over the calls; 0 for key operations */
    uint64_t start_cycle; /* core cycle at the start of the measured part */
    uint64_t cycles;      /* core cycles of the measured part */
};

struct cryplab_result {   /* 32 bytes */
    const char *suite;
    const char *name;     /* the self-test's function name */
    uint32_t passed, failed;
    uint64_t start_cycle, cycles;
};

extern struct cryplab_row cryplab_rows[];
extern uint32_t cryplab_rows_count;
extern struct cryplab_result cryplab_results[];
extern uint32_t cryplab_results_count;
extern char cryplab_filter[64];
extern uint32_t cryplab_filter_magic;
extern volatile uint32_t cryplab_exit_code;

/* True when the host asked for this name, or for nothing in particular. */
int cryplab_wanted(const char *name);

/* Store the code, empty the console and sleep at `cryplab_stopped`. */
void cryplab_done(uint32_t code) __attribute__((noreturn));

#endif
