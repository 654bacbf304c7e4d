"""`python -m cryplab` is the `cryplab` command."""

from cryplab.cli import main

main()
