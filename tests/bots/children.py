"""Leaves children behind that do not want to go: they ignore signals and hold the bot's pipes.

child   two forked children
daemon  a daemon: forked twice, in a session of its own

A second word `crash`: exits with 8 on its turn, and leaves them.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from tests.bots.base import Message, answer, line, say, serve


def linger() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(600)
    os._exit(0)


def on_turn(turn: Message) -> None:
    if "crash" in sys.argv:
        os._exit(8)
    say(line(answer(turn)))


if sys.argv[1] == "daemon":
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            linger()
        os._exit(0)
    os.waitpid(child, 0)
else:
    for _ in range(2):
        if os.fork() == 0:
            linger()
serve(on_turn)
