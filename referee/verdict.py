"""How a game can end, whose fault it was, and which fault counts where two apply.

One list of codes for the wire, the record, the tables, the logs and the exit status. A verdict is
data; the prose is written where it is shown.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Ending(StrEnum):
    """Every way a game can end."""

    RULES = "rules"
    CRASH = "crash"
    TIMEOUT = "timeout"
    FLOOD = "flood"
    GARBLED = "garbled"
    ILLEGAL = "illegal"
    RESIGN = "resign"
    NO_START = "no_start"
    NO_HELLO = "no_hello"
    WRONG_PROTOCOL = "wrong_protocol"
    FORFEIT = "forfeit"
    VOID = "void"
    HOST_STALL = "host_stall"
    REFEREE_ERROR = "referee_error"


PRECEDENCE = (
    Ending.CRASH,
    Ending.TIMEOUT,
    Ending.FLOOD,
    Ending.GARBLED,
    Ending.ILLEGAL,
    Ending.RESIGN,
    Ending.NO_START,
    Ending.NO_HELLO,
    Ending.WRONG_PROTOCOL,
)
"""The blame codes. Where two apply to one bot at one moment, the earlier one is the verdict."""

MEANINGS = {
    Ending.RULES: "the game was played to its end",
    Ending.CRASH: "the bot exited, or closed its standard input or output, in a game",
    Ending.TIMEOUT: "no answer within the limit and the grace, or one that came after them",
    Ending.FLOOD: "far more output than anybody asked for",
    Ending.GARBLED: "a line that is not a message of the protocol, or not due",
    Ending.ILLEGAL: "a move that the rules do not allow",
    Ending.RESIGN: "the bot gave the game up",
    Ending.NO_START: "the bot could not be started, or ended before its hello",
    Ending.NO_HELLO: "no valid hello within the start-up limit",
    Ending.WRONG_PROTOCOL: "the bot speaks another version of the protocol",
    Ending.FORFEIT: "the bot is out after three failed starts in a row; not rated",
    Ending.VOID: "both seats were at fault in the same round; not rated",
    Ending.HOST_STALL: "the referee itself stood still while a clock ran out; not rated",
    Ending.REFEREE_ERROR: "the referee or the variant's script failed; not rated",
}

ENDS_PROCESS = frozenset({Ending.CRASH, Ending.TIMEOUT, Ending.FLOOD, Ending.GARBLED})
"""Faults that name no game: they lose every open game of the bot, and it is started anew."""

AT_START = frozenset({Ending.NO_START, Ending.NO_HELLO, Ending.WRONG_PROTOCOL})

UNRATED = frozenset({Ending.FORFEIT, Ending.VOID, Ending.HOST_STALL, Ending.REFEREE_ERROR})

FIRST_FAULT_STATUS = 10
"""Exit status of the first code in PRECEDENCE where a command reports faults by its status."""


def _rank(code: Ending) -> int:
    """Place in PRECEDENCE; what is not a fault of its own, such as forfeit, comes last."""
    return PRECEDENCE.index(code) if code in PRECEDENCE else len(PRECEDENCE)


def exit_status(codes: list[Ending]) -> int:
    """The status for the gravest of these faults, 0 if there are none."""
    return min((FIRST_FAULT_STATUS + PRECEDENCE.index(code) for code in codes), default=0)


class Fault(Struct, frozen=True, kw_only=True):
    """What a bot did wrong, for the record and for its author."""

    seat: int
    turn: int
    """The place in `moves` that the fault left empty, counted from 1."""
    code: Ending
    detail: str
    received: str = ""
    """What came from the bot, cut and escaped."""
    spent_us: int | None = None
    limit_us: int | None = None


class BotFault(Exception):
    """Something a bot did wrong: it is scored against the bot, and against nobody else."""

    def __init__(self, code: Ending, detail: str, received: str = "") -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.received = received


class Verdict(Struct, frozen=True):
    """How one game ended."""

    ending: Ending
    reason: str
    winner: int | None
    at_fault: tuple[int, ...]
    scores: tuple[int, int]
    faults: tuple[Fault, ...] = ()
    """The faults of `at_fault`, the one that comes first in PRECEDENCE first."""


def blame(faults: tuple[Fault, ...], scores: tuple[int, int]) -> Verdict:
    """The verdict on one round in which these seats, one or both, were at fault."""
    if len(faults) == 2:
        graver_first = tuple(sorted(faults, key=lambda fault: (_rank(fault.code), fault.seat)))
        return Verdict(Ending.VOID, "both_at_fault", None, (0, 1), scores, graver_first)
    (fault,) = faults
    return Verdict(fault.code, fault.code, 1 - fault.seat, (fault.seat,), scores, faults)
