"""The protocol loop that the bots of the tests share, so that each of them shows only its fault.

The standard library alone: a bot knows nothing of the referee but protocol 1.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

Message = dict[str, Any]


def say(data: bytes, fd: int = 1) -> None:
    while data:
        data = data[os.write(fd, data) :]


def line(message: Message) -> bytes:
    return json.dumps(message).encode() + b"\n"


def answer(turn: Message, **more: object) -> Message:
    """The answer to a turn: the first legal move, unless `more` says otherwise."""
    return {"id": turn["id"], "move": turn["legal"][0], **more}


def greet(games_at_once: int = 1) -> None:
    say(line({"type": "hello", "name": "a bot of the tests", "games_at_once": games_at_once}))


def listen() -> Iterator[Message]:
    for text in sys.stdin.buffer:
        yield json.loads(text)


def serve(
    on_turn: Callable[[Message], None],
    on_over: Callable[[Message], None] = lambda _: None,
    games_at_once: int = 1,
) -> None:
    """Do what is right, except where the bot has its own idea."""
    for message in listen():
        if message["type"] == "hello":
            greet(games_at_once)
        elif message["type"] == "turn":
            on_turn(message)
        elif message["type"] == "over":
            on_over(message)
        elif message["type"] == "bye":
            return
