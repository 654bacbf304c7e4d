/* Ethernet by registers: MAC, DMA in chains, PHY over MDIO, frames by interrupt while the core sleeps.
 *
 *   -DROLE=0   answers every frame with the same payload, for ever
 *   -DROLE=1   sends ROUNDS frames to the answerer and checks each answer; ends with the number of wrong ones
 *   -DROLE=2   asks who has 10.0.2.2, pings it, ends with 0 when the answers are right
 * -DPHY=n is the address of the board's transceiver, -DMII says how it is wired, -DWAIT='"..."' how the core waits for a
 * frame: wfi, nop (it polls), b . (it never comes back).
 */
#include "start.h"

#define REG(address) (*(volatile uint32_t *)(address))
#define RCC_AHB1ENR REG(0x40023830)
#define RCC_APB2ENR REG(0x40023844)
#define SYSCFG_PMC REG(0x40013804)
#define NVIC_ISER1 REG(0xE000E104)
#define ETH(offset) REG(0x40028000 + (offset))
#define MACCR ETH(0x00)
#define MACMIIAR ETH(0x10)
#define MACMIIDR ETH(0x14)
#define MACA0HR ETH(0x40)
#define MACA0LR ETH(0x44)
#define DMABMR ETH(0x1000)
#define DMATPDR ETH(0x1004)
#define DMARPDR ETH(0x1008)
#define DMARDLAR ETH(0x100C)
#define DMATDLAR ETH(0x1010)
#define DMASR ETH(0x1014)
#define DMAOMR ETH(0x1018)
#define DMAIER ETH(0x101C)
#define OWN (1u << 31)
#define RING 4
#ifndef ROUNDS
#define ROUNDS 20
#endif
#ifndef CLOCKS
#define CLOCKS (7u << 25) /* MAC, transmit, receive */
#endif
#ifndef PHY
#define PHY 0
#endif
#ifndef WAIT
#define WAIT "wfi"
#endif

typedef struct descriptor {
    volatile uint32_t status, control;
    uint8_t *buffer;
    struct descriptor *next;
} descriptor;

static descriptor rx[RING], tx;
static uint8_t rx_buffers[RING][1536], tx_buffer[1536] __attribute__((aligned(4)));
static volatile uint32_t interrupts;
static uint32_t taken;
static const uint8_t own[6] = {2, 0x80, 0xE1, 0, 0, 1 + ROLE};

void Any_IRQHandler(void)
{
    interrupts++;
    DMASR = 1u << 16 | 1u << 6;
}

static uint32_t mdio(uint32_t reg)
{
    MACMIIAR = PHY << 11 | reg << 6 | 1;
    while (MACMIIAR & 1) {
    }
    return MACMIIDR;
}

static void start(void)
{
    RCC_APB2ENR |= 1u << 14;
    (void)RCC_APB2ENR;
#ifndef MII
    SYSCFG_PMC |= 1u << 23;
#endif
    RCC_AHB1ENR |= CLOCKS;
    (void)RCC_AHB1ENR;
    DMABMR |= 1;
    while (DMABMR & 1) {
    }
    while (!(mdio(1) & 1u << 2)) {
    }
    MACA0HR = own[5] << 8 | own[4];
    MACA0LR = (uint32_t)own[3] << 24 | own[2] << 16 | own[1] << 8 | own[0];
    for (int n = 0; n < RING; n++) {
        rx[n] = (descriptor){OWN, 1u << 14 | sizeof rx_buffers[0], rx_buffers[n], &rx[(n + 1) % RING]};
    }
    tx = (descriptor){0, 0, tx_buffer, &tx};
    DMARDLAR = (uint32_t)rx;
    DMATDLAR = (uint32_t)&tx;
    DMAIER = 1u << 16 | 1u << 6;
    NVIC_ISER1 = 1u << (61 - 32);
    MACCR |= 1u << 14 | 1u << 11 | 1u << 3 | 1u << 2;
    DMAOMR = 1u << 25 | 1u << 21 | 1u << 13 | 1u << 1;
}

static void transmit(uint32_t size)
{
    while (tx.status & OWN) {
    }
    tx.control = size;
    tx.status = OWN | 1u << 29 | 1u << 28 | 3u << 22 | 1u << 20;
    DMATPDR = 0;
}

/* The next frame; sleeps until there is one. */
static uint8_t *receive(uint32_t *size)
{
    while (rx[taken].status & OWN) {
        __asm__ volatile("cpsid i");
        if (rx[taken].status & OWN) {
            __asm__ volatile(WAIT);
        }
        __asm__ volatile("cpsie i");
    }
    *size = (rx[taken].status >> 16 & 0x3FFF) - 4;
    return rx[taken].buffer;
}

static void give_back(void)
{
    rx[taken].status = OWN;
    DMARPDR = 0;
    taken = (taken + 1) % RING;
}

static void copy(uint8_t *to, const uint8_t *from, uint32_t size)
{
    while (size--) {
        *to++ = *from++;
    }
}

__attribute__((unused)) static uint32_t differ(const uint8_t *a, const uint8_t *b, uint32_t size)
{
    while (size--) {
        if (*a++ != *b++) {
            return 1;
        }
    }
    return 0;
}

#if ROLE == 0
int main(void)
{
    start();
    for (;;) {
        uint32_t size;
        uint8_t *frame = receive(&size);
        copy(tx_buffer, frame + 6, 6);
        copy(tx_buffer + 6, own, 6);
        copy(tx_buffer + 12, frame + 12, size - 12);
        give_back();
        transmit(size);
    }
}
#elif ROLE == 1
int main(void)
{
    uint32_t wrong = 0;
    start();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t size = 60 + round * 37;
        for (uint32_t n = 0; n < size; n++) {
            tx_buffer[n] = (uint8_t)(n * 7 + round);
        }
        copy(tx_buffer, (const uint8_t[]){2, 0x80, 0xE1, 0, 0, 1}, 6);
        copy(tx_buffer + 6, own, 6);
        tx_buffer[12] = 0x88;
        tx_buffer[13] = 0xB5;
        transmit(size);
        uint32_t got;
        uint8_t *frame = receive(&got);
        wrong += got != size || differ(frame + 12, tx_buffer + 12, size - 12) || differ(frame, own, 6);
        give_back();
    }
    say("answers came\n");
    return (int)wrong;
}
#else
static const uint8_t question[28] = {0, 1, 8, 0, 6, 4, 0, 1, 2, 0x80, 0xE1, 0, 0, 3, 10, 0, 2, 15,
                                     0, 0, 0, 0, 0, 0, 10, 0, 2, 2};
static const uint8_t ping[28 + 8] = {0x45, 0, 0, 36, 0, 1, 0, 0, 64, 1, 0, 0, 10, 0, 2, 15, 10, 0, 2, 2,
                                     8, 0, 0, 0, 0x12, 0x34, 0, 1, 'c', 'r', 'y', 'p', 't', 'l', 'a', 'b'};

int main(void)
{
    uint32_t size;
    start();
    copy(tx_buffer, (const uint8_t[]){255, 255, 255, 255, 255, 255}, 6);
    copy(tx_buffer + 6, own, 6);
    tx_buffer[12] = 8;
    tx_buffer[13] = 6;
    copy(tx_buffer + 14, question, sizeof question);
    transmit(42);
    uint8_t *frame = receive(&size);
    if (differ(frame, own, 6) || frame[12] != 8 || frame[13] != 6 || frame[21] != 2) {
        return 1;
    }
    copy(tx_buffer, frame + 22, 6);
    give_back();
    tx_buffer[13] = 0;
    copy(tx_buffer + 14, ping, sizeof ping);
    transmit(14 + sizeof ping);
    frame = receive(&size);
    if (frame[34] != 0 || differ(frame + 38, ping + 24, 12) || differ(frame + 26, ping + 16, 4)) {
        return 2;
    }
    say(interrupts == 2 ? "ping answered\n" : "interrupts wrong\n");
    return 0;
}
#endif
