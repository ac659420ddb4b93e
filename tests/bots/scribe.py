"""Writes every line that it gets into a file, as it came, and plays by the luck of its seed.

scribe.py FILE [HOW [TURN]]        HOW: what it does wrong at its TURN-th turn of a game, the third
                                   if not given: illegal, resign, garbled, crash or timeout
"""

from __future__ import annotations

import os
import sys
import time

from tests.bots.base import Message, answer, greet, line, read, say

book = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
how = sys.argv[2] if len(sys.argv) > 2 else ""
fatal = int(sys.argv[3]) if len(sys.argv) > 3 else 3
seed = turns = 0


def on_turn(turn: Message) -> None:
    if how and turns == fatal:
        err(turn)
    else:
        choice = (seed + turn["view"].get("round", 0) + turns) % len(turn["legal"])
        say(line(answer(turn, move=turn["legal"][choice])))


def err(turn: Message) -> None:
    if how == "illegal":
        say(line(answer(turn, move=99)))
    elif how == "resign":
        say(line({"type": "resign", "id": turn["id"]}))
    elif how == "garbled":
        say(b"let me think\n")
    elif how == "crash":
        sys.exit(3)
    elif how == "timeout":
        time.sleep(600)


for text in sys.stdin.buffer:
    os.write(book, text)
    message = read(text)
    if message["type"] == "hello":
        greet()
    elif message["type"] == "start":
        seed, turns = message["bot_seed"], 0
    elif message["type"] == "turn":
        turns += 1
        on_turn(message)
    elif message["type"] == "bye":
        break
