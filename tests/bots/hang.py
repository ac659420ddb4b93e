"""Does not answer.

silent  says nothing
lines   says nothing in blank lines, for ten minutes
spaces  says nothing in blanks, for ten minutes
"""

from __future__ import annotations

import sys
import time

from tests.bots.base import Message, answer, line, say, serve

how = sys.argv[1]


def on_turn(turn: Message) -> None:
    if how == "silent":
        time.sleep(600)
    enough = time.monotonic() + 600
    while time.monotonic() < enough:
        say(b"\n" if how == "lines" else b" ")
        time.sleep(0.005)
    say(line(answer(turn)))


serve(on_turn)
