/* One conversation, in the main loop; see echo.h. */
#include <stdarg.h>

static void say(const struct conversation *conversation, const char *format, ...)
{
    (void)conversation;
    char line[160];
    va_list arguments;
    va_start(arguments, format);
    console_vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    console_printf("%s", line);
}

static int run_conversations(int (*prepare)(struct conversation *), int (*talk)(struct conversation *))
{
    static struct conversation conversation = {.report = cryplab_echo_sessions};
    return prepare(&conversation) || talk(&conversation);
}
