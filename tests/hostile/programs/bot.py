"""What the hostile programs in Python share: protocol 1 as far as they need it, and a way to tell
what they tried and what came of it.

A program says hello and does its evil in `on_turn`. The last word of every command line is a mark
that nobody reads: the test looks for it among the processes that are left.

The tests start many of them, so little is imported: `json` takes as long to load as all the rest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

WORDS = {"null": None, "true": True, "false": False}


class Turn:
    """What a turn says, as far as anybody here looks."""

    def __init__(self, game: str, number: int, legal: list[int]) -> None:
        self.game = game
        self.id = number
        self.legal = legal


def say(data: bytes, fd: int = 1) -> None:
    while data:
        data = data[os.write(fd, data) :]


def line(**fields: object) -> bytes:
    """Numbers, yes and no, and texts."""
    told = (f'"{name}":{_json(value)}' for name, value in fields.items())
    return f"{{{','.join(told)}}}\n".encode()


def _json(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return '"' + str(value).replace("\\", "/").replace('"', "'") + '"'


def greet(games_at_once: int = 1) -> None:
    say(line(type="hello", name="hostile", games_at_once=games_at_once))


def answer(turn: Turn, move: int | None = None) -> bytes:
    """The line with this move, or with the first legal one."""
    return line(id=turn.id, move=turn.legal[0] if move is None else move)


def tell(attempt: str, done: bool, count: int = 0, why: object = "") -> None:
    """One attempt, as a line of JSON on stderr: whether it was done, how much of it, why not."""
    say(line(attempt=attempt, done=done, count=count, why=why), fd=2)


def attempt(name: str, deed: Callable[[], object]) -> None:
    """An attempt that is done where it raises nothing and gives nothing false."""
    try:
        result = deed()
    except Exception as error:
        tell(name, False, why=f"{type(error).__name__}: {error}")
    else:
        tell(name, result is None or bool(result))


def serve(on_turn: Callable[[Turn], None]) -> None:
    """Talk until the referee says bye or hangs up."""
    for text in sys.stdin.buffer:
        # What the referee sends is JSON without surprises: Python, but for three words.
        message = eval(text, WORDS)
        if message["type"] == "hello":
            greet()
        elif message["type"] == "turn":
            on_turn(Turn(message["game"], message["id"], message["legal"]))
        elif message["type"] == "bye":
            return
