"""The TLS client on a virtual board, against a real server: `cryplab tls-client` in Python.

result = tls_client("localhost:4433/hello.txt", ca="ca.pem", suites=["AES-GCM"])
print(result.console, result.phase("handshake").milliseconds)
"""

from cryplab.tls.bench import TlsBench, tls_bench
from cryplab.tls.client import DEFAULT_BOARD, tls_client
from cryplab.tls.echo import EchoResult, tls_echo
from cryplab.tls.result import Phase, TlsResult
from cryplab.tls.suites import SUITES, Suite, choose

__all__ = [
    "DEFAULT_BOARD", "SUITES", "EchoResult", "Phase", "Suite", "TlsBench", "TlsResult", "choose", "tls_bench",
    "tls_client", "tls_echo",
]  # fmt: skip
