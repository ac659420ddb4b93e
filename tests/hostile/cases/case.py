"""What a case is, and what all of them have in common."""

from __future__ import annotations

from msgspec import Struct

from tests.hostile.pace import PACE

LEVELS = ("full", "standard", "none")
"""The strongest first."""
LIMITS = {"memory": "64M", "processes": "16", "disk": "8M"}
"""What the bots of these tournaments may use, unless a case says otherwise."""
MOVE_MS, GRACE_MS = 1_000 * PACE, 50 * PACE
BYE_MS = 1_000
"""What a bot has to leave after `bye`."""
LAST_WORDS_MS = 250
"""What the referee waits to hear how a bot ended that let go of its pipes."""
THINK_US = 40_000 * PACE
"""What honest bots use of the processor for a move where somebody may use it in their stead."""
CALM_MS = 5_000 * PACE
"""For a move in games that are to be played to their end, however busy the machine is."""


class Expected(Struct, frozen=True, kw_only=True):
    """What happens at one level."""

    outcome: str
    """In a few words, for people."""
    endings: tuple[str, ...] = ("rules",)
    """How the games of the hostile bot may end; all but `rules` are its fault."""
    detail: str = ""
    """Words that the detail of each of its faults has."""
    refused: tuple[str, ...] = ()
    """Attempts that were made, and failed each time."""
    done: tuple[str, ...] = ()
    """Attempts that succeeded: proof that the program tries, and that the test can tell."""
    at_most: dict[str, int] = {}
    """Of an attempt that is told with a number."""
    at_least: dict[str, int] = {}
    leaves_files: bool = False
    """Whether the files that it wrote stay, because nothing is promised about them."""


class Levels(Struct, frozen=True, kw_only=True):
    """What happens at each level."""

    full: Expected
    standard: Expected
    none: Expected


class Case(Struct, frozen=True, kw_only=True):
    """One hostile bot."""

    numbers: tuple[int, ...]
    name: str
    behaviour: str
    """What it does, in a few words, for people."""
    program: str
    words: tuple[str, ...] = ()
    """Of its command line; a {word} in braces is filled in by the scene of the test."""
    tame: tuple[str, ...] | None = None
    """The same at level none, where it must do less lest it does harm."""
    levels: Levels
    limits: dict[str, str] = {}
    processes: int | None = None
    """What its manifest asks for."""
    freeze: bool = False
    think_us: int = 0
    """What the honest bots use of the processor for a move."""
    games: int = 2
    at_once: int = 1
    """How many of them end by one fault."""
    options: dict[str, int | str] = {}
    move_ms: int = MOVE_MS
    lost_ms: int = 0
    """The most that it may cost of time in each game, or in as many as end at once."""
    leaving_ms: int = 0
    """And each time that it is told to leave."""
    flat: bool = False
    """Whether the referee's memory is looked at."""

    def at(self, level: str) -> Expected:
        return {
            "full": self.levels.full,
            "standard": self.levels.standard,
            "none": self.levels.none,
        }[level]


def everywhere(expected: Expected) -> Levels:
    """The referee's own strictness: the same at every level."""
    return Levels(full=expected, standard=expected, none=expected)


def confined(expected: Expected, none: Expected) -> Levels:
    return Levels(full=expected, standard=expected, none=none)
