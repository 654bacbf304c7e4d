"""Certificates for servers of our own: made anew, or the same ones again for the same seed.

Each signs itself, so it is also the CA that a client is given.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

__all__ = ["HOST", "Key", "certificate_of", "make_identity", "seeded_identity"]

Key = Literal["RSA", "ECDSA"]
Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
RSA_BITS, RSA_EXPONENT = 2048, 65537
VALID = timedelta(days=30)
HOST = "localhost"
P256_ORDER = 0xFFFF_FFFF_0000_0000_FFFF_FFFF_FFFF_FFFF_BCE6_FAAD_A717_9E84_F3B9_CAC2_FC63_2551


def make_identity(key: str, today: datetime) -> bytes:
    """PEM of a certificate for `localhost` and of its key, new each time.

    Args:
        key: "RSA" (2048 bits) or "ECDSA" (P-256).
        today: the certificate is good a month before and after.
    """
    own: Private = (
        rsa.generate_private_key(RSA_EXPONENT, RSA_BITS) if key == "RSA" else ec.generate_private_key(ec.SECP256R1())
    )
    return _signed(own, today, x509.random_serial_number()) + _pem(own)


def seeded_identity(seed: int, today: datetime) -> bytes:
    """The same as `make_identity("ECDSA", today)`, but for the same arguments the same bytes.

    Anybody can make this key: it is for boards that talk to each other over a hub, where nothing leaves the process.
    """
    digest = hashlib.sha512(f"cryplabkey{seed}".encode()).digest()
    own = ec.derive_private_key(1 + int.from_bytes(digest, "big") % (P256_ORDER - 1), ec.SECP256R1())
    return _signed(own, today, 1 + seed % (1 << 64), deterministic=True) + _pem(own)


def certificate_of(identity: bytes) -> bytes:
    """PEM of the certificate alone, for the other side."""
    return x509.load_pem_x509_certificate(identity).public_bytes(serialization.Encoding.PEM)


def _signed(own: Private, today: datetime, serial: int, *, deterministic: bool | None = None) -> bytes:
    """PEM of the certificate; `deterministic`: ECDSA with the nonce of RFC 6979 instead of a random one."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    builder = x509.CertificateBuilder(name, name, own.public_key(), serial)
    builder = builder.not_valid_before(today - VALID).not_valid_after(today + VALID)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    certificate = builder.sign(own, hashes.SHA256(), ecdsa_deterministic=deterministic)
    return certificate.public_bytes(serialization.Encoding.PEM)


def _pem(own: Private) -> bytes:
    return own.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
