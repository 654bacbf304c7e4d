"""The arithmetic behind the blocks; it knows no register, no chip, no bus."""
