"""Answers, and then goes on with blank lines for three seconds."""

from __future__ import annotations

import time

from tests.bots.base import Message, answer, line, say, serve


def on_turn(turn: Message) -> None:
    say(line(answer(turn)))
    enough = time.monotonic() + 3
    while time.monotonic() < enough:
        say(b"\n")
        time.sleep(0.005)


serve(on_turn)
