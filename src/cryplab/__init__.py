"""A virtual STM32 bench for hardware crypto: boards that run firmware, and what they tell."""
