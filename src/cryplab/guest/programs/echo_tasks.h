/* Several conversations, each in a task of the kernel; see echo.h. */
#include <stdarg.h>
#include <stdlib.h>

#include "tasks.h"

#define STACK_WORDS 1280

struct talker {
    struct conversation conversation;
    int (*talk)(struct conversation *conversation);
    int failed;
    unsigned task;
    uint32_t stack[STACK_WORDS] __attribute__((aligned(8)));
};

static void say(const struct conversation *conversation, const char *format, ...)
{
    char line[160];
    va_list arguments;
    va_start(arguments, format);
    console_vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (conversation == NULL) {
        console_printf("%s", line);
    } else {
        console_printf("session %u: %s", (unsigned)(conversation->report - cryplab_echo_sessions) + 1, line);
    }
}

static void run_talker(void *argument)
{
    struct talker *talker = argument;
    talker->failed = talker->talk(&talker->conversation);
}

static int out_of_memory(unsigned sessions)
{
    console_printf("out of memory after %u sessions\n", sessions);
    return 1;
}

static int run_conversations(int (*prepare)(struct conversation *), int (*talk)(struct conversation *))
{
    static struct talker *talkers[SESSIONS_MOST];
    unsigned sessions = cryplab_echo.sessions < 1               ? 1
                        : cryplab_echo.sessions > SESSIONS_MOST ? SESSIONS_MOST
                                                                : cryplab_echo.sessions;
    int failures = 0;
    for (unsigned i = 0; i < sessions; i++) {
        struct talker *talker = talkers[i] = calloc(1, sizeof *talker);
        if (talker == NULL) {
            return out_of_memory(i);
        }
        talker->talk = talk;
        talker->conversation.report = &cryplab_echo_sessions[i];
        if (prepare(&talker->conversation)) {
            return 1;
        }
    }
    for (unsigned i = 0; i < sessions; i++) {
        talkers[i]->task = tasks_add(run_talker, talkers[i], talkers[i]->stack, STACK_WORDS);
    }
    unsigned left = STACK_WORDS;
    for (unsigned i = 0; i < sessions; i++) {
        tasks_join(talkers[i]->task);
        failures += talkers[i]->failed;
        unsigned unused = tasks_stack_left(talkers[i]->task);
        left = unused < left ? unused : left;
    }
    console_printf("%u sessions, %u failed; %u task switches, %u of %u words of a stack never used\n", sessions,
                   (unsigned)failures, (unsigned)tasks_switches, left, STACK_WORDS);
    return failures != 0;
}
