/* The calls of a peripheral library in which every register access is a function of its own.
 *
 * That shape costs time, and the published figures have it: four words in and out are eight calls, a poll of a flag
 * is a call that first finds out which register the flag is in.
 */
#include "stm32f2xx_cryp.h"
#include "stm32f2xx_hash.h"

#define CRYP_RISR_FLAG 0x20u

/* ---- RCC ---- */

static void change(REG *reg, uint32_t bits, FunctionalState state)
{
    if (state != DISABLE) {
        *reg |= bits;
    } else {
        *reg &= ~bits;
    }
}

void RCC_AHB2PeriphClockCmd(uint32_t blocks, FunctionalState state)
{
    change(&RCC->AHB2ENR, blocks, state);
}

void RCC_AHB2PeriphResetCmd(uint32_t blocks, FunctionalState state)
{
    change(&RCC->AHB2RSTR, blocks, state);
}

static void reset(uint32_t blocks)
{
    RCC_AHB2PeriphResetCmd(blocks, ENABLE);
    RCC_AHB2PeriphResetCmd(blocks, DISABLE);
}

/* ---- RNG ---- */

void RNG_DeInit(void)
{
    reset(RCC_AHB2Periph_RNG);
}

void RNG_Cmd(FunctionalState state)
{
    change(&RNG->CR, RNG_CR_RNGEN, state);
}

FlagStatus RNG_GetFlagStatus(uint8_t flag)
{
    return (RNG->SR & flag) != 0 ? SET : RESET;
}

uint32_t RNG_GetRandomNumber(void)
{
    return RNG->DR;
}

/* ---- CRYP ---- */

void CRYP_DeInit(void)
{
    reset(RCC_AHB2Periph_CRYP);
}

void CRYP_StructInit(CRYP_InitTypeDef *settings)
{
    settings->CRYP_AlgoDir = CRYP_AlgoDir_Encrypt;
    settings->CRYP_AlgoMode = CRYP_AlgoMode_TDES_ECB;
    settings->CRYP_DataType = 0;
    settings->CRYP_KeySize = CRYP_KeySize_128b;
}

/* Field after field; the key size only where the mode has one. */
void CRYP_Init(CRYP_InitTypeDef *settings)
{
    CRYP->CR &= ~CRYP_CR_ALGOMODE;
    CRYP->CR |= settings->CRYP_AlgoMode;
    CRYP->CR &= ~CRYP_CR_DATATYPE;
    CRYP->CR |= settings->CRYP_DataType;
    if (settings->CRYP_AlgoMode >= CRYP_AlgoMode_AES_ECB) {
        CRYP->CR &= ~CRYP_CR_KEYSIZE(3u);
        CRYP->CR |= settings->CRYP_KeySize;
    }
    CRYP->CR &= ~CRYP_CR_ALGODIR;
    CRYP->CR |= settings->CRYP_AlgoDir;
}

void CRYP_KeyStructInit(CRYP_KeyInitTypeDef *key)
{
    key->CRYP_Key0Left = key->CRYP_Key0Right = 0;
    key->CRYP_Key1Left = key->CRYP_Key1Right = 0;
    key->CRYP_Key2Left = key->CRYP_Key2Right = 0;
    key->CRYP_Key3Left = key->CRYP_Key3Right = 0;
}

void CRYP_KeyInit(CRYP_KeyInitTypeDef *key)
{
    CRYP->K0LR = key->CRYP_Key0Left;
    CRYP->K0RR = key->CRYP_Key0Right;
    CRYP->K1LR = key->CRYP_Key1Left;
    CRYP->K1RR = key->CRYP_Key1Right;
    CRYP->K2LR = key->CRYP_Key2Left;
    CRYP->K2RR = key->CRYP_Key2Right;
    CRYP->K3LR = key->CRYP_Key3Left;
    CRYP->K3RR = key->CRYP_Key3Right;
}

void CRYP_IVStructInit(CRYP_IVInitTypeDef *iv)
{
    iv->CRYP_IV0Left = iv->CRYP_IV0Right = 0;
    iv->CRYP_IV1Left = iv->CRYP_IV1Right = 0;
}

void CRYP_IVInit(CRYP_IVInitTypeDef *iv)
{
    CRYP->IV0LR = iv->CRYP_IV0Left;
    CRYP->IV0RR = iv->CRYP_IV0Right;
    CRYP->IV1LR = iv->CRYP_IV1Left;
    CRYP->IV1RR = iv->CRYP_IV1Right;
}

void CRYP_Cmd(FunctionalState state)
{
    change(&CRYP->CR, CRYP_CR_CRYPEN, state);
}

void CRYP_FIFOFlush(void)
{
    CRYP->CR |= CRYP_CR_FFLUSH;
}

void CRYP_DataIn(uint32_t word)
{
    CRYP->DIN = word;
}

uint32_t CRYP_DataOut(void)
{
    return CRYP->DOUT;
}

FlagStatus CRYP_GetFlagStatus(uint8_t flag)
{
    uint32_t word = (flag & CRYP_RISR_FLAG) != 0 ? CRYP->RISR : CRYP->SR;
    return (word & flag) != 0 ? SET : RESET;
}

/* ---- HASH ---- */

void HASH_DeInit(void)
{
    reset(RCC_AHB2Periph_HASH);
}

void HASH_DataIn(uint32_t word)
{
    HASH->DIN = word;
}

void HASH_SetLastWordValidBitsNbr(uint16_t bits)
{
    HASH->STR &= ~HASH_STR_NBW;
    HASH->STR |= bits;
}

void HASH_StartDigest(void)
{
    HASH->STR |= HASH_STR_DCAL;
}

FlagStatus HASH_GetFlagStatus(uint16_t flag)
{
    return (HASH->SR & flag) != 0 ? SET : RESET;
}
