"""What a variant is: one class of pure methods on positions.

An instance is a variant with its options settled, for example `Underdog(points=5)`. A position is
a value: `apply` gives a new one and leaves the old one alone. Luck comes from the `Chance` that is
handed in, never from elsewhere. The referee asks, in this order:

    position = variant.setup(chance)
    while seats := variant.actors(position):       # (0,), (1,), or BOTH at once
        … each of them gets view(position, seat) and answers with one of legal(position, seat) …
        after = variant.apply(position, plays, chance)      # plays: ((seat, move), …)
        … each seat is told events(position, plays, after, seat) …
        position = after
    variant.outcome(position), variant.scores(position)

The five bundled variants and the scripts of users come in through this same door; the conformance
kit (`referee check-variant`) plays any of them.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct

from referee.rules.chance import Chance
from referee.rules.options import BadOption, Option, Value, settle_options

Seat = int
"""0 or 1."""
BOTH = (0, 1)
"""The actors of a round that both play at once."""
Move = int | str
"""What a bot sends as its move: an integer or a short text, as the variant says."""
Names = Sequence[str]
"""The two players' names in seat order."""

P = TypeVar("P")
"""The type of a variant's positions."""
M = TypeVar("M", int, str)
"""The type of its moves: integers or short texts."""
Plays = tuple[tuple[Seat, M], ...]
"""Who played what, in seat order: one play, or two where both play at once."""


class UnreadableMove(Exception):
    """An answer that is no move in any position: of the wrong JSON type altogether."""


class IllegalMove(Exception):
    """A readable answer that the rules do not allow here."""


class Outcome(Struct, frozen=True):
    """How a game ended by its rules. `winner` is None in a draw."""

    winner: Seat | None
    reason: str


class Variant(ABC, Generic[P, M]):
    """Base of every variant: fill in the abstract methods, and the referee can run it."""

    name: ClassVar[str]
    """What people type after --variant: lower case letters, digits and hyphens."""
    rules: ClassVar[int] = 1
    """Version of the rules. Raise it whenever an old record would be judged otherwise."""
    summary: ClassVar[str]
    """The game in one line."""
    options: ClassVar[tuple[Option, ...]] = ()
    reasons: ClassVar[Mapping[str, str]]
    """Every `Outcome.reason` that the rules can give, with its meaning."""
    scores_mean: ClassVar[str] = "points"
    """What the two numbers of `scores` count."""
    hidden_chance: ClassVar[bool] = False
    """True where luck decides something that a seat does not know from the start: a hand, a pile.

    The two games of a pair have the same luck; no process then plays both of them."""
    move_type: ClassVar[type[int] | type[str]] = int
    """The JSON type of a move. A move of this type that is in `legal` is taken as it is."""
    move_help: ClassVar[str] = "an integer, for example 5"

    def __init__(self, **given: object) -> None:
        self.settings: dict[str, Value] = settle_options(self.name, self.options, given)
        self.settle()

    def settle(self) -> None:
        """Add the settings whose default depends on others, and refuse what makes no game.

        Raise `self.bad_option(name, what is allowed)` to refuse.
        """

    def bad_option(self, name: str, allowed: str) -> BadOption:
        return BadOption(f"option {name} of {self.name} must be {allowed}")

    def number(self, option: str) -> int:
        value = self.settings[option]
        assert isinstance(value, int)
        return value

    # The game.

    @abstractmethod
    def setup(self, chance: Chance) -> P:
        """The position before the first play."""

    @abstractmethod
    def actors(self, position: P) -> tuple[Seat, ...]:
        """The seats that play now, in seat order; empty once the game is over."""

    @abstractmethod
    def legal(self, position: P, seat: Seat) -> Sequence[M] | None:
        """Every legal move of a seat that acts, or None where they are too many to list.

        A variant that says None also overrides `read_move`.
        """

    @abstractmethod
    def apply(self, position: P, plays: Plays[M], chance: Chance) -> P:
        """The position after the actors have played, each with a legal move."""

    @abstractmethod
    def view(self, position: P, seat: Seat) -> dict[str, Any]:
        """All that this seat may know, from its own side, and enough for a bot without memory."""

    def events(self, before: P, plays: Plays[M], after: P, seat: Seat) -> list[dict[str, Any]]:
        """What these plays made known to this seat."""
        return []

    @abstractmethod
    def outcome(self, position: P) -> Outcome | None:
        """How the game ended, or None while it goes on."""

    @abstractmethod
    def scores(self, position: P) -> tuple[int, int]:
        """Two numbers in seat order; `scores_mean` says what they count."""

    @abstractmethod
    def longest(self) -> int:
        """The most plays that a game can take, both seats counted."""

    @cached_property
    def most_plays(self) -> int:
        """`longest()`, asked once. A game that goes on beyond it is called off."""
        return self.longest()

    def read_move(self, position: P, seat: Seat, raw: object) -> M:
        """The legal move in a bot's answer.

        Raise `UnreadableMove` where no position would have it, `IllegalMove` where this one does
        not, each with a sentence that tells the author what to send instead.
        """
        if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
            raise UnreadableMove(f"a move is {self.move_help}, not {_kind(raw)}")
        legal = self.legal(position, seat)
        assert legal is not None, f"{self.name} lists no legal moves, so it must override read_move"
        if type(raw) is self.move_type:
            for move in legal:
                if move == raw:
                    return move
            raise IllegalMove(f"{raw!r} is not legal here; legal are {_listed(legal)}")
        text = str(raw).strip().removesuffix(".0")
        meant = next((move for move in legal if str(move) == text), None)
        if meant is not None:
            raise IllegalMove(f"{raw!r} is not a move; send {_json(meant)}")
        raise IllegalMove(f"a move is {self.move_help}; legal are {_listed(legal)}")

    # Text for people. The defaults do for a first script.

    @classmethod
    def book(cls) -> str:
        """The rules for a reader: the docstring of the script, or else of the class."""
        module = sys.modules.get(cls.__module__)
        return (module.__doc__ if module and module.__doc__ else cls.__doc__ or "").strip()

    def opening(self, position: P, names: Names) -> list[str]:
        """What an onlooker reads before the first play."""
        return []

    def narrate(
        self,
        before: P,
        plays: Plays[M],
        after: P,
        names: Names,
        reader: Seat | None = None,
    ) -> list[str]:
        """What happened, in the words of the rule book.

        `reader` is the seat that reads it, which must learn no secret of the other; None is an
        onlooker after the game, who may know everything.
        """
        lines = [f"{names[seat]} plays {move}." for seat, move in plays]
        if reader is None:
            # Whether a seat may know the scores, only the script itself could say.
            first, second = self.scores(after)
            lines.append(f"Now {self.scores_mean}: {names[0]} {first}, {names[1]} {second}.")
        return lines

    def conclusion(self, position: P, names: Names) -> list[str]:
        """Final scores, who won and why, once the rules have ended the game."""
        outcome = self.outcome(position)
        if outcome is None:
            return []
        scores = self.scores(position)
        return [
            f"Final {self.scores_mean}: {names[0]} {scores[0]}, {names[1]} {scores[1]}.",
            "The game is a draw." if outcome.winner is None else f"{names[outcome.winner]} wins.",
        ]

    def prompt(self, position: P, seat: Seat, names: Names) -> list[str]:
        """What a person at this seat reads before typing; the last line is the prompt itself."""
        legal = self.legal(position, seat)
        choice = f" from {_listed(legal)}" if legal is not None else f" ({self.move_help})"
        view: dict[str, Any] = self.view(position, seat)
        known: list[str] = [f"{name}: {_plain(value)}" for name, value in view.items()]
        return [*known, f"{names[seat]}, choose your move{choice}: "]

    def question(self, position: P, seat: Seat, typed: str, names: Names) -> list[str] | None:
        """The answer to a command that asks and plays nothing (`hand`), or None if it is none.

        The answer to `help` is added to the referee's own: a line for each such command.
        """
        return None

    def typed_move(self, typed: str) -> object:
        """What a person typed, as a bot would have sent it: `5` and `play 5` are the move 5."""
        text = re.sub(r"^\s*play\b", "", typed, flags=re.IGNORECASE).strip()
        if self.move_type is int and re.fullmatch(r"-?\d{1,15}", text):
            return int(text)
        return text


def _plain(value: object) -> str:
    """A value of a view for a reader: no quotes, no braces."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(each)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_plain, value)) + "]"
    return "none" if value is None else str(value)


def _kind(raw: object) -> str:
    names = {bool: "true or false", type(None): "null", list: "a list", dict: "an object"}
    return names.get(type(raw), "that")


def _json(move: Move) -> str:
    return f'"{move}"' if isinstance(move, str) else str(move)


def _listed(moves: Sequence[Move]) -> str:
    shown = ", ".join(_json(move) for move in moves[:40])
    return f"[{shown}, …]" if len(moves) > 40 else f"[{shown}]"
