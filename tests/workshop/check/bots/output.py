"""Writes in the wrong way: `python -m tests.workshop.check.bots.output NAME`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from tests.workshop.check.bots.base import Base, Message


class Unflushed(Base):
    """Prints, and leaves the rest to the runtime."""

    def write(self, text: str) -> None:
        sys.stdout.write(text)


class UnflushedHello(Base):
    """Introduces itself properly and then forgets about it."""

    def hello(self, message: Message) -> None:
        self.write("MyBot 2.0\n")
        sys.stdout.write('{"type": "hello", "name": "late"}\n')


class UnflushedMoves(Base):
    """Says hello properly and then forgets about it."""

    def answer(self, message: Message, move: object) -> None:
        sys.stdout.write(json.dumps({"id": message["id"], "move": move}) + "\n")


class UnflushedPong(Base):
    def ping(self, _: Message) -> None:
        sys.stdout.write('{"type": "pong"}\n')


class ReadsAll(Base):
    """Wants to have read everything before it says anything."""

    def lines(self) -> Iterator[str]:
        yield from sys.stdin.readlines()


class Debug(Base):
    """Tells the world what it thinks."""

    def turn(self, message: Message) -> None:
        self.write(f"thinking about {message['game']}...\n")
        super().turn(message)


class Banner(Base):
    """Introduces itself before its hello."""

    def hello(self, message: Message) -> None:
        self.write("MyBot 2.0, all rights reserved\n")
        super().hello(message)


class BannerNoEnd(Base):
    """Introduces itself on the line of its hello."""

    def hello(self, message: Message) -> None:
        self.write("MyBot 2.0: ")
        super().hello(message)


class Pretty(Base):
    """Writes JSON for the eye."""

    def say(self, message: Message) -> None:
        self.write(json.dumps(message, indent=2) + "\n")


class NoLineEnd(Base):
    """Writes no end of a line, ever."""

    games_at_once = 1

    def say(self, message: Message) -> None:
        self.write(json.dumps(message))


class PythonDict(Base):
    """Prints what Python calls a dict."""

    def answer(self, message: Message, move: object) -> None:
        self.write(f"{ {'id': message['id'], 'move': move} }\n")


class Flood(Base):
    """Has no end of it."""

    def turn(self, message: Message) -> None:
        while True:
            self.write("so much to say\n" * 4_096)


class Trace(Base):
    """Dies with a long trace that begins with what matters."""

    def turn(self, message: Message) -> None:
        sys.stderr.write("TypeError: no \x1b[1mlegal\x1b[0m\n")
        sys.stderr.writelines(f"\tat frame {number}\n" for number in range(1, 41))
        sys.stderr.write("x" * 400 + "\n")
        sys.exit(1)


class Twice(Base):
    """Says everything twice, which is no fault."""

    def answer(self, message: Message, move: object) -> None:
        super().answer(message, move)
        super().answer(message, move)


if __name__ == "__main__":
    globals()[sys.argv[1]]().run()
