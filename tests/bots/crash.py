"""Ends when it should not.

status    exits with 3 on its turn
signal    dies of SIGSEGV on its turn
answered  answers and exits with 5 at once
idle      answers and exits with 4 soon after, while the other thinks
between   exits with 0 when a game is over
half      exits with 6 in the middle of a line
some      leaves one of several open turns without an answer and exits with 7
"""

from __future__ import annotations

import os
import signal
import sys
import time

from tests.bots.base import Message, answer, line, say, serve

how = sys.argv[1]
games_at_once = int(sys.argv[2]) if len(sys.argv) > 2 else 1
answered = 0


def on_turn(turn: Message) -> None:
    global answered
    if how == "status":
        sys.exit(3)
    if how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "half":
        say(b'{"id":1,"mo')
        sys.exit(6)
    if how == "some" and answered == games_at_once - 1:
        sys.exit(7)
    say(line(answer(turn)))
    answered += 1
    if how == "answered":
        sys.exit(5)
    if how == "idle":
        time.sleep(0.05)
        sys.exit(4)


def on_over(_: Message) -> None:
    if how == "between":
        sys.exit(0)


serve(on_turn, on_over, games_at_once)
