/* wolfCrypt's own test while two other tasks use the same engines, a switch every millisecond: shows that contexts of
 * several tasks do not meet in the engines.
 *
 * The other tasks cipher and hash with keys and texts of their own, over and over, and hold every result against
 * the one that they had before there was a second task. The exit code counts wrong results.
 */
#include <wolfssl/wolfcrypt/settings.h>

#include <stdio.h>
#include <string.h>

#include <wolfcrypt/test/test.h>
#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/md5.h>
#include <wolfssl/wolfcrypt/sha.h>
#include <wolfssl/wolfcrypt/wc_port.h>

#include "platform.h"
#include "tasks.h"

#define TEXT_BYTES 256
#define STACK_WORDS 1536
#define TURNS 64        /* of so many switches ... */
#define WORKING_TURNS 8 /* ... the other tasks work in so many and pass on the rest, so that the test gets on */

struct work {
    byte key[32], text[TEXT_BYTES];
    byte cipher[TEXT_BYTES], back[TEXT_BYTES], sha[20], md5[16];
    byte first_cipher[TEXT_BYTES], first_sha[20], first_md5[16];
    Aes aes;
    wc_Sha sha_context;
    wc_Md5 md5_context;
    unsigned rounds, wrong;
};

static struct work works[2];
static uint32_t stacks[2][STACK_WORDS] __attribute__((aligned(8)));

static int run_once(struct work *work)
{
    int error = wc_AesSetKey(&work->aes, work->key, 32, work->key, AES_ENCRYPTION);
    error = error ? error : wc_AesCbcEncrypt(&work->aes, work->cipher, work->text, TEXT_BYTES);
    error = error ? error : wc_AesSetKey(&work->aes, work->key, 32, work->key, AES_DECRYPTION);
    error = error ? error : wc_AesCbcDecrypt(&work->aes, work->back, work->cipher, TEXT_BYTES);
    error = error ? error : wc_InitSha(&work->sha_context);
    error = error ? error : wc_InitMd5(&work->md5_context);
    for (int at = 0; at < TEXT_BYTES && error == 0; at += 128) {
        error = wc_ShaUpdate(&work->sha_context, work->text + at, 128);
        error = error ? error : wc_Md5Update(&work->md5_context, work->text + at, 128);
    }
    error = error ? error : wc_ShaFinal(&work->sha_context, work->sha);
    return error ? error : wc_Md5Final(&work->md5_context, work->md5);
}

static void run_for_ever(void *argument)
{
    struct work *work = argument;
    for (;;) {
        while (tasks_switches % TURNS >= WORKING_TURNS) {
            tasks_yield();
        }
        int error = run_once(work);
        if (error != 0 || memcmp(work->cipher, work->first_cipher, TEXT_BYTES) != 0 ||
            memcmp(work->back, work->text, TEXT_BYTES) != 0 || memcmp(work->sha, work->first_sha, 20) != 0 ||
            memcmp(work->md5, work->first_md5, 16) != 0) {
            work->wrong++;
        }
        work->rounds++;
    }
}

static int prepare(struct work *work, unsigned start)
{
    for (unsigned i = 0; i < sizeof work->key; i++) {
        work->key[i] = (byte)(start + 7 * i);
    }
    for (unsigned i = 0; i < TEXT_BYTES; i++) {
        work->text[i] = (byte)(start * i + (i >> 3));
    }
    int error = wc_AesInit(&work->aes, NULL, INVALID_DEVID);
    error = error ? error : run_once(work);
    memcpy(work->first_cipher, work->cipher, TEXT_BYTES);
    memcpy(work->first_sha, work->sha, 20);
    memcpy(work->first_md5, work->md5, 16);
    return error;
}

int main(void)
{
    platform_init();
    setvbuf(stdout, NULL, _IOLBF, 256);
    int error = wolfCrypt_Init();
    error = error ? error : prepare(&works[0], 3);
    error = error ? error : prepare(&works[1], 101);
    if (error != 0) {
        printf("the tasks' work failed: %d\n", error);
        return 1;
    }
    tasks_add(run_for_ever, &works[0], stacks[0], STACK_WORDS);
    tasks_add(run_for_ever, &works[1], stacks[1], STACK_WORDS);
    tasks_start();
    int failed = wolfcrypt_test(NULL) != 0;
    tasks_hold();
    for (int i = 0; i < 2; i++) {
        printf("task %d: %u rounds, %u wrong\n", i + 2, works[i].rounds, works[i].wrong);
        failed += (int)works[i].wrong;
    }
    printf("%u switches\n", (unsigned)tasks_switches);
    return failed;
}
