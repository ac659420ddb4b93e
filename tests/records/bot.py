"""Plays by a plan: one word for each of its turns in a game, the last word for all that follow.

first, last   the first or the last of the legal moves
note          the first of them, with a note
essay         the first of them, with a note of 60 KB
resign, exit, hang, flood
any other     the move itself, as JSON

Instead of a plan: mute, which never says hello, and stranger, which speaks another protocol.

The standard library alone: a bot knows nothing of the referee but protocol 1.
"""

from __future__ import annotations

import json
import sys
from typing import Any

plan = sys.argv[1:]
turns: dict[str, int] = {}


def say(**message: object) -> None:
    print(json.dumps(message, ensure_ascii=False), flush=True)


def answer(turn: dict[str, Any]) -> None:
    at = turns[turn["game"]] = turns.get(turn["game"], -1) + 1
    word = plan[min(at, len(plan) - 1)]
    if word == "first":
        say(id=turn["id"], move=turn["legal"][0])
    elif word == "last":
        say(id=turn["id"], move=turn["legal"][-1])
    elif word == "note":
        say(id=turn["id"], move=turn["legal"][0], note=f"of {len(turn['legal'])} the first")
    elif word == "essay":
        say(id=turn["id"], move=turn["legal"][0], note=20_000 * "€")
    elif word == "resign":
        say(id=turn["id"], type="resign")
    elif word == "exit":
        sys.exit(3)
    elif word == "hang":
        sys.stdin.read()
    elif word == "flood":
        while True:
            print("\n" * 10_000)
    else:
        say(id=turn["id"], move=json.loads(word))


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        if plan == ["mute"]:
            sys.stdin.read()
        say(type="hello", name="planned", protocol=2 if plan == ["stranger"] else 1)
    elif message["type"] == "turn":
        answer(message)
    elif message["type"] == "bye":
        break
