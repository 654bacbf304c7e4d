#!/bin/sh
# Makes .venv with cryplab in it, on a machine that has nothing yet.
# Debian packages are installed only when something is missing; everything else stays in this folder.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1; then sudo "$@"
    else say "cannot install Debian packages: not root and no sudo; install by hand: $needed"; exit 3
    fi
}

python=${PYTHON:-python3}
needed=
command -v cc >/dev/null 2>&1 || needed="$needed gcc libc6-dev"
command -v arm-none-eabi-gcc >/dev/null 2>&1 || needed="$needed gcc-arm-none-eabi"
if ! command -v arm-none-eabi-gcc >/dev/null 2>&1 \
    || ! printf '#include <stdlib.h>\n' | arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -fsyntax-only -x c - 2>/dev/null; then
    needed="$needed libnewlib-arm-none-eabi"
fi
command -v "$python" >/dev/null 2>&1 || needed="$needed python3"
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then needed="$needed python3-venv"; fi
if ! "$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' 2>/dev/null; then
    needed="$needed python3-dev"
fi
if [ -n "$needed" ]; then
    if ! command -v apt-get >/dev/null 2>&1; then say "missing, and there is no apt-get here:$needed"; exit 3; fi
    say "installing Debian packages:$needed"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    # shellcheck disable=SC2086
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $needed >/dev/null
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    say "$("$python" --version) is too old; cryplab needs Python 3.11 or newer (set PYTHON=...)"
    exit 3
fi

stamp=.venv/.cryplab-setup
wanted=$(cat pyproject.toml setup.py src/cryplab/native/* | cksum)
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$wanted" ]; then
    say "making .venv (Python packages and the native extension)"
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    .venv/bin/python -m pip install -q --disable-pip-version-check -e '.[dev]'
    printf '%s' "$wanted" > "$stamp"
fi
if [ "${1:-}" != "no-sources" ]; then
    .venv/bin/cryplab build --fetch-only >/dev/null
fi
