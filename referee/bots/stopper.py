"""The referee's end of a stopper (keeping/stopper.py): it gives orders and waits for a stop."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket

from referee.bots.keeping.still import GO_ON, PATIENCE_S, STOP, stat

LOOK_MS = 50
LOOKS = int(2 * PATIENCE_S * 1000 / LOOK_MS)
"""Then a stopper that does not answer is given up."""


class Stopper:
    """Stops all processes of a bot, and lets them go on."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self.pid = 0

    def hand_over(self) -> int:
        """The descriptor for the keeper. Whoever passes it on closes it."""
        return self._theirs.detach()

    def stop(self) -> bool:
        """Whether all of them stand still then. Raises OSError where the stopper has ended."""
        self._ours.send(STOP)
        return self._await_stop()

    def let_go_on(self) -> None:
        """Raises OSError where the stopper has ended."""
        self._ours.send(GO_ON)

    def close(self) -> None:
        self._ours.close()

    def _await_stop(self) -> bool:
        """A bot that has stopped its stopper has harmed it: the keeper sees it end, and the bot
        loses by that."""
        poll = select.poll()
        poll.register(self._ours, select.POLLIN)
        # Counted in looks: a host that stands still for longer is no fault of the bot's.
        for _ in range(LOOKS):
            if poll.poll(LOOK_MS):
                return self._ours.recv(1) in (STOP, b"")
            if stat(str(self.pid))[:1] == [b"T"]:
                break
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        return True
