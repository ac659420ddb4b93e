"""How many files, pipes and sockets a process may have open."""

from __future__ import annotations

import contextlib
import resource

MOST = 1 << 20
"""More are never asked for: some programs close every descriptor that they could have."""


def raise_descriptor_limit(wanted: int = MOST) -> None:
    """Allow this process so many, or as many as the system gives. It never gets
    fewer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
