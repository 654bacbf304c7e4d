"""Certificates for servers of our own: made anew, or the same ones again for the same seed.

Each signs itself, so it is also the CA that a client is given.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa, utils
from cryptography.x509.oid import NameOID

__all__ = ["HOST", "Key", "certificate_of", "make_identity", "seeded_identity"]

Key = Literal["RSA", "ECDSA"]
Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
RSA_BITS, RSA_EXPONENT = 2048, 65537
VALID = timedelta(days=30)
HOST = "localhost"
P256_ORDER = 0xFFFF_FFFF_0000_0000_FFFF_FFFF_FFFF_FFFF_BCE6_FAAD_A717_9E84_F3B9_CAC2_FC63_2551
SEQUENCE, BIT_STRING = 0x30, 0x03
ECDSA_WITH_SHA256 = bytes.fromhex("300a06082a8648ce3d040302")


def make_identity(key: str, today: datetime) -> bytes:
    """PEM of a certificate for `localhost` and of its key, new each time.

    Args:
        key: "RSA" (2048 bits) or "ECDSA" (P-256).
        today: the certificate is good a month before and after.
    """
    own: Private = (
        rsa.generate_private_key(RSA_EXPONENT, RSA_BITS) if key == "RSA" else ec.generate_private_key(ec.SECP256R1())
    )
    certificate = _builder(own, today, x509.random_serial_number()).sign(own, hashes.SHA256())
    return certificate.public_bytes(serialization.Encoding.PEM) + _pem(own)


def seeded_identity(seed: int, today: datetime) -> bytes:
    """The same as `make_identity("ECDSA", today)`, but for the same arguments the same bytes.

    Anybody can make this key: it is for boards that talk to each other over a hub, where nothing leaves the process.
    """
    scalar = _number(b"key", seed)
    own = ec.derive_private_key(scalar, ec.SECP256R1())
    unsigned = _builder(own, today, 1 + seed % (1 << 64)).sign(own, hashes.SHA256()).tbs_certificate_bytes
    signature = _sign(scalar, unsigned, nonce=_number(b"nonce" + unsigned, seed))
    raw = _der(SEQUENCE, unsigned + ECDSA_WITH_SHA256 + _der(BIT_STRING, b"\0" + signature))
    return x509.load_der_x509_certificate(raw).public_bytes(serialization.Encoding.PEM) + _pem(own)


def certificate_of(identity: bytes) -> bytes:
    """PEM of the certificate alone, for the other side."""
    return x509.load_pem_x509_certificate(identity).public_bytes(serialization.Encoding.PEM)


def _builder(own: Private, today: datetime, serial: int) -> x509.CertificateBuilder:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    builder = x509.CertificateBuilder(name, name, own.public_key(), serial)
    builder = builder.not_valid_before(today - VALID).not_valid_after(today + VALID)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
    return builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)


def _pem(own: Private) -> bytes:
    return own.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _number(use: bytes, seed: int) -> int:
    """1 to the order of P-256 less 1."""
    digest = hashlib.sha512(b"cryplab" + use + str(seed).encode()).digest()
    return 1 + int.from_bytes(digest, "big") % (P256_ORDER - 1)


def _sign(scalar: int, message: bytes, nonce: int) -> bytes:
    """ECDSA with SHA-256 and a nonce that is given (FIPS 186-5, 6.4); the library draws one for each signature."""
    point = ec.derive_private_key(nonce, ec.SECP256R1()).public_key().public_numbers()
    r = point.x % P256_ORDER
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    return utils.encode_dss_signature(r, pow(nonce, -1, P256_ORDER) * (digest + r * scalar) % P256_ORDER)


def _der(tag: int, content: bytes) -> bytes:
    """A value in DER, shorter than 65536 bytes."""
    size = len(content)
    if size < 0x80:
        length = bytes([size])
    elif size < 0x100:
        length = bytes([0x81, size])
    else:
        length = b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + content
