"""Notes its process id with every answer, and plays a number that it does not have in game 2."""

from __future__ import annotations

import os

from tests.bots.base import Message, answer, line, say, serve


def on_turn(turn: Message) -> None:
    more = {"move": 99} if turn["game"] == "2" else {}
    say(line(answer(turn, note=str(os.getpid()), **more)))


serve(on_turn)
