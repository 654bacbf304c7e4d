/* The calls of the Standard Peripheral Library's CRYP part that wolfSSL's port makes: see stm32f2xx.h. */
#ifndef STM32F2XX_CRYP_H
#define STM32F2XX_CRYP_H

#include "stm32f2xx.h"

typedef struct {
    uint16_t CRYP_AlgoDir, CRYP_AlgoMode, CRYP_DataType, CRYP_KeySize; /* fields of CR, in place */
} CRYP_InitTypeDef;

typedef struct {
    uint32_t CRYP_Key0Left, CRYP_Key0Right, CRYP_Key1Left, CRYP_Key1Right;
    uint32_t CRYP_Key2Left, CRYP_Key2Right, CRYP_Key3Left, CRYP_Key3Right;
} CRYP_KeyInitTypeDef;

typedef struct {
    uint32_t CRYP_IV0Left, CRYP_IV0Right, CRYP_IV1Left, CRYP_IV1Right;
} CRYP_IVInitTypeDef;

#define CRYP_AlgoDir_Encrypt 0x0000u
#define CRYP_AlgoDir_Decrypt 0x0004u
#define CRYP_AlgoMode_TDES_ECB 0x0000u
#define CRYP_AlgoMode_TDES_CBC 0x0008u
#define CRYP_AlgoMode_DES_ECB 0x0010u
#define CRYP_AlgoMode_DES_CBC 0x0018u
#define CRYP_AlgoMode_AES_ECB 0x0020u
#define CRYP_AlgoMode_AES_CBC 0x0028u
#define CRYP_AlgoMode_AES_CTR 0x0030u
#define CRYP_AlgoMode_AES_Key 0x0038u
#define CRYP_DataType_32b 0x0000u
#define CRYP_DataType_8b 0x0080u
#define CRYP_KeySize_128b 0x0000u
#define CRYP_KeySize_192b 0x0100u
#define CRYP_KeySize_256b 0x0200u
#define CRYP_FLAG_BUSY 0x10u
#define CRYP_FLAG_OFNE 0x04u
#define CRYP_FLAG_INRIS 0x22u /* of RISR, as all flags with 0x20 in them */

void CRYP_DeInit(void);
void CRYP_Init(CRYP_InitTypeDef *settings);
void CRYP_StructInit(CRYP_InitTypeDef *settings);
void CRYP_KeyInit(CRYP_KeyInitTypeDef *key);
void CRYP_KeyStructInit(CRYP_KeyInitTypeDef *key);
void CRYP_IVInit(CRYP_IVInitTypeDef *iv);
void CRYP_IVStructInit(CRYP_IVInitTypeDef *iv);
void CRYP_Cmd(FunctionalState state);
void CRYP_FIFOFlush(void);
void CRYP_DataIn(uint32_t word);
uint32_t CRYP_DataOut(void);
FlagStatus CRYP_GetFlagStatus(uint8_t flag);

#endif
