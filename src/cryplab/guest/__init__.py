"""Reference firmware that runs on the bench: C sources, drivers of our own, and the building of it.

`build("benchmark", board="ublox-c030-u201", build="hardware")` returns the path of an ELF file.
"""

from cryplab.guest.build import BUILDS, CHECKED, LIBRARIES, PROGRAMS, build, programs
from cryplab.guest.sources import library

__all__ = ["BUILDS", "CHECKED", "LIBRARIES", "PROGRAMS", "build", "library", "programs"]
