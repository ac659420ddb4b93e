"""The protocol loop that the bots of the tests share, so that each of them shows only its fault.

A bot knows nothing of the referee but protocol 1. The tests start hundreds of them, so nothing is
imported that can be done without: no `json`, which would double the time that a bot takes to start.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Message = dict[str, Any]
else:
    Message = dict

JSON = {"null": None, "true": True, "false": False}


def say(data: bytes, fd: int = 1) -> None:
    while data:
        data = data[os.write(fd, data) :]


def line(message: Message) -> bytes:
    """Texts without quotes or backslashes, and numbers."""
    fields = (f'"{name}": {_json(value)}' for name, value in message.items())
    return f"{{{', '.join(fields)}}}\n".encode()


def _json(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def answer(turn: Message, **more: object) -> Message:
    """The answer to a turn: the first legal move, unless `more` says otherwise."""
    return {"id": turn["id"], "move": turn["legal"][0], **more}


def greet(games_at_once: int = 1) -> None:
    say(line({"type": "hello", "name": "a bot of the tests", "games_at_once": games_at_once}))


def read(text: bytes) -> Message:
    """What the referee sends is JSON without surprises: Python, but for three words."""
    message: Message = eval(text, JSON)
    return message


def listen() -> Iterator[Message]:
    for text in sys.stdin.buffer:
        yield read(text)


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
