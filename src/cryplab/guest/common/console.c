/* See console.h. */
#include "console.h"

#include <stdint.h>

#include "board.h"
#include "clock.h"
#include "stm32f4.h"

#define BAUD 115200u

static int muted;

/* Under the kernel a task writes all of a call's text before another one writes; a handler writes at once. */
#if defined(CRYPLAB_KERNEL)
#include "tasks.h"

static struct task_mutex writer;

static int in_handler(void)
{
    uint32_t number;
    __asm volatile("mrs %0, ipsr" : "=r"(number));
    return number != 0;
}

static void begin_text(void)
{
    if (!in_handler()) {
        task_mutex_lock(&writer);
    }
}

static void end_text(void)
{
    if (!in_handler()) {
        task_mutex_unlock(&writer);
    }
}
#else
#define begin_text()
#define end_text()
#endif

static void alternate_function(GPIO_TypeDef *port, unsigned pin, uint32_t function)
{
    port->MODER = (port->MODER & ~(3u << (2 * pin))) | GPIO_MODE_AF << (2 * pin);
    REG *afr = &port->AFR[pin / 8];
    *afr = (*afr & ~(0xFu << (4 * (pin % 8)))) | function << (4 * (pin % 8));
}

void console_init(void)
{
    RCC->AHB1ENR |= BOARD_CONSOLE_PORT_ENABLE;
    if (BOARD_CONSOLE_APB == 1) {
        RCC->APB1ENR |= BOARD_CONSOLE_ENABLE;
    } else {
        RCC->APB2ENR |= BOARD_CONSOLE_ENABLE;
    }
    alternate_function(BOARD_CONSOLE_PORT, BOARD_CONSOLE_TX, BOARD_CONSOLE_AF);
    alternate_function(BOARD_CONSOLE_PORT, BOARD_CONSOLE_RX, BOARD_CONSOLE_AF);
    BOARD_CONSOLE->BRR = ((BOARD_CONSOLE_APB == 1 ? CLOCK_PCLK1_HZ : CLOCK_PCLK2_HZ) + BAUD / 2) / BAUD;
    BOARD_CONSOLE->CR1 = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE;
}

void console_mute(int on)
{
    muted = on;
}

void console_write(const char *text, size_t length)
{
    begin_text();
    for (; length != 0 && !muted; length--, text++) {
        while (!(BOARD_CONSOLE->SR & USART_SR_TXE)) {
        }
        BOARD_CONSOLE->DR = (uint8_t)*text;
    }
    end_text();
}

void console_flush(void)
{
    while (!(BOARD_CONSOLE->SR & USART_SR_TC)) {
    }
}

/* ---- formatting ---- */

struct sink {
    char *at, *end; /* `end` leaves room for the closing zero */
    int total;
};

static void put(struct sink *sink, char c)
{
    if (sink->at < sink->end) {
        *sink->at++ = c;
    }
    sink->total++;
}

static void put_field(struct sink *sink, const char *text, int length, int width, int left, char fill)
{
    for (int i = length; !left && i < width; i++) {
        put(sink, fill);
    }
    for (int i = 0; i < length; i++) {
        put(sink, text[i]);
    }
    for (int i = length; left && i < width; i++) {
        put(sink, ' ');
    }
}

/* Digits of `value` at the end of `buffer`, at least `digits` of them; returns the first. */
static char *number(char *end, uint64_t value, unsigned base, int digits, char ten)
{
    char *at = end;
    while (value != 0 || digits > 0) {
        unsigned digit = (unsigned)(value % base);
        *--at = (char)(digit < 10 ? '0' + digit : ten + digit - 10);
        value /= base;
        digits--;
    }
    return at;
}

int console_vsnprintf(char *buffer, size_t size, const char *format, va_list arguments)
{
    struct sink sink = {buffer, size ? buffer + size - 1 : buffer, 0};
    for (; *format; format++) {
        if (*format != '%') {
            put(&sink, *format);
            continue;
        }
        int left = 0, zero = 0, width = 0, precision = -1, longs = 0;
        for (format++; *format == '-' || *format == '0'; format++) {
            left |= *format == '-';
            zero |= *format == '0';
        }
        if (*format == '*') {
            width = va_arg(arguments, int);
            format++;
        }
        for (; *format >= '0' && *format <= '9'; format++) {
            width = 10 * width + *format - '0';
        }
        if (*format == '.') {
            precision = 0;
            if (*++format == '*') {
                precision = va_arg(arguments, int);
                format++;
            }
            for (; *format >= '0' && *format <= '9'; format++) {
                precision = 10 * precision + *format - '0';
            }
        }
        for (; *format == 'l' || *format == 'z' || *format == 'h'; format++) {
            longs += *format == 'l';
        }
        char digits[32], *end = digits + sizeof digits, *at = end;
        switch (*format) {
        case 'c':
            *--at = (char)va_arg(arguments, int);
            put_field(&sink, at, 1, width, left, ' ');
            break;
        case 's': {
            const char *text = va_arg(arguments, const char *);
            int length = 0;
            while (text[length] && length != precision) {
                length++;
            }
            put_field(&sink, text, length, width, left, ' ');
            break;
        }
        case 'd':
        case 'i': {
            int64_t value = longs > 1 ? va_arg(arguments, int64_t) : va_arg(arguments, int);
            at = number(end, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, precision < 0 ? 1 : precision, 'a');
            if (value < 0) {
                *--at = '-';
            }
            put_field(&sink, at, (int)(end - at), width, left, zero && !left ? '0' : ' ');
            break;
        }
        case 'u':
        case 'x':
        case 'X':
        case 'p': {
            uint64_t value = longs > 1 ? va_arg(arguments, uint64_t) : va_arg(arguments, unsigned);
            at = number(end, value, *format == 'u' ? 10 : 16, precision < 0 ? 1 : precision, *format == 'X' ? 'A' : 'a');
            put_field(&sink, at, (int)(end - at), width, left, zero && !left ? '0' : ' ');
            break;
        }
        default:
            put(&sink, *format);
        }
    }
    if (size) {
        *sink.at = 0;
    }
    return sink.total;
}

int console_snprintf(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int total = console_vsnprintf(buffer, size, format, arguments);
    va_end(arguments);
    return total;
}

int console_printf(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int total = console_vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    console_write(line, (size_t)(total < (int)sizeof line ? total : (int)sizeof line - 1));
    return total;
}
