"""What several files here need: certificates, a page, and `openssl s_server` for each kind of key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tls.servers import HELLO, Identity, make_identity, openssl_server


@pytest.fixture(scope="module")
def identities(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Identity]:
    made = tmp_path_factory.mktemp("certificates")
    return {key: make_identity(made / key, key) for key in ("RSA", "ECDSA")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("served")
    (made / "hello.txt").write_bytes(HELLO)
    return made


@pytest.fixture(scope="module")
def ports(identities: dict[str, Identity], folder: Path) -> Iterator[dict[str, int]]:
    with openssl_server(identities["RSA"], folder) as with_rsa, openssl_server(identities["ECDSA"], folder) as with_ec:
        yield {"RSA": with_rsa, "ECDSA": with_ec}
