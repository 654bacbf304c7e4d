/* How the callers of network.h share lwIP and wait for it: alone/ for one main loop, tasks/ for tasks of the kernel. */
#ifndef SHARING_H
#define SHARING_H

#include <stdint.h>

#include "network.h"

/* Interface and lwIP are there: what must run beside the callers begins. */
void network_begin(void);

/* lwIP is the caller's between these two; pairs may nest. */
void network_enter(void);
void network_leave(void);

/* As network_wait(), for so many milliseconds at most. */
void network_wait_at_most(uint32_t ms);

/* Inside: the caller is the one who waits for this stream. */
void network_mine(struct network_stream *stream);

/* Inside: what is waited for at the stream may have come; NULL: what anybody waits for. */
void network_changed(struct network_stream *stream);

/* Inside: hand all frames to lwIP, run its timers, look at the link. */
void network_work(void);

#endif
