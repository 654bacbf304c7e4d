# Each target does all the set-up it needs, into .venv; nothing outside this folder is changed
# except Debian packages that are missing (compiler, newlib, Python headers).

.PHONY: help setup bench test quick lint clean

help:
	@echo "make setup   everything needed, into .venv"
	@echo "make bench   the before/after table of the u-blox C030-U201"
	@echo "make test    what continuous integration runs: lint, types, all tests"
	@echo "make quick   tests that take seconds"

setup:
	@tools/setup.sh

bench: setup
	.venv/bin/cryplab bench --board ublox-c030-u201

lint: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

quick: setup
	.venv/bin/python -m pytest -m "not slow" -n auto

test: lint
	.venv/bin/python -m pytest -n auto

clean:
	rm -rf .venv build src/cryplab.egg-info src/cryplab/_native*.so
