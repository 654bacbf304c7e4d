/* wolfCrypt's own benchmark, unmodified, on the board: shows what a user of wolfSSL would see. */
#include <wolfssl/wolfcrypt/settings.h>

#include <wolfcrypt/benchmark/benchmark.h>

#include "platform.h"

int main(void)
{
    platform_init();
    return benchmark_test(0) != 0;
}
