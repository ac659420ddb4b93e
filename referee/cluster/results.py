"""What a worker of the cluster sends back for an order, and whether it is an answer to that order.

The coordinator writes what comes into the store. A worker that is broken, of another mind or taken
over by somebody may send anything: games that it was not given, games twice, no games at all.
Such a result is refused as a whole, and the order is given to another worker. Whether the games
were played as their records say, nobody but the worker knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import MsgspecError, Struct

from referee.bots.confinement.levels import Level
from referee.store.buckets import bucket_of
from referee.store.rows import FaultRow, GameRow, TimesRow
from referee.tournament.chunk import Batch, Call, Called, Chunk, Done, Failed, Order, Report
from referee.tournament.chunk import read_report as read

MOST_LOGS = 16
"""Of one order: two bots have one each."""
MOST_BUCKET = bucket_of(1 << 62)
MOST_MOVES = 1 << 32
"""Of a bot in one batch, with times of the same bucket: more than anybody can play."""


class BadResult(Exception):
    """A result that does not answer its order; the message says how."""


class Result(Struct, frozen=True):
    """What came of an order."""

    reports: list[Report]
    logs: dict[str, bytes]
    level: Level
    at_hand: frozenset[int]
    """Bots whose processes are kept at the station."""


def result_of(order: Order, sent: Any) -> Result:
    """Raises BadResult."""
    try:
        reports = [read(bytes(body)) for body in sent["reports"]]
        logs = {str(name): bytes(text) for name, text in sent["logs"].items()}
        at_hand = frozenset(map(int, sent["at_hand"]))
        result = Result(reports, logs, Level(sent["level"]), at_hand)
    except (LookupError, TypeError, ValueError, AttributeError, MsgspecError) as error:
        raise BadResult(f"its answer cannot be read ({error})") from None
    if len(logs) > MOST_LOGS:
        raise BadResult(f"it sent {len(logs)} logs")
    if any(isinstance(report, Failed) for report in reports):
        return result
    if isinstance(order, Call):
        _must_answer_call(order, reports)
    else:
        _must_answer_chunk(order, reports)
    return result


def _must_answer_call(call: Call, reports: Sequence[Report]) -> None:
    match reports:
        case [Called(id=number)] if number == call.contestant.id:
            return
    raise BadResult("it did not say whether the bot came up")


def _must_answer_chunk(chunk: Chunk, reports: Sequence[Report]) -> None:
    if not reports or not isinstance(reports[-1], Done):
        raise BadResult("it did not say that the games are done")
    left = set(chunk.each_number())
    for report in reports:
        if isinstance(report, Called) or (
            isinstance(report, Batch | Done) and report.chunk != chunk.id
        ):
            raise BadResult("it answered another order")
        if isinstance(report, Batch):
            for game in report.games:
                _must_be_given(chunk, game, left)
            numbers = {game.number for game in report.games}
            if not numbers or not all(_is_of(chunk, each, numbers) for each in report.faults):
                raise BadResult("it sent faults of other games")
            if not all(_can_be(chunk, each) for each in report.times):
                raise BadResult("it sent times that no moves of these games can have taken")


def _must_be_given(chunk: Chunk, game: GameRow, left: set[int]) -> None:
    if game.pairing != chunk.pairing or game.number not in left:
        raise BadResult(f"it sent the game {game.pairing}-{game.number}, which it was not given")
    left.remove(game.number)
    seats = {game.first, game.second}
    if seats != {chunk.first.id, chunk.second.id} or game.points not in (None, 0, 1, 2):
        raise BadResult(f"it sent the game {game.pairing}-{game.number} of other bots or points")


def _can_be(chunk: Chunk, times: TimesRow) -> bool:
    return (
        times.pairing == chunk.pairing
        and times.bot in (chunk.first.id, chunk.second.id)
        and all(0 <= bucket <= MOST_BUCKET for bucket in times.moves)
        and all(0 < moves <= MOST_MOVES for moves in times.moves.values())
    )


def _is_of(chunk: Chunk, fault: FaultRow, numbers: set[int]) -> bool:
    return (
        fault.pairing == chunk.pairing
        and fault.number in numbers
        and fault.seat in (0, 1)
        and fault.bot in (chunk.first.id, chunk.second.id)
    )
