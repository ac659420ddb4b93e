"""Plays in the wrong way: `python -m tests.workshop.check.bots.playing NAME`."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

from tests.workshop.check.bots.base import Base, Message


class CountsItself(Base):
    """Answers the first turn with id 1, the second with id 2, …"""

    count = 0

    def answer(self, message: Message, move: Any) -> None:
        self.count += 1
        super().answer({"id": self.count}, move)


class LastId(Base):
    """Answers with the id of the turn before."""

    last = 0

    def answer(self, message: Message, move: Any) -> None:
        super().answer({"id": self.last or message["id"]}, move)
        self.last = message["id"]


class IllegalAs(Base):
    """Plays what it does not have, in one of the seats: `IllegalAs 1`."""

    def choose(self, message: Message) -> Any:
        if self.games[message["game"]]["seat"] == int(sys.argv[2]):
            return 9_999
        return super().choose(message)


class NoTarget(Base):
    """Has never heard of moves that are texts."""

    def choose(self, message: Message) -> Any:
        move = super().choose(message)
        return move if isinstance(move, int) else 7


class Together(Base):
    """Reads all that is there before it answers, as a base for those that mix it up."""

    def run(self) -> None:
        rest = b""
        while data := os.read(0, 1 << 20):
            *lines, rest = (rest + data).split(b"\n")
            messages = [self.read(line.decode()) for line in lines if line.strip()]
            turns = [message for message in messages if message["type"] == "turn"]
            for message in messages:
                if message["type"] == "bye":
                    return
                if message["type"] == "turn":
                    self.one_of(message, turns)
                else:
                    self.line(json.dumps(message))

    def one_of(self, message: Message, turns: list[Message]) -> None:
        self.turn(message)


class MixesUp(Together):
    """Has one position in mind, whatever game it is asked for."""

    def one_of(self, message: Message, turns: list[Message]) -> None:
        self.answer(message, self.choose(turns[-1]))


class LastOnly(Together):
    """Answers the last turn of what came together."""

    def one_of(self, message: Message, turns: list[Message]) -> None:
        if message is turns[-1]:
            self.turn(message)


class OneState(Base):
    """Believes in one game at a time, though it says that it takes four."""

    def start(self, message: Message) -> None:
        self.games = {message["game"]: message}

    def over(self, message: Message) -> None:
        self.games.pop(message["game"], None)


class ForgetsAll(Base):
    """Where a game comes to nothing, all its games do."""

    def over(self, message: Message) -> None:
        if message["result"] == "void":
            self.games.clear()
        self.games.pop(message["game"], None)


class FixedSize(Base):
    """Has room for sixty-four moves."""

    def turn(self, message: Message) -> None:
        if len(message["legal"]) > 64:
            sys.exit("too many moves")
        super().turn(message)


class Hangs(Base):
    """Takes for ever."""

    def turn(self, message: Message) -> None:
        time.sleep(600)


class Hesitates(Base):
    """Takes too long over the twelfth move of each process."""

    count = 0

    def turn(self, message: Message) -> None:
        self.count += 1
        if self.count == 12:
            time.sleep(float(sys.argv[2]))
        super().turn(message)


class Slow(Base):
    """Takes its time over every move."""

    games_at_once = 1

    def turn(self, message: Message) -> None:
        time.sleep(float(sys.argv[2]))
        super().turn(message)


class Resigns(Base):
    """Forgets to return a move, which its protocol takes for giving up."""

    def turn(self, message: Message) -> None:
        move = self.choose(message)
        if move is None:
            self.say({"type": "resign", "id": message["id"]})
        else:
            self.answer(message, move)

    def choose(self, message: Message) -> Any:
        super().choose(message)


class ResignsAs(Resigns):
    """Forgets it in one of the seats: `ResignsAs 1`; in the other it plays what it does not have,
    if it is asked to: `ResignsAs 1 illegal`."""

    def choose(self, message: Message) -> Any:
        if self.games[message["game"]]["seat"] == int(sys.argv[2]):
            return None
        return 9_999 if sys.argv[3:] else Base.choose(self, message)


class ResignsLater(Resigns):
    """Gives up at its third turn, which is no fault."""

    def start(self, message: Message) -> None:
        super().start(message)
        self.games[message["game"]]["turns"] = 0

    def choose(self, message: Message) -> Any:
        game = self.games[message["game"]]
        game["turns"] += 1
        return None if game["turns"] == 3 else Base.choose(self, message)


class ResignsAfter(Resigns):
    """Gives up every game after the second."""

    count = 0

    def start(self, message: Message) -> None:
        super().start(message)
        self.count += 1

    def choose(self, message: Message) -> Any:
        return None if self.count > 2 else Base.choose(self, message)


class OneGame(Base):
    """Has had enough after one game."""

    def over(self, message: Message) -> None:
        sys.exit(0)


class TenGames(Base):
    """Breaks down in the eleventh."""

    count = 0

    def start(self, message: Message) -> None:
        self.count += 1
        if self.count == 11:
            raise MemoryError
        super().start(message)


class Stumbles(Base):
    """Hangs in the middle of its eleventh game."""

    starts = turns = 0

    def start(self, message: Message) -> None:
        super().start(message)
        self.starts += 1
        self.turns = 0

    def turn(self, message: Message) -> None:
        self.turns += 1
        if (self.starts, self.turns) == (11, 2):
            time.sleep(600)
        super().turn(message)


class Stays(Base):
    """Does not know what bye means; the end of its input it does."""

    def bye(self) -> bool:
        return True


class Falls(Base):
    """Falls over its own feet on the way out."""

    def bye(self) -> bool:
        os.kill(os.getpid(), signal.SIGSEGV)
        return False


class Complains(Base):
    """Takes the end of its input for an error."""

    def lines(self) -> Iterator[str]:
        yield from super().lines()
        sys.exit(3)


class Waits(Base):
    """Waits for more where there is no more."""

    def lines(self) -> Iterator[str]:
        yield from super().lines()
        time.sleep(600)


if __name__ == "__main__":
    globals()[sys.argv[1]]().run()
