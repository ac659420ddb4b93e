"""Plays by the book, and holds the referee to it: where the referee errs, it exits with 9.

honest.py [GAMES_AT_ONCE [SECONDS]]        SECONDS: what it takes over a move
"""

from __future__ import annotations

import sys
import time

from tests.bots.base import answer, greet, line, listen, say

games_at_once = int(sys.argv[1]) if len(sys.argv) > 1 else 1
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0

seeds: dict[str, int] = {}
last_id = 0
for message in listen():
    kind, game = message["type"], message.get("game", "")
    wrong = ""
    if kind == "hello":
        greet(games_at_once)
    elif kind == "start":
        if game in seeds or len(seeds) >= games_at_once:
            wrong = "a game too many"
        seeds[game] = message["bot_seed"]
    elif kind == "turn":
        if game not in seeds:
            wrong = "a turn of no open game"
        elif message["id"] <= last_id:
            wrong = "ids do not rise"
        else:
            last_id = message["id"]
            time.sleep(seconds)
            choice = (seeds[game] + last_id) % len(message["legal"])
            say(line(answer(message, move=message["legal"][choice])))
    elif kind == "over":
        if game not in seeds:
            wrong = "over without a game"
        else:
            del seeds[game]
    elif kind == "bye":
        if seeds:
            wrong = "bye in a game"
        else:
            break
    if wrong:
        print(wrong, message, file=sys.stderr)
        sys.exit(9)
