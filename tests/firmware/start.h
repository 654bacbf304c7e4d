/* See start.c. */
#ifndef START_H
#define START_H
#include <stdint.h>

void say(const char *text);
void finish(uint32_t code) __attribute__((noreturn));

#endif
