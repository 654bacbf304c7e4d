"""The native extension; everything else is in pyproject.toml."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "cryplab._native",
            sources=["src/cryplab/native/engine.c"],
            depends=[f"src/cryplab/native/{name}.h" for name in ("engine", "blocks", "access", "exceptions", "flash", "watch")],
            extra_compile_args=["-O2", "-std=c11", "-Wall", "-Wextra"],
        )
    ]
)
