/* Two tasks that share CRYP and HASH, switched by PendSV from SysTick.
 *
 * A small preemptive kernel: SVC starts the first task on the process stack, SysTick asks for a switch,
 * PendSV saves r4 to r11 and, when the task has used it, s16 to s31. Each task hashes a message of its own in
 * pieces, encrypts or decrypts with a key and IV of its own and adds floating-point numbers, all in turns
 * that the other task interrupts. What comes out is left in `results` and compared with another implementation.
 *
 * Two ways to share the blocks:
 *   default            a lock around each use; a task keeps its hash state and IV in its own context
 *   -DSWAP_ON_SWITCH   no lock: the switch itself saves and restores both blocks; a task only holds the
 *                      switch off while a block is half fed
 *   -DNO_LOCK          neither: wrong on purpose, so that the test is seen to be able to fail
 */
#include "start.h"
#include "stm32f4.h"

#define TASKS 2
#define STACK_WORDS 512
#define MESSAGE 1200
#define SYSTICK ((volatile uint32_t *)0xE000E010)
#define ICSR (*(volatile uint32_t *)0xE000ED04)
#define SHPR3 (*(volatile uint32_t *)0xE000ED20)
#define PENDSVSET (1u << 28)
#define KERNEL_PRIORITY 0xF0u
#ifndef PERIOD
#define PERIOD 1000 /* cycles between switches */
#endif
#ifndef ROUNDS
#define ROUNDS 6
#endif

/* ---- what the blocks hold for one task ---- */
typedef struct {
    uint32_t imr, str, cr, csr[54];
} hash_state;

typedef struct {
    uint32_t cr, iv[4];
    uint32_t key[8];
    uint32_t decrypts, in_use;
} cryp_state;

typedef struct {
    uint32_t *sp;          /* first: the switch finds it by the task's address */
    uint32_t exc_return;
    hash_state hash;
    cryp_state cryp;
    uint32_t done;
} task;

typedef struct {
    uint32_t digest[8];
    uint8_t text[MESSAGE];
    float sum;
    uint32_t rounds;
} result;

static uint32_t stacks[TASKS][STACK_WORDS] __attribute__((aligned(8)));
static task tasks[TASKS];
task *current = &tasks[0];
result results[TASKS];
volatile uint32_t switches, ticks, shared;

/* ---- kernel ---- */
static void yield(void) { ICSR = PENDSVSET; __asm__ volatile("dsb\n\tisb" ::: "memory"); }

static uint32_t hold_switch(void)
{
    uint32_t before;
    __asm__ volatile("mrs %0, basepri" : "=r"(before));
    __asm__ volatile("msr basepri, %0\n\tisb" ::"r"(KERNEL_PRIORITY) : "memory");
    return before;
}

static void allow_switch(uint32_t before) { __asm__ volatile("msr basepri, %0" ::"r"(before) : "memory"); }

void SysTick_Handler(void)
{
    ticks++;
    ICSR = PENDSVSET;
}

__attribute__((unused)) static void save_blocks(task *from);
__attribute__((unused)) static void restore_blocks(task *to);

/* Called by PendSV between saving and restoring; returns the next task. */
__attribute__((used)) task *next_task(task *now)
{
    task *next = now == &tasks[0] ? &tasks[1] : &tasks[0];
    switches++;
#ifdef SWAP_ON_SWITCH
    save_blocks(now);
    restore_blocks(next);
#endif
    return next;
}

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm__ volatile(
        "mrs r0, psp            \n"
        "tst lr, #0x10          \n"
        "it eq                  \n"
        "vstmdbeq r0!, {s16-s31}\n"
        "stmdb r0!, {r4-r11}    \n"
        "ldr r4, =current       \n"
        "ldr r5, [r4]           \n"
        "str r0, [r5, #0]       \n"
        "str lr, [r5, #4]       \n"
        "mov r0, r5             \n"
        "bl next_task           \n"
        "str r0, [r4]           \n"
        "ldr lr, [r0, #4]       \n"
        "ldr r0, [r0, #0]       \n"
        "ldmia r0!, {r4-r11}    \n"
        "tst lr, #0x10          \n"
        "it eq                  \n"
        "vldmiaeq r0!, {s16-s31}\n"
        "msr psp, r0            \n"
        "bx lr                  \n");
}

/* Start the first task: its registers r4 to r11 are of no account. */
__attribute__((naked)) void SVC_Handler(void)
{
    __asm__ volatile(
        "ldr r0, =current       \n"
        "ldr r0, [r0]           \n"
        "ldr lr, [r0, #4]       \n"
        "ldr r0, [r0, #0]       \n"
        "ldmia r0!, {r4-r11}    \n"
        "msr psp, r0            \n"
        "bx lr                  \n");
}

static void task_ended(void)
{
    current->done = 1;
    for (;;) {
        if (tasks[0].done && tasks[1].done) {
            finish(0);
        }
        yield();
    }
}

static void make_task(int number, void (*entry)(uint32_t), uint32_t argument)
{
    uint32_t *sp = &stacks[number][STACK_WORDS] - 8;
    sp[0] = argument;
    sp[5] = (uint32_t)task_ended;
    sp[6] = (uint32_t)entry;
    sp[7] = 1u << 24;
    tasks[number].sp = sp - 8;
    tasks[number].exc_return = 0xFFFFFFFD;
}

/* ---- a lock by exclusive access ---- */
static volatile uint32_t lock;

static void take(void)
{
#if !defined SWAP_ON_SWITCH && !defined NO_LOCK
    uint32_t seen, failed;
    for (;;) {
        __asm__ volatile("ldrex %0, [%1]" : "=r"(seen) : "r"(&lock) : "memory");
        if (!seen) {
            __asm__ volatile("strex %0, %1, [%2]" : "=&r"(failed) : "r"(1), "r"(&lock) : "memory");
            if (!failed) {
                __asm__ volatile("dmb" ::: "memory");
                return;
            }
        }
        yield();
    }
#endif
}

static void give(void)
{
#if !defined SWAP_ON_SWITCH && !defined NO_LOCK
    __asm__ volatile("dmb" ::: "memory");
    lock = 0;
#endif
}

/* ---- HASH ---- */
static void hash_save(hash_state *to)
{
    while (HASH->SR & HASH_SR_BUSY) {
    }
    to->imr = HASH->IMR;
    to->str = HASH->STR;
    to->cr = HASH->CR;
    for (int i = 0; i < 54; i++) {
        to->csr[i] = HASH->CSR[i];
    }
}

static void hash_restore(const hash_state *from)
{
    HASH->IMR = from->imr;
    HASH->STR = from->str;
    HASH->CR = from->cr;
    HASH->CR = from->cr | HASH_CR_INIT;
    for (int i = 0; i < 54; i++) {
        HASH->CSR[i] = from->csr[i];
    }
}

static void hash_start(task *me)
{
    take();
    uint32_t held = hold_switch();
    HASH->STR = 0;
    HASH->CR = HASH_CR_ALGO_SHA256 | HASH_CR_DATATYPE_8BIT | HASH_CR_INIT;
#ifndef SWAP_ON_SWITCH
    hash_save(&me->hash);
#endif
    allow_switch(held);
    give();
}

/* One block of 64 bytes. The 16 words are fed with the switch held off: the FIFO has no address. */
static void hash_block(task *me, const uint8_t *data)
{
    const uint32_t *words = (const uint32_t *)data;
    take();
    uint32_t held = hold_switch();
#ifndef SWAP_ON_SWITCH
    hash_restore(&me->hash);
#endif
    for (int i = 0; i < 16; i++) {
        HASH->DIN = words[i];
    }
#ifndef SWAP_ON_SWITCH
    allow_switch(held);
    held = hold_switch();
    hash_save(&me->hash);
#endif
    allow_switch(held);
    give();
}

static void hash_end(task *me, const uint8_t *rest, uint32_t bytes, uint32_t *digest)
{
    const uint32_t *words = (const uint32_t *)rest;
    take();
    uint32_t held = hold_switch();
#ifndef SWAP_ON_SWITCH
    hash_restore(&me->hash);
#endif
    HASH->STR = 8 * (bytes % 4);
    for (uint32_t i = 0; i < (bytes + 3) / 4; i++) {
        HASH->DIN = words[i];
    }
    HASH->STR = 8 * (bytes % 4) | HASH_STR_DCAL;
    while (!(HASH->SR & HASH_SR_DCIS)) {
    }
    for (int i = 0; i < 8; i++) {
        digest[i] = HASH->HR[i];
    }
    allow_switch(held);
    give();
}

/* ---- CRYP ---- */
static void cryp_load(const cryp_state *from)
{
    CRYP->CR = 0;
    volatile uint32_t *keys = &CRYP->K0LR;
    if (from->decrypts) {
        CRYP->CR = CRYP_CR_ALGOMODE_AES_KEY | CRYP_CR_KEYSIZE(2u);
        for (int i = 0; i < 8; i++) {
            keys[i] = from->key[i];
        }
        CRYP->CR |= CRYP_CR_CRYPEN;
        while (CRYP->CR & CRYP_CR_CRYPEN) {
        }
    } else {
        CRYP->CR = from->cr & ~CRYP_CR_CRYPEN;
        for (int i = 0; i < 8; i++) {
            keys[i] = from->key[i];
        }
    }
    CRYP->CR = from->cr & ~CRYP_CR_CRYPEN;
    CRYP->IV0LR = from->iv[0];
    CRYP->IV0RR = from->iv[1];
    CRYP->IV1LR = from->iv[2];
    CRYP->IV1RR = from->iv[3];
    CRYP->CR |= CRYP_CR_FFLUSH;
    CRYP->CR |= CRYP_CR_CRYPEN;
}

static void cryp_save(cryp_state *to)
{
    while ((CRYP->SR & (CRYP_SR_IFEM | CRYP_SR_OFNE | CRYP_SR_BUSY)) != CRYP_SR_IFEM) {
    }
    to->cr = CRYP->CR;
    CRYP->CR &= ~CRYP_CR_CRYPEN;
    to->iv[0] = CRYP->IV0LR;
    to->iv[1] = CRYP->IV0RR;
    to->iv[2] = CRYP->IV1LR;
    to->iv[3] = CRYP->IV1RR;
}

static void cryp_block(task *me, const uint32_t *in, uint32_t *out)
{
    take();
#ifndef SWAP_ON_SWITCH
    cryp_load(&me->cryp);
#endif
    uint32_t held = hold_switch();
    for (int i = 0; i < 4; i++) {
        CRYP->DIN = in[i];
    }
    for (int i = 0; i < 4; i++) {
        while (!(CRYP->SR & CRYP_SR_OFNE)) {
        }
        out[i] = CRYP->DOUT;
    }
    allow_switch(held);
#ifndef SWAP_ON_SWITCH
    cryp_save(&me->cryp);
#endif
    give();
}

__attribute__((unused)) static void save_blocks(task *from)
{
    hash_save(&from->hash);
    if (from->cryp.in_use) {
        cryp_save(&from->cryp);
    }
}

__attribute__((unused)) static void restore_blocks(task *to)
{
    if (to->hash.cr) {
        hash_restore(&to->hash);
    }
    if (to->cryp.in_use) {
        cryp_load(&to->cryp);
    }
}

/* ---- tasks ---- */
static void prepare(uint32_t number)
{
    cryp_state *c = &tasks[number].cryp;
    for (uint32_t i = 0; i < 8; i++) {
        c->key[i] = 0x01020304u * (i + 1) + number;
    }
    for (uint32_t i = 0; i < 4; i++) {
        c->iv[i] = 0xA0B0C0D0u + 16 * i + number;
    }
    c->decrypts = number;
    c->cr = CRYP_CR_ALGOMODE_AES_CBC | CRYP_CR_DATATYPE_8BIT | CRYP_CR_KEYSIZE(2u) | CRYP_CR_CRYPEN
            | (number ? CRYP_CR_ALGODIR : 0);
    for (uint32_t i = 0; i < MESSAGE; i++) {
        results[number].text[i] = (uint8_t)(i * 7 + number * 13);
    }
}

static void work(uint32_t number)
{
    task *me = &tasks[number];
    result *mine = &results[number];
    float sum = 0, step = number ? 0.25f : 0.5f;
    uint32_t held = hold_switch();
#ifdef SWAP_ON_SWITCH
    cryp_load(&me->cryp);
#endif
    me->cryp.in_use = 1;
    allow_switch(held);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t at = 0;
        hash_start(me);
        for (; MESSAGE - at >= 64; at += 64) {
            hash_block(me, mine->text + at);
            for (int i = 0; i < 4; i++) {
                uint32_t *words = (uint32_t *)(mine->text + at + 16 * i);
                cryp_block(me, words, words);
                sum += step * (float)(i + 1);
            }
        }
        hash_end(me, mine->text + at, MESSAGE - at, mine->digest);
        mine->rounds++;
    }
    mine->sum = sum;
}

int main(void)
{
    RCC->AHB2ENR = RCC_AHB2ENR_CRYPEN | RCC_AHB2ENR_HASHEN;
    prepare(0);
    prepare(1);
    make_task(0, work, 0);
    make_task(1, work, 1);
    SHPR3 = KERNEL_PRIORITY << 16 | KERNEL_PRIORITY << 24;
    SYSTICK[1] = PERIOD - 1;
    SYSTICK[2] = 0;
    SYSTICK[0] = 7;
    __asm__ volatile("svc 0");
    return 98;
}
