"""What was said in a finished game: every message to one seat, and what the seat answered.

A table is set up anew with the recorded chance and is given the recorded moves. What it asks is
made by the same code that asked the bot, so it is the same text, byte for byte, except for what a
record does not hold:

- the `id` of a turn. Ids rise on a link, over all of its games; here they rise from 1.
- `left_ms` under a bank, which is as near as the record tells. Times are recorded in whole
  microseconds, and what the warm-up excused of a process's first answer is not recorded at all: the
  bank of that game is then shown emptier than it was.
- who was asked last. A seat that was to move when a fault ended the game is taken to have been
  asked. It was not where a bot broke down after its last answer and before its next turn.

Several messages may have travelled in one write; a bot reads lines and cannot tell.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from referee.clock import NS_PER_MS, BankClock
from referee.protocol.messages import Error, Over, Start, Turn
from referee.record import Record
from referee.replaying import NEVER_PLAYED, Mismatch, replay
from referee.rules.chance import Recorded
from referee.rules.registry import BadVariant, blame_script, build_variant
from referee.rules.variant import Seat, Variant
from referee.table import Table
from referee.verdict import AT_START, Ending, Fault


class Asked(Struct, frozen=True, kw_only=True):
    """One turn of the seat, and what it answered."""

    place: int
    """The place in `moves` that the answer takes, counted from 1 as in a fault."""
    turn: Turn
    position: Any
    """What the turn shows a part of: other answers can be judged by it."""
    answer: int | str | None
    """None where the record holds none: at a fault, of this seat or of the other."""


class Dialogue(Struct, frozen=True, kw_only=True):
    """One seat's side of a game."""

    record: Record
    variant: Variant[Any, Any]
    seat: Seat
    start: Start | None
    """None where the game was over before it began: neither bot was told of it."""
    turns: list[Asked]
    end: list[Error | Over]
    """What the seat was told of the end. A bot that crashed was told nothing."""

    @property
    def fault(self) -> Fault | None:
        """The fault of this seat."""
        return fault_of(self.record, self.seat)

    def asked_at(self, place: int) -> Asked | None:
        """The turn whose answer takes this place in `moves`."""
        return next((asked for asked in self.turns if asked.place == place), None)

    def messages(self) -> list[Start | Turn | Error | Over]:
        """All that the seat was sent, in order."""
        if self.start is None:
            return []
        return [self.start, *(asked.turn for asked in self.turns), *self.end]


def fault_of(record: Record, seat: Seat) -> Fault | None:
    """The fault of a seat in a game, if it has one."""
    return next((fault for fault in record.faults() if fault.seat == seat), None)


def dialogue(record: Record, seat: Seat, script: str | None = None) -> Dialogue:
    """What one seat of a game was sent, and answered.

    `script` is where the variant is, if not under its own name. Raises Mismatch where the record
    breaks the rules, and BadVariant where its variant is unknown or fails.
    """
    if script is not None:
        name = build_variant(script, {}).name
        if name != record.variant:
            # Said first: the options of the one make no sense to the other.
            raise Mismatch("variant", f"the record is of {record.variant}, not of {name}")
    variant = replay(record, script).variant
    if len(record.spent_us) != len(record.moves):
        raise Mismatch("spent_us", f"there are {len(record.moves)} moves")
    start, turns, end = None, list[Asked](), list[Error | Over]()
    if _began(record):
        start = Start(
            record.game,
            record.variant,
            record.rules,
            record.options,
            seat,
            record.players,
            record.clock,
            record.bot_seeds[seat],
        )
        try:
            turns, last_events = _turns(record, seat, variant)
        except Exception as error:
            raise BadVariant(blame_script(error, type(variant))) from error
        end = _end(record, seat, turns, last_events)
    return Dialogue(record=record, variant=variant, seat=seat, start=start, turns=turns, end=end)


def _began(record: Record) -> bool:
    """Whether the bots were told of the game that the record is of."""
    unplayed = AT_START | {Ending.FORFEIT}
    return record.ending not in NEVER_PLAYED and not any(
        fault.code in unplayed for fault in record.faults()
    )


def _turns(
    record: Record, seat: Seat, variant: Variant[Any, Any]
) -> tuple[list[Asked], list[dict[str, Any]]]:
    """Every turn of the seat, and the events that came after the last of them."""
    table = Table(variant, Recorded(record.chance), BankClock(record.clock))
    turns: list[Asked] = []
    while due := table.due:
        at = len(table.moves)
        plays = record.moves[at : at + len(due)]
        if seat in due:
            turns.append(
                Asked(
                    place=table.turn_of(seat),
                    turn=_turn(record, seat, table, len(turns) + 1),
                    position=table.position,
                    answer=next((move for mover, move in plays if mover == seat), None),
                )
            )
        if not plays:
            break
        for (mover, move), spent_us in zip(
            plays, record.spent_us[at : at + len(plays)], strict=True
        ):
            table.answer(mover, move, spent_us * 1000)
    return turns, table.last_events(seat)


def _turn(record: Record, seat: Seat, table: Table, turn_id: int) -> Turn:
    left_ns = table.clock.left_ns(seat)
    view, events, legal = table.request(seat)
    left_ms = None if left_ns is None else left_ns // NS_PER_MS
    return Turn(record.game, turn_id, view, events, legal, left_ms)


def _end(
    record: Record, seat: Seat, turns: list[Asked], events: list[dict[str, Any]]
) -> list[Error | Over]:
    fault = fault_of(record, seat)
    result: Literal["win", "loss", "draw", "void"]
    if record.winner is not None:
        result = "win" if record.winner == seat else "loss"
    else:
        result = "draw" if record.ending is Ending.RULES else "void"
    over = Over(record.game, result, record.ending, record.at_fault, record.scores, events)
    if fault is None or fault.code is Ending.RESIGN:
        return [over]
    if fault.code is Ending.CRASH:
        return []
    if fault.code is Ending.ILLEGAL:
        turn_id = turns[-1].turn.id if turns else None
        return [Error(fault.code, fault.detail, record.game, turn_id), over]
    return [Error(fault.code, fault.detail)]
