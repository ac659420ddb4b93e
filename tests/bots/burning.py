"""Burns the core by children that nobody waits for, and answers late.

burning.py LATE_S

Each child is in a session of its own, and so has its own share of the core. A process that uses
less than its share does not wait long for the core, so the bot gives the referee something to do: a
pipe full of blank lines.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import time

from tests.bots.base import Message, answer, line, say, serve

CHILDREN = 40
BLANK_LINES = 900_000
"""Fewer than the referee takes for a flood."""

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
with contextlib.suppress(PermissionError):  # Behind walls a pipe has the size that it has.
    fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)


def on_turn(turn: Message) -> None:
    late = time.monotonic() + float(sys.argv[1])
    for _ in range(CHILDREN):
        if os.fork() == 0:
            os.setsid()
            while time.monotonic() < late + 1.0:
                pass
            os._exit(0)
    say(b"\n" * BLANK_LINES)
    time.sleep(max(0.0, late - time.monotonic()))
    say(line(answer(turn)))


serve(on_turn)
