/* See sharing.h: one main loop. Whoever waits does lwIP's work, and sleeps when there was none. */
#include "clock.h"
#include "ethernetif.h"
#include "sharing.h"

static volatile int frame_waits;
static uint64_t idle_cycles;

void ethernetif_arrived(void)
{
    frame_waits = 1;
}

void network_begin(void)
{
}

void network_enter(void)
{
}

void network_leave(void)
{
}

void network_mine(struct network_stream *stream)
{
    (void)stream;
}

void network_changed(struct network_stream *stream)
{
    (void)stream;
}

void network_wait(void)
{
    frame_waits = 0;
    network_work();
    uint64_t start = clock_cycles();
    /* an interrupt that comes in between ends WFI at once, masked or not; the tick ends it, too */
    __asm volatile("cpsid i" : : : "memory");
    if (!frame_waits) {
        __asm volatile("dsb\n wfi" : : : "memory");
    }
    __asm volatile("cpsie i" : : : "memory");
    idle_cycles += clock_cycles() - start;
}

void network_wait_at_most(uint32_t ms)
{
    (void)ms; /* the tick comes each millisecond */
    network_wait();
}

uint64_t network_idle_cycles(void)
{
    return idle_cycles;
}
