"""Plays its lowest number.

lowest.py GAMES_AT_ONCE
"""

from __future__ import annotations

import sys

from tests.bots.base import Message, answer, line, say, serve


def on_turn(turn: Message) -> None:
    say(line(answer(turn)))


serve(on_turn, games_at_once=int(sys.argv[1]))
