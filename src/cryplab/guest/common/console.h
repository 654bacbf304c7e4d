/* Text over the board's USART: 115200 baud, 8N1, polled. */
#ifndef CRYPLAB_CONSOLE_H
#define CRYPLAB_CONSOLE_H

#include <stdarg.h>
#include <stddef.h>

void console_init(void);
void console_write(const char *text, size_t length);
void console_flush(void); /* wait until the last stop bit has left */
void console_mute(int on); /* drop what is written meanwhile */

/* The printf family of the reference programs: %c %s %d %i %u %x %X %p %%, flags `-` and `0`, width,
 * precision, `l`, `ll`, `z`. Small, so that it does not bring newlib's locale and heap use along. */
int console_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int console_snprintf(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int console_vsnprintf(char *buffer, size_t size, const char *format, va_list arguments);

#endif
