"""Answers, and then goes on with blank lines, for ten minutes or until there is news."""

from __future__ import annotations

import select
import time

from tests.bots.base import Message, answer, line, say, serve


def on_turn(turn: Message) -> None:
    say(line(answer(turn)))
    enough = time.monotonic() + 600
    while time.monotonic() < enough and not select.select([0], [], [], 0.005)[0]:
        say(b"\n")


serve(on_turn)
