"""Depends on more than the game at hand, or not: `python -m tests.workshop.check.bots.memory NAME`.

All of them say that they are stateless.
"""

from __future__ import annotations

import random
import sys
import time
import zlib
from typing import Any

from tests.workshop.check.bots.base import Base, Message


class Drawing(Base):
    """Draws its moves from one generator for each game, made from bot_seed."""

    def __init__(self) -> None:
        super().__init__()
        self.luck: dict[str, random.Random] = {}

    def start(self, message: Message) -> None:
        super().start(message)
        self.luck[message["game"]] = random.Random(message["bot_seed"])

    def choose(self, message: Message) -> Any:
        return self.luck[message["game"]].choice(message["legal"])


class OneGenerator(Base):
    """Draws from one generator for all games; it begins in the same way in every process."""

    luck = random.Random(1)

    def choose(self, message: Message) -> Any:
        return self.luck.choice(message["legal"])


class Reseeded(OneGenerator):
    """Draws from one generator for all games, and each start gives it the seed of its game."""

    games_at_once = 64

    def start(self, message: Message) -> None:
        super().start(message)
        self.luck.seed(message["bot_seed"])


class OneAtATime(Reseeded):
    """The same, but no game begins before the one before is over."""

    games_at_once = 1


class ReseededUnclearly(Reseeded):
    """The same, but its luck is another one as soon as a second game goes on."""

    def choose(self, message: Message) -> Any:
        return (self.luck if len(self.games) == 1 else random).choice(message["legal"])


class System(OneGenerator):
    """Draws from the system's generator, which is never the same."""

    luck = random.SystemRandom()


class Clock(Base):
    """Plays as the clock says."""

    def choose(self, message: Message) -> Any:
        legal = message["legal"]
        return legal[time.monotonic_ns() // 1000 % len(legal)]


class EveryWord(Base):
    """Plays by all that it was told in this game, to the last letter."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, int] = {}

    def line(self, line: str) -> bool | None:
        message = self.read(line) if line.strip() else {}
        if "game" in message:
            before = 0 if message["type"] == "start" else self.told.get(message["game"], 0)
            self.told[message["game"]] = zlib.crc32(line.encode(), before)
        return super().line(line)

    def choose(self, message: Message) -> Any:
        return message["legal"][self.told[message["game"]] % len(message["legal"])]


class Learner(Base):
    """Tries its last legal moves against an opponent to whom it lost with the first ones."""

    def __init__(self) -> None:
        super().__init__()
        self.lost_to: set[str] = set()

    def opponent(self, message: Message) -> str:
        start = self.games[message["game"]]
        name: str = start["players"][1 - start["seat"]]
        return name

    def over(self, message: Message) -> None:
        if message["result"] == "loss":
            self.lost_to.add(self.opponent(message))
        super().over(message)

    def choose(self, message: Message) -> Any:
        return message["legal"][-1 if self.opponent(message) in self.lost_to else 0]


class Tired(Base):
    """Gives up at its second turn, once it has played ten games."""

    finished = 0
    turns = 0

    def start(self, message: Message) -> None:
        super().start(message)
        self.turns = 0

    def turn(self, message: Message) -> None:
        self.turns += 1
        if self.finished >= 10 and self.turns == 2:
            self.say({"type": "resign", "id": message["id"]})
        else:
            super().turn(message)

    def over(self, message: Message) -> None:
        self.finished += 1
        super().over(message)


class Alternating(Base):
    """Counts its games: it plays first moves in one and last moves in the next."""

    finished = 0

    def over(self, message: Message) -> None:
        self.finished += 1
        super().over(message)

    def choose(self, message: Message) -> Any:
        return message["legal"][-(self.finished % 2)]


class LastGame(Base):
    """Remembers one thing of its last game and nothing of those before: its result."""

    last: Any = None

    def remembered(self, message: Message) -> Any:
        """What it keeps of a game that is over."""
        return message["result"]

    def over(self, message: Message) -> None:
        self.last = self.remembered(message)
        super().over(message)

    def choose(self, message: Message) -> Any:
        return message["legal"][-1 if self.last == "loss" else 0]


class LastOpponent(LastGame):
    """Remembers the name of its last opponent: a rematch is played in another way."""

    def remembered(self, message: Message) -> Any:
        return self.games[message["game"]]["players"]

    def choose(self, message: Message) -> Any:
        players = self.games[message["game"]]["players"]
        return message["legal"][-1 if set(players) == set(self.last or ()) else 0]


class LastSeat(LastGame):
    """Remembers from which seat it played last."""

    def remembered(self, message: Message) -> Any:
        return self.games[message["game"]]["seat"]

    def choose(self, message: Message) -> Any:
        return message["legal"][-1 if self.games[message["game"]]["seat"] == self.last else 0]


class LastMove(Base):
    """Begins with the answer to the last move of its opponent, though that was in another game."""

    answered = 0

    def heard(self, message: Message) -> None:
        for event in message["events"]:
            self.answered = event.get("theirs") or self.answered

    def over(self, message: Message) -> None:
        self.heard(message)
        super().over(message)

    def choose(self, message: Message) -> Any:
        self.heard(message)
        return message["legal"][self.answered % len(message["legal"])]


class Sulking(LastGame):
    """Remembers its last game, if it lost it, and only until it meets someone else."""

    def remembered(self, message: Message) -> Any:
        return self.games[message["game"]]["players"] if message["result"] == "loss" else None

    def choose(self, message: Message) -> Any:
        players = self.games[message["game"]]["players"]
        return message["legal"][-1 if self.last == players else 0]


class Acquainted(Base):
    """Remembers the names of its opponents: it is bold with those whom it does not know."""

    def __init__(self) -> None:
        super().__init__()
        self.known: set[str] = set()

    def over(self, message: Message) -> None:
        self.known.update(self.games[message["game"]]["players"])
        super().over(message)

    def choose(self, message: Message) -> Any:
        known = self.known.issuperset(self.games[message["game"]]["players"])
        return message["legal"][0 if known else -1]


if __name__ == "__main__":
    globals()[sys.argv[1]]().run()
