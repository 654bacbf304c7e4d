/* The board under the wolfCrypt programs. */
#ifndef PLATFORM_H
#define PLATFORM_H

void platform_init(void);
double current_time(int reset);

#endif
