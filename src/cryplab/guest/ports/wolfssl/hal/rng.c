/* Random words by polling, in the shape of the vendor's HAL. */
#include "stm32f4xx_hal.h"

#define LIMIT_MS 2

HAL_StatusTypeDef HAL_RNG_Init(RNG_HandleTypeDef *hrng)
{
    hrng->Instance->CR |= RNG_CR_RNGEN;
    hrng->started = 1;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_RNG_DeInit(RNG_HandleTypeDef *hrng)
{
    hrng->Instance->CR &= ~RNG_CR_RNGEN;
    hrng->started = 0;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_RNG_GenerateRandomNumber(RNG_HandleTypeDef *hrng, uint32_t *number)
{
    if (!hrng->started) {
        return HAL_ERROR;
    }
    uint32_t start = HAL_GetTick();
    while ((hrng->Instance->SR & RNG_SR_DRDY) == 0) {
        if (HAL_GetTick() - start > LIMIT_MS && (hrng->Instance->SR & RNG_SR_DRDY) == 0) {
            return HAL_TIMEOUT;
        }
    }
    *number = hrng->Instance->DR;
    return HAL_OK;
}
