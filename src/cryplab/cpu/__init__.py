"""Cores: instructions, exceptions, time; the only folder that imports unicorn."""
