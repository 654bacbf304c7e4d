/* AES-CBC through CRYP, block by block by the processor, for ever: what benchmarks/speed.py runs on a whole machine. */
#include "stm32f4.h"

volatile unsigned blocks; /* of 16 bytes, done so far */

void start(void)
{
    static unsigned buffer[256];
    RCC->AHB2ENR = RCC_AHB2ENR_CRYPEN;
    CRYP->CR = CRYP_CR_ALGOMODE_AES_CBC | CRYP_CR_DATATYPE_8BIT;
    CRYP->K2LR = 1, CRYP->K2RR = 2, CRYP->K3LR = 3, CRYP->K3RR = 4;
    CRYP->IV0LR = 5, CRYP->IV0RR = 6, CRYP->IV1LR = 7, CRYP->IV1RR = 8;
    CRYP->CR |= CRYP_CR_CRYPEN;
    for (;;) {
        for (unsigned *at = buffer; at < buffer + 256; at += 4) {
            for (int i = 0; i < 4; i++) {
                CRYP->DIN = at[i];
            }
            while (!(CRYP->SR & CRYP_SR_OFNE)) {
            }
            for (int i = 0; i < 4; i++) {
                at[i] = CRYP->DOUT;
            }
            blocks++;
        }
    }
}

extern unsigned _estack;
__attribute__((section(".isr_vector"), used)) static const void *const vectors[16] = {&_estack, (void *)start};
