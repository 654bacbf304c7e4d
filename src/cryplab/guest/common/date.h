/* Date and time of day from the RTC; where the chip's RTC is not to be had, counted from what was set. */
#ifndef CRYPLAB_DATE_H
#define CRYPLAB_DATE_H

#include <stdint.h>
#include <time.h>

/* Seconds since 1970-01-01 00:00 UTC; 0 leaves a calendar that a battery kept. */
void date_set(uint32_t seconds);

/* In the shape of time(): seconds since 1970, also stored at `result` unless it is NULL. */
time_t date_time(time_t *result);

#endif
