/* Random words by polling, in the shape of the vendor's HAL of 2020 (driver V1.7.8).
 *
 * The handle is locked and busy for each word, which passes through it. Only on the way to a time-out is one thing
 * other: DRDY is looked at once more, as later drivers do, for a task that was away between flag and tick.
 */
#include "stm32f4xx_hal.h"

#define LIMIT_MS 2

HAL_StatusTypeDef HAL_RNG_Init(RNG_HandleTypeDef *hrng)
{
    if (hrng->state == STATE_RESET) {
        hrng->lock = 0;
    }
    hrng->state = STATE_BUSY;
    hrng->Instance->CR |= RNG_CR_RNGEN;
    hrng->state = STATE_READY;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_RNG_DeInit(RNG_HandleTypeDef *hrng)
{
    hrng->Instance->CR &= ~RNG_CR_RNGEN;
    hrng->state = STATE_RESET;
    hrng->lock = 0;
    return HAL_OK;
}

/* The word of a ready generator: into the handle, from there to the caller. */
static HAL_StatusTypeDef fetch(RNG_HandleTypeDef *hrng, uint32_t *number)
{
    hrng->state = STATE_BUSY;
    uint32_t start = HAL_GetTick();
    while ((hrng->Instance->SR & RNG_SR_DRDY) == 0) {
        if (HAL_GetTick() - start > LIMIT_MS && (hrng->Instance->SR & RNG_SR_DRDY) == 0) {
            hrng->state = STATE_READY;
            return HAL_TIMEOUT;
        }
    }
    hrng->number = hrng->Instance->DR;
    *number = hrng->number;
    hrng->state = STATE_READY;
    return HAL_OK;
}

HAL_StatusTypeDef HAL_RNG_GenerateRandomNumber(RNG_HandleTypeDef *hrng, uint32_t *number)
{
    if (hrng->lock) {
        return HAL_BUSY;
    }
    hrng->lock = 1;
    HAL_StatusTypeDef status = hrng->state == STATE_READY ? fetch(hrng, number) : HAL_ERROR;
    hrng->lock = 0;
    return status;
}
