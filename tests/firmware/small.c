/* Exercises the machine: consoles, faults, functions to call. Built by tests/firmware_builds.py. */
#include <stdint.h>

extern uint32_t _estack, _sidata, _sdata, _edata, _sbss, _ebss;
volatile uint32_t mode; /* .noinit is not needed: the host sets it through `start_mode` before reset */
#ifdef MODE
static const uint32_t start_mode = MODE; /* for the command line, which writes no memory */
#else
__attribute__((section(".noinit"))) volatile uint32_t start_mode;
#endif
uint32_t initialised = 0x11223344;
volatile uint32_t zeroed;
uint32_t cryplab_exit_code;

static int semihost(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void print(const char *text) { semihost(0x04, text); }

/* ---- called from Python ---- */
int add6(int a, int b, int c, int d, int e, int f) { return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f; }

__attribute__((noinline)) uint32_t sum_bytes(const uint8_t *data, uint32_t length)
{
    uint32_t sum = 0;
    while (length--) {
        sum += *data++;
    }
    return sum;
}

void fill(uint8_t *data, uint32_t length, uint32_t value)
{
    while (length--) {
        *data++ = (uint8_t)value;
    }
}

uint32_t count_calls(void) { return ++zeroed; }
void spin(void) { for (;;) { zeroed++; } }
uint32_t slow_id(void) { return 7; }
float half(float x) { return x / 2; }

/* ---- faults ---- */
__attribute__((noinline)) void bad_load(void) { zeroed = *(volatile uint32_t *)0x30000000; }
__attribute__((noinline)) void undefined(void) { __asm__ volatile("udf #1"); }
__attribute__((noinline)) void outer(void) { bad_load(); zeroed++; }
void jump_away(void) { ((void (*)(void))0x30000001)(); }

/* ---- consoles ---- */
static void itm(const char *text)
{
    *(volatile uint32_t *)0xE000EDFC |= 1u << 24;
    *(volatile uint32_t *)0xE0000FB0 = 0xC5ACCE55;
    *(volatile uint32_t *)0xE0000E80 |= 1;
    *(volatile uint32_t *)0xE0000E00 |= 1;
    while (*text) {
        while (!(*(volatile uint32_t *)0xE0000000 & 1)) {
        }
        *(volatile uint8_t *)0xE0000000 = (uint8_t)*text++;
    }
}

struct {
    char id[16];
    uint32_t up, down;
    struct { const char *name; char *buffer; uint32_t size; volatile uint32_t write, read; uint32_t flags; } channel;
} _SEGGER_RTT;
static char ring[16];

static void rtt(const char *text)
{
    static const char id[] = "SEGGER RTT";
    _SEGGER_RTT.up = 1;
    _SEGGER_RTT.channel.buffer = ring;
    _SEGGER_RTT.channel.size = sizeof ring;
    for (unsigned i = 0; i < sizeof id; i++) {
        _SEGGER_RTT.id[i] = id[i];
    }
    while (*text) {
        uint32_t next = (_SEGGER_RTT.channel.write + 1) % sizeof ring;
        while (next == _SEGGER_RTT.channel.read) {
        }
        ring[_SEGGER_RTT.channel.write] = *text++;
        _SEGGER_RTT.channel.write = next;
    }
}

static void finish(uint32_t code)
{
    uint32_t block[2] = {0x20026, code};
    semihost(0x20, block);
}

static void echo_a_line(void)
{
    char text[2] = {0, 0};
    print("> ");
    while (text[0] != '\n') {
        int key = semihost(0x07, 0);
        if (key >= 0) {
            text[0] = (char)key;
            print(text);
        }
    }
}

int main(void)
{
    switch (start_mode) {
    case 0: print("hello\n"); print(initialised == 0x11223344 && !zeroed ? "memory ok\n" : "memory wrong\n"); break;
    case 1: itm("by itm\n"); break;
    case 2: rtt("by rtt, longer than the ring of sixteen\n"); while (_SEGGER_RTT.channel.read != _SEGGER_RTT.channel.write) { } break;
    case 3: outer(); break;
    case 4: for (;;) { }
    case 5: { uint32_t block[2] = {0x20026, 7}; semihost(0x20, block); break; }
    case 6: __asm__ volatile("bkpt 3"); break;
    case 7: __asm__ volatile("cpsid i\n\twfi"); break;
    case 8: jump_away(); break;
    case 9: for (;;) { __asm__ volatile("nop"); } break;
    case 10: echo_a_line(); finish(0); break;
    case 11: print("no line end"); finish(0); break;
    case 12: print("caf\xc3\xa9 \xff\n"); finish(3); break;
    case 13: zeroed = sum_bytes((const uint8_t *)0x50060000, 1); *(volatile uint32_t *)0x40023400 = 1;
        *(volatile uint32_t *)0x40012004; finish(0); break;
    case 14: while (!(*(volatile uint32_t *)0x40012000 & 2)) { } print("converted\n"); finish(0); break;
    case 15: print("spinning\n"); for (;;) { __asm__ volatile("nop"); } break;
    }
    __asm__ volatile("" ::: "memory");
    for (;;) {
        __asm__ volatile("wfi");
    }
}

void Reset_Handler(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xF << 20;
    for (uint32_t *from = &_sidata, *to = &_sdata; to < &_edata;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &_sbss; to < &_ebss;) {
        *to++ = 0;
    }
    main();
}

void HardFault_Handler(void)
{
    print("in the fault handler\n");
    if (start_mode == 8) {
        *(volatile uint32_t *)0x30000000 = 0; /* a fault in the handler: lockup */
    }
    for (;;) {
    }
}

__attribute__((section(".isr_vector"), used)) static const void *const vectors[16] = {
    &_estack, (void *)Reset_Handler, 0, (void *)HardFault_Handler,
};
