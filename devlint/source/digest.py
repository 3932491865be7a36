"""What tells some bytes from any others."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # `hashlib` loads OpenSSL first, which takes longer than most lookups
except ImportError:
    from hashlib import blake2b

SIZE = 16
"""Bytes of a digest."""


def digest(data: bytes, size: int = SIZE) -> bytes:
    """Return a hash of some bytes."""
    return bytes(blake2b(data, digest_size=size).digest())


def keyed(key: bytes, *parts: bytes) -> bytes:
    """Return a hash that nobody can make who does not have the key."""
    found = blake2b(digest_size=SIZE, key=key)
    for part in parts:
        found.update(part)
    return bytes(found.digest())
