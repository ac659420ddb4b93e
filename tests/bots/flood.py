"""Says far too much when it is its turn.

newlines, line, garbage  without end to stdout: blank lines, one line, lines that say nothing
stderr                   a megabyte to stderr before each answer
stderr only              without end to stderr, and no answer
"""

from __future__ import annotations

import fcntl
import sys

from tests.bots.base import Message, answer, line, say, serve

ENDLESS = {
    "newlines": (b"\n" * 65_536, 1),
    "line": (b"x" * 65_536, 1),
    "garbage": (b"so much to say\n" * 65_536, 1),
    "stderr only": (b"so much to say\n" * 4_096, 2),
}
MEGABYTE = b"".join(b"%015d\n" % number for number in range(65_536))

how = sys.argv[1]
if how == "garbage" and hasattr(fcntl, "F_SETPIPE_SZ"):
    # A pipe as wide as can be had, so that a busy machine does not slow the flood down.
    fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)


def on_turn(turn: Message) -> None:
    if how == "stderr":
        say(MEGABYTE, 2)
        say(line(answer(turn)))
        return
    data, fd = ENDLESS[how]
    while True:
        say(data, fd)


serve(on_turn)
