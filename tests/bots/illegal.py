"""Plays on, but in some of its games answers what loses that game.

illegal.py number|float|text|resign [GAMES_AT_ONCE [GAME …]]        no games named: in all
"""

from __future__ import annotations

import sys

from tests.bots.base import Message, answer, line, say, serve

how = sys.argv[1]
games_at_once = int(sys.argv[2]) if len(sys.argv) > 2 else 1
games = sys.argv[3:]
MOVES: Message = {"number": 99, "float": 5.0, "text": "5"}


def on_turn(turn: Message) -> None:
    if games and turn["game"] not in games:
        say(line(answer(turn)))
    elif how == "resign":
        say(line({"type": "resign", "id": turn["id"]}))
    else:
        say(line(answer(turn, move=MOVES[how])))


serve(on_turn, games_at_once=games_at_once)
