/* The verdict, the host's row filter and the end of a program; see rows.h. */
#include "rows.h"

#include "console.h"

__attribute__((section(".noinit"))) char cryplab_filter[64];
__attribute__((section(".noinit"))) uint32_t cryplab_filter_magic;
volatile uint32_t cryplab_exit_code = 0xFFFFFFFFu;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* Glob with `*` and `?`, case ignored; the pattern ends at a comma or a zero. */
static int matches(const char *pattern, const char *name)
{
    if (*pattern == '*') {
        for (const char *rest = name;; rest++) {
            if (matches(pattern + 1, rest)) {
                return 1;
            }
            if (*rest == 0) {
                return 0;
            }
        }
    }
    if (*pattern == 0 || *pattern == ',') {
        return *name == 0;
    }
    return *name != 0 && (*pattern == '?' || lower(*pattern) == lower(*name)) && matches(pattern + 1, name + 1);
}

int cryplab_wanted(const char *name)
{
    if (cryplab_filter_magic != CRYPLAB_FILTER_MAGIC) {
        return 1;
    }
    cryplab_filter[sizeof cryplab_filter - 1] = 0;
    const char *pattern = cryplab_filter;
    for (;;) {
        if (matches(pattern, name)) {
            return 1;
        }
        while (*pattern != 0 && *pattern != ',') {
            pattern++;
        }
        if (*pattern++ == 0) {
            return 0;
        }
    }
}

void cryplab_done(uint32_t code)
{
    console_flush();
    cryplab_exit_code = code;
    __asm volatile(
        "cpsid i\n"
        ".global cryplab_stopped\n"
        ".thumb_func\n"
        ".type cryplab_stopped, %function\n"
        "cryplab_stopped: wfi\n"
        "b cryplab_stopped\n");
    __builtin_unreachable();
}
