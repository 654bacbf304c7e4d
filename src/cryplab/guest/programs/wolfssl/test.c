/* wolfCrypt's own test, unmodified, on the board: shows that the build computes right, whoever does the work. */
#include <wolfssl/wolfcrypt/settings.h>

#include <stdio.h>
#include <wolfcrypt/test/test.h>
#include <wolfssl/wolfcrypt/wc_port.h>

#include "platform.h"

int main(void)
{
    platform_init();
    setvbuf(stdout, NULL, _IOLBF, 256);
    wolfCrypt_Init();
    int error = wolfcrypt_test(NULL);
    wolfCrypt_Cleanup();
    return error != 0;
}
