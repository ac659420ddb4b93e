"""How much of an address is one owner's: limits count by that."""

from __future__ import annotations

import socket

_NETWORK_BYTES = 8
"""Of an IPv6 address: whoever has one has all that begin with the same 64 bits."""
_MAPPED = bytes(10) + b"\xff\xff"
"""With these bytes begins an IPv4 address that is written as one of IPv6."""


def network_of(address: str) -> str:
    """An IPv4 address itself, the network of an IPv6 address, and any other text as it is."""
    try:
        packed = socket.inet_pton(socket.AF_INET6, address.partition("%")[0])
    except (OSError, ValueError):
        return address
    if packed.startswith(_MAPPED):
        return socket.inet_ntop(socket.AF_INET, packed[len(_MAPPED) :])
    return socket.inet_ntop(socket.AF_INET6, packed[:_NETWORK_BYTES] + bytes(_NETWORK_BYTES))
