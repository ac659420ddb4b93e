"""Comes up in the wrong way: `python -m tests.workshop.check.bots.startup NAME`."""

from __future__ import annotations

import sys
import time

from tests.workshop.check.bots.base import Base, Message


class Exits(Base):
    """Ends before its hello."""

    def lines(self) -> None:  # type: ignore[override]
        sys.exit("no model file")


class Silent(Base):
    """Never says hello, and does not care for the end of its input."""

    def hello(self, _: Message) -> None:
        time.sleep(600)


class WrongProtocol(Base):
    def hello(self, _: Message) -> None:
        self.say({"type": "hello", "protocol": 2})


class Garbled(Base):
    """Says hello with a number where none can be."""

    def hello(self, _: Message) -> None:
        self.say({"type": "hello", "games_at_once": "many"})


class Quiet(Base):
    """Takes a second over its hello, as one that loads a model might."""

    def hello(self, message: Message) -> None:
        time.sleep(1)
        super().hello(message)


class Chatty(Base):
    """Says everything but hello."""

    def hello(self, _: Message) -> None:
        self.write("loading...\n")


class NoLineEnd(Base):
    """Begins to say something."""

    def hello(self, _: Message) -> None:
        self.write("loading...")


class Half(Base):
    """Begins to say hello."""

    def hello(self, _: Message) -> None:
        self.write('{"type": "hello",\n')


class Pongs(Base):
    """Takes the hello for a ping."""

    def hello(self, message: Message) -> None:
        self.ping(message)


class Boaster(Base):
    """Names a variant that is none."""

    def hello(self, _: Message) -> None:
        self.say({"type": "hello", "variants": ["difference", "diference"]})


class Useless(Base):
    """Names no variant at all."""

    def hello(self, _: Message) -> None:
        self.say({"type": "hello", "variants": []})


if __name__ == "__main__":
    globals()[sys.argv[1]]().run()
