"""The block that the host fills: limits, and the layout against the C compiler's."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cryplab import guest
from cryplab.errors import InputError, UsageError
from cryplab.tls.client import END
from cryplab.tls.parameters import CA_BYTES_MOST, LAYOUT, Parameters, parse_target, read_ca
from cryplab.tls.result import PHASE
from cryplab.tls.suites import SUITES
from firmware_builds import GCC, needs_gcc
from tls.servers import make_identity

HEADER = Path(guest.__file__).parent / "programs" / "tls_parameters.h"
DATE = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "host", "port", "path"),
    [
        ("localhost:4433", "localhost", 4433, "/"),
        ("Example.org:8443/a/b?c", "example.org", 8443, "/a/b?c"),
        ("https://example.org/x", "example.org", 443, "/x"),
        ("127.0.0.1:1", "127.0.0.1", 1, "/"),
    ],
)
def test_targets(text: str, host: str, port: int, path: str) -> None:
    target = parse_target(text)
    assert (target.host, target.port, target.path) == (host, port, path)


def test_localhost_is_the_host() -> None:
    target = parse_target("127.0.0.1:4433")
    assert (target.guest_host, target.allow) == ("10.0.2.2", "localhost:4433")


@pytest.mark.parametrize("text", ["", ":443", "host:", "host:https", "host:0", "host:65536", "/path"])
def test_wrong_targets(text: str) -> None:
    with pytest.raises(UsageError, match=f"'{text}': expected HOST:PORT"):
        parse_target(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h" * 128, "host name of 128 bytes; the guest has room for 127"),
        ("h:1/" + "p" * 255, "path of 256 bytes; the guest has room for 255"),
        ("höst:1", "host name 'höst': the guest knows ASCII only"),
    ],
)
def test_what_does_not_fit(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_target(text)


def test_ca_files(tmp_path: Path) -> None:
    identity = make_identity(tmp_path, "ECDSA")
    pem = read_ca(identity.ca)
    assert pem.startswith(b"-----BEGIN CERTIFICATE-----")
    assert pem.endswith(b"-----END CERTIFICATE-----\n\0")
    with pytest.raises(InputError, match=r"none.pem: No such file or directory; expected a CA certificate"):
        read_ca(tmp_path / "none.pem")
    text = tmp_path / "text.pem"
    text.write_text("no certificate")
    with pytest.raises(InputError, match=r"text.pem: no certificate in it"):
        read_ca(text)
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(20 * identity.ca.read_bytes())
    with pytest.raises(InputError, match=rf"20 certificates of \d+ bytes; the guest has room for {CA_BYTES_MOST}"):
        read_ca(bundle)


@needs_gcc
def test_layout_is_the_headers(tmp_path: Path) -> None:
    """Sizes and offsets as the compiler sees them."""
    assert GCC is not None
    checks = {
        "sizeof(struct cryplab_tls_parameters)": LAYOUT.size,
        "sizeof(struct cryplab_tls_end)": END.size,
        "sizeof(struct cryplab_phase)": PHASE.size,
        "offsetof(struct cryplab_phase, start)": 16,
    }
    source = tmp_path / "layout.c"
    source.write_text(
        f'#include <stddef.h>\n#include "{HEADER}"\n'
        + "".join(f'_Static_assert({what} == {size}, "{what}");\n' for what, size in checks.items())
        + "const struct cryplab_tls_parameters known = {.magic = CRYPLAB_TLS_MAGIC, .port = 4433, .suites = {0xC02B},\n"
        '.host = "10.0.2.2", .server_name = "localhost", .path = "/x", .expect = "Hello", .limit_ms = 20000,\n'
        ".print_bytes = 2048, .date = 1780272000, .mac = {2, 0, 0, 0, 0, 1}, .verify = TLS_VERIFY_REQUIRED,\n"
        '.ca_bytes = 4, .ca = "PEM"};\n'
    )
    made = tmp_path / "layout.o"
    subprocess.run([GCC, "-mcpu=cortex-m4", "-mthumb", "-c", str(source), "-o", str(made)], check=True)
    raw = tmp_path / "layout.bin"
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", "-j", ".rodata", str(made), str(raw)], check=True)
    wishes = Parameters(parse_target("localhost:4433/x"), SUITES[:1], b"PEM\0", DATE, expect="Hello")
    assert wishes.encode() == raw.read_bytes()
