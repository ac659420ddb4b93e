"""A bot that does everything right, in parts that a broken one replaces.

    class Mine(Base):
        def turn(self, message): ...

    Mine().run()

It knows nothing of the referee but protocol 1. `python -m tests.workshop.check.bots.base [N]` is
the good bot itself; it takes N games at once, 4 if none is given.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]


class Base:
    """Plays its first legal move."""

    games_at_once = 4
    stateless = True

    def __init__(self) -> None:
        self.games: dict[str, Message] = {}
        """What is known of each game: its start."""

    def run(self) -> None:
        for line in self.lines():
            if self.line(line) is False:
                break

    def lines(self) -> Iterator[str]:
        yield from sys.stdin

    def line(self, line: str) -> bool | None:
        """Read one line; False at the end of it all."""
        if not line.strip():
            return None
        message = self.read(line)
        kind = message["type"]
        if kind == "bye":
            return self.bye()
        if kind in ("hello", "start", "turn", "over", "error", "ping"):
            getattr(self, kind)(message)
        else:
            self.unknown(message)
        return None

    def read(self, line: str) -> Message:
        message: Message = json.loads(line)
        return message

    def say(self, message: Message) -> None:
        self.write(json.dumps(message) + "\n")

    def write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(1, data) :]

    def hello(self, _: Message) -> None:
        offer = {"games_at_once": self.games_at_once, "stateless": self.stateless}
        self.say({"type": "hello", "name": "base", **offer})

    def start(self, message: Message) -> None:
        self.games[message["game"]] = message

    def turn(self, message: Message) -> None:
        self.answer(message, self.choose(message))

    def choose(self, message: Message) -> Any:
        assert message["game"] in self.games, "a turn of a game that never started"
        return message["legal"][0]

    def answer(self, message: Message, move: Any) -> None:
        self.say({"id": message["id"], "move": move})

    def over(self, message: Message) -> None:
        del self.games[message["game"]]

    def error(self, message: Message) -> None:
        print(message["detail"], file=sys.stderr)

    def ping(self, _: Message) -> None:
        self.say({"type": "pong"})

    def bye(self) -> bool:
        return False

    def unknown(self, message: Message) -> None:
        pass


if __name__ == "__main__":
    bot = Base()
    bot.games_at_once = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    bot.run()
