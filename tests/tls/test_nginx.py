"""The TLS client against nginx, another server than that of the other tests: certificate chains, HTTP of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cryplab.tls import SUITES, Suite, TlsResult, tls_client
from firmware_builds import needs_gcc
from tls.servers import NOW, Identity, need_sources, needs_nginx, nginx_server

pytestmark = [pytest.mark.slow, needs_gcc, needs_nginx]
TRIED = ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-CCM", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-RSA-AES256-SHA")
"One of each kind of record; all 14 were run once, see docs/tls.md."
PAGE_BYTES = 40_000


@pytest.fixture(scope="module", autouse=True)
def _sources() -> None:
    need_sources("mbedtls", "lwip")


@pytest.fixture(scope="module")
def ports(
    identities: dict[str, Identity], folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, int]]:
    (folder / "page.txt").write_bytes(b"%-15d\n" % 1234 * (PAGE_BYTES // 16))
    with nginx_server(identities, folder, tmp_path_factory.mktemp("nginx")) as ports:
        yield ports


class Session:
    """Calls `tls_client` with what the tests have in common."""

    def __init__(self, ports: dict[str, int], identities: dict[str, Identity]) -> None:
        self.ports, self.identities = ports, identities

    def __call__(self, suite: Suite, path: str, **options: Any) -> TlsResult:
        ca = self.identities[suite.key].ca
        return tls_client(f"localhost:{self.ports[suite.key]}/{path}", ca=ca, date=NOW, suites=[suite.name], **options)


@pytest.fixture(scope="module")
def session(ports: dict[str, int], identities: dict[str, Identity]) -> Session:
    return Session(ports, identities)


def suite_of(name: str) -> Suite:
    return next(suite for suite in SUITES if suite.openssl == name)


@pytest.mark.parametrize("name", TRIED)
def test_suites(session: Session, name: str) -> None:
    result = session(suite_of(name), "hello.txt", expect="Hello world!")
    assert result.failure == "", result.console
    assert result.suite == suite_of(name).name
    assert "Certificate verification passed" in result.console
    assert "Server: nginx" in result.console
    assert result.console.rstrip().endswith("Hello world!")
    assert list(result.findings) == []


def test_a_page_of_several_records_and_one_that_is_not_there(session: Session) -> None:
    suite = suite_of(TRIED[0])
    result = session(suite, "page.txt", expect="1234", observe=False)
    assert result.failure == "", result.console
    assert result.ending.received > PAGE_BYTES
    missing = session(suite, "none.txt", observe=False)
    assert missing.failure == "failed at answer: HTTP status 404"
    assert missing.exit_code == 1
