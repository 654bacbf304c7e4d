/* See beside.h. The task works for some milliseconds, through switches, and sleeps for some, so that the session gets on. */
#if defined(CRYPLAB_KERNEL)

#include "beside.h"

#include <stddef.h>
#include <string.h>

#include "console.h"
#include "tasks.h"

#define STACK_WORDS 512
#define WORK_SWITCHES 3
#define SLEEP_MS 4

static struct beside beside;
static unsigned char first_cipher[BESIDE_BYTES], first_digest[32];
static unsigned rounds, wrong;
static volatile int stopping;
static unsigned task;
static uint32_t stack[STACK_WORDS] __attribute__((aligned(8)));

static void run(void *argument)
{
    (void)argument;
    while (!stopping) {
        for (uint32_t start = tasks_switches; tasks_switches - start < WORK_SWITCHES && !stopping; rounds++) {
            int error = beside_work(&beside);
            wrong += error != 0 || memcmp(beside.cipher, first_cipher, BESIDE_BYTES) != 0 ||
                     memcmp(beside.back, beside.text, BESIDE_BYTES) != 0 || memcmp(beside.digest, first_digest, 32) != 0;
        }
        tasks_sleep(SLEEP_MS);
    }
}

int beside_start(void)
{
    for (unsigned i = 0; i < sizeof beside.key; i++) {
        beside.key[i] = (unsigned char)(7 * i + 1);
    }
    for (unsigned i = 0; i < BESIDE_BYTES; i++) {
        beside.text[i] = (unsigned char)(i * i + (i >> 3));
    }
    int error = beside_work(&beside);
    memcpy(first_cipher, beside.cipher, BESIDE_BYTES);
    memcpy(first_digest, beside.digest, sizeof first_digest);
    if (error == 0) {
        task = tasks_add(run, NULL, stack, STACK_WORDS);
        tasks_start();
    }
    return error;
}

unsigned beside_end(void)
{
    stopping = 1;
    tasks_join(task);
    console_printf("\nBeside the session: %u rounds of AES and SHA, %u wrong; %u task switches\n", rounds, wrong,
                   (unsigned)tasks_switches);
    return wrong;
}

#endif
