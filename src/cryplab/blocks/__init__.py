"""Peripherals: one file per block version, each a class that reads like the page of the manual."""
