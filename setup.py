"""The native extension; everything else is in pyproject.toml."""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "cryplab._native",
            sources=["src/cryplab/native/engine.c"],
            depends=sorted(glob("src/cryplab/native/*.h")),
            extra_compile_args=["-O2", "-std=c11", "-Wall", "-Wextra"],
        )
    ]
)
