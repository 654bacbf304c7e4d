/* See stm32f2xx.h. */
#include "stm32f2xx.h"
