/* mbed TLS's mutex is the kernel's. */
#ifndef THREADING_ALT_H
#define THREADING_ALT_H

#include "tasks.h"

typedef struct task_mutex mbedtls_threading_mutex_t;

#endif
