"""Reads in the wrong way: `python -m tests.workshop.check.bots.reading NAME`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

from tests.workshop.check.bots.base import Base, Message


class Prefix(Base):
    """Looks at how a line begins."""

    def read(self, line: str) -> Message:
        if not line.startswith('{"type":"'):
            sys.exit("what is this?")
        return super().read(line)


class Regex(Base):
    """Finds what it needs by patterns."""

    def read(self, line: str) -> Message:
        found = {"type": re.findall(r'"type":"(\w+)"', line)[0]}
        game = re.findall(r'"game":"([^"]*)"', line)
        if found["type"] == "turn":
            pattern = r'"id":(\d+),.*"legal":\[([^\]]*)\]'
            (turn_id, legal), *_ = re.findall(pattern, line)
            moves = [
                super(Regex, self).read(f'{{"move":{each}}}')["move"] for each in legal.split(",")
            ]
            return {**found, "game": game[0], "id": int(turn_id), "legal": moves}
        return {**found, "game": game[0] if game else "", "detail": ""}


class LastLegal(Base):
    """Finds the last list of moves in a line, and gives up where it is empty."""

    def read(self, line: str) -> Message:
        message = super().read(line)
        if message["type"] == "turn":
            last = re.findall(r'"legal":(\[[^\]]*\])', line)[-1]
            message["legal"] = super().read(f'{{"moves":{last}}}')["moves"]
        return message

    def turn(self, message: Message) -> None:
        if message["legal"]:
            super().turn(message)
        else:
            self.say({"type": "resign", "id": message["id"]})


class Strict(Base):
    """Knows which fields a turn has, once and for all."""

    def turn(self, message: Message) -> None:
        self.fields(**message)
        super().turn(message)

    def fields(
        self,
        *,
        type: str,
        game: str,
        id: int,
        view: Message,
        events: list[Message],
        legal: list[int | str],
        left_ms: int,
    ) -> None:
        pass


class StrictEvents(Base):
    """Knows what happens in a game."""

    def turn(self, message: Message) -> None:
        for event in message["events"]:
            event.get("by") or event["round"]
        super().turn(message)


class CarriageReturn(Base):
    """Takes off the end of a line, as it knows it."""

    def lines(self) -> Iterator[str]:
        for line in sys.stdin.buffer:
            if not line.endswith(b"}\n"):
                sys.exit("a line without an end")
            yield line.decode()


class CarriageReturnSilent(Base):
    """Takes a line that ends in another way for none."""

    def lines(self) -> Iterator[str]:
        return (line.decode() for line in sys.stdin.buffer if line.endswith(b"}\n"))


class Blocks(Base):
    """Takes what comes in one read for whole lines."""

    def lines(self) -> Iterator[str]:
        while data := os.read(0, 1 << 20):
            yield from data.decode().splitlines()


class UnknownType(Base):
    def unknown(self, message: Message) -> None:
        raise KeyError(message["type"])


class DiesOfError(Base):
    def error(self, message: Message) -> None:
        raise RuntimeError(message["detail"])


class DiesOfPing(Base):
    def ping(self, message: Message) -> None:
        raise NotImplementedError("ping")


class NoPong(Base):
    def ping(self, message: Message) -> None:
        pass


if __name__ == "__main__":
    globals()[sys.argv[1]]().run()
