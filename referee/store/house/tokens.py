"""Tokens: 32 hexadecimal digits, shown once and kept as their hash."""

from __future__ import annotations

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_hex(16)


def hash_of(token: str) -> str:
    """What is kept of a token. It has 128 random bits, so that no salt is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
