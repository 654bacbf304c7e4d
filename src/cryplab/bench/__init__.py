"""Benchmarks: running and timing rows, the three text forms, published rows, the accelerators' limits."""

from cryplab.bench.run import BenchResult, bench

__all__ = ["BenchResult", "bench"]
