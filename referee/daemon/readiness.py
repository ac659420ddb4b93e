"""Tell systemd how the daemon is: ready, alive, stopping. Nothing happens where nobody asked."""

from __future__ import annotations

import contextlib
import socket


class Readiness:
    """The socket that the service manager named in NOTIFY_SOCKET."""

    def __init__(self, address: str | None, watchdog_us: int = 0) -> None:
        """`watchdog_us`: how long it may take from one sign of life to the next, 0 for ever."""
        self._address = address
        self.every_s = watchdog_us / 1e6 / 3
        """How often to show a sign of life; 0 is never."""
        self._next = 0.0

    def ready(self, status: str) -> None:
        self._tell(f"READY=1\nSTATUS={status}")

    def stopping(self) -> None:
        self._tell("STOPPING=1")

    def alive(self, now: float) -> None:
        """Called as often as one likes."""
        if self.every_s and now >= self._next:
            self._next = now + self.every_s
            self._tell("WATCHDOG=1")

    def _tell(self, message: str) -> None:
        if not self._address:
            return
        # A name in the abstract namespace is written with @.
        address = "\0" + self._address[1:] if self._address[0] == "@" else self._address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as way:
            way.sendto(message.encode(), address)
