"""One game in progress: rules and clocks in, a verdict out. No I/O, no time of its own.

Whoever runs the game asks `due` which seats owe an answer, hands `request(seat)` to them, and
brings back `answer` or `fail`. When each seat of a round has answered or failed, the round is
judged, so the order in which two answers arrive changes no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from referee.clock import BankClock
from referee.protocol.messages import NOTES_LIMIT, cut
from referee.rules.chance import Chance
from referee.rules.variant import IllegalMove, Seat, UnreadableMove, Variant
from referee.verdict import BotFault, Ending, Fault, Verdict, blame

Request = tuple[dict[str, Any], list[dict[str, Any]], Sequence[int | str] | None]
"""View, events and legal moves: what a seat is sent on its turn."""


UNKNOWN = -1
"""Instead of a CPU time, where nobody measures it."""


class Table:
    """A variant being played."""

    __slots__ = (
        "_answers",
        "_banked",
        "_cpu_us",
        "_events",
        "_failed",
        "_faults",
        "_legal",
        "_move_type",
        "_notes",
        "_notes_left",
        "_owing",
        "_spent_us",
        "chance",
        "clock",
        "cpu_us",
        "due",
        "moves",
        "notes",
        "position",
        "spent_us",
        "variant",
        "verdict",
    )

    def __init__(self, variant: Variant[Any, Any], chance: Chance, clock: BankClock) -> None:
        self.variant = variant
        self.chance = chance
        self.clock = clock
        self._banked = clock.banked
        self._move_type = variant.move_type
        self.moves: list[tuple[Seat, int | str]] = []
        self.spent_us: list[int] = []
        self.cpu_us: list[int] = []
        """As long as `moves` where somebody measures it, else empty."""
        self.notes: dict[str, str] = {}
        self.verdict: Verdict | None = None
        self.position = variant.setup(chance)
        self._events: list[list[dict[str, Any]]] = [[], []]
        self._faults: list[Fault | None] = [None, None]
        self._answers: list[Any] = [None, None]
        self._spent_us = [0, 0]
        self._cpu_us = [UNKNOWN, UNKNOWN]
        self._failed = False
        """Whether a seat is at fault in this round."""
        self._notes: dict[Seat, str] = {}
        self._notes_left = [NOTES_LIMIT, NOTES_LIMIT]
        """Bytes of notes that each seat may still add to the record."""
        self._legal: list[Sequence[int | str] | None] = [None, None]
        self.due: tuple[Seat, ...] = variant.actors(self.position)
        """The seats that act in this round, in seat order; empty once there is a verdict."""
        self._owing = len(self.due)
        if not self.due:
            self._end_by_rules()

    def owes(self, seat: Seat) -> bool:
        """Whether this round still waits for an answer of this seat."""
        return seat in self.due and self._answers[seat] is None and self._faults[seat] is None

    def request(self, seat: Seat) -> Request:
        """What this seat is sent now. The events are handed out once."""
        variant, position = self.variant, self.position
        self._legal[seat] = legal = variant.legal(position, seat)
        events = self._events[seat]
        self._events[seat] = []
        return variant.view(position, seat), events, legal

    def last_events(self, seat: Seat) -> list[dict[str, Any]]:
        """What became known to this seat since its last turn, for its `over`."""
        return self._events[seat]

    def answer(
        self,
        seat: Seat,
        raw: object,
        spent_ns: int,
        note: str | None = None,
        cpu_us: int | None = None,
    ) -> bool:
        """Take a seat's answer; True when this ends the round: look at `verdict` and `due`.

        Raises BotFault, illegal or garbled, and leaves the table as it was.
        """
        legal = self._legal[seat]
        if legal is None or type(raw) is not self._move_type or raw not in legal:
            raw = self._read(seat, raw)
        if self._banked:
            self.clock.charge(seat, spent_ns)
        self._answers[seat] = raw
        self._spent_us[seat] = spent_ns // 1000
        if cpu_us is not None:
            self._cpu_us[seat] = cpu_us
        if note is not None:
            self._notes[seat] = note
        self._owing = owing = self._owing - 1
        if owing:
            return False
        if self._failed:
            self._judge()
        else:
            self._apply()
        return True

    def _read(self, seat: Seat, raw: object) -> int | str:
        """A move that is not one of those listed. Raises BotFault."""
        try:
            move: int | str = self.variant.read_move(self.position, seat, raw)
        except IllegalMove as illegal:
            raise BotFault(Ending.ILLEGAL, str(illegal)) from None
        except UnreadableMove as unreadable:
            raise BotFault(Ending.GARBLED, str(unreadable)) from None
        return move

    def fail(self, fault: Fault) -> bool:
        """A seat is at fault; True when the game is over by it.

        In a simultaneous round the other seat is still heard: if it fails too, the game is void.
        A seat that has answered and then breaks down is judged when the round is.
        """
        if self.verdict is not None or self._faults[fault.seat] is not None:
            return False
        owed = self.owes(fault.seat)
        self._faults[fault.seat] = fault
        self._failed = True
        if owed:
            self._owing -= 1
        if self._owing and self.owes(1 - fault.seat) and len(self.due) == 2:
            return False
        self._judge()
        return True

    def fault(
        self,
        seat: Seat,
        code: Ending,
        detail: str,
        received: str = "",
        spent_us: int | None = None,
        limit_us: int | None = None,
    ) -> Fault:
        """A fault of this seat at this point of the game."""
        return Fault(
            seat=seat,
            turn=self.turn_of(seat),
            code=code,
            detail=detail,
            received=received,
            spent_us=spent_us,
            limit_us=limit_us,
        )

    def end_by_fault(self) -> bool:
        """End the game by the faults there are, without waiting for the other seat any more."""
        if not self._failed or self.verdict is not None:
            return False
        self.due = ()
        faults = tuple(fault for fault in self._faults if fault is not None)
        self.verdict = blame(faults, self.variant.scores(self.position))
        return True

    def turn_of(self, seat: Seat) -> int:
        """The place in `moves`, from 1, where this seat is missing if it fails now."""
        return len(self.moves) + 1 + (seat if len(self.due) == 2 else 0)

    def _apply(self) -> None:
        """Every seat that was due has answered: play on by the rules."""
        before, answers, variant = self.position, self._answers, self.variant
        due = self.due
        plays: tuple[tuple[Seat, Any], ...]
        if len(due) == 2:
            plays = ((0, answers[0]), (1, answers[1]))
            self.spent_us += self._spent_us
            if self._cpu_us[0] != UNKNOWN:
                self.cpu_us += self._cpu_us
        else:
            seat = due[0]
            plays = ((seat, answers[seat]),)
            self.spent_us.append(self._spent_us[seat])
            if self._cpu_us[seat] != UNKNOWN:
                self.cpu_us.append(self._cpu_us[seat])
        if self._notes:
            self._keep_notes(plays)
        self.position = after = variant.apply(before, plays, self.chance)
        moves = self.moves
        moves += plays
        known_to_first, known_to_second = self._events
        known_to_first += variant.events(before, plays, after, 0)
        known_to_second += variant.events(before, plays, after, 1)
        answers[0] = answers[1] = None
        if len(moves) > variant.most_plays:
            raise RuntimeError(
                f"{variant.name} goes on beyond the {variant.most_plays} plays of longest()"
            )
        self.due = due = variant.actors(after)
        self._owing = len(due)
        if not due:
            self._end_by_rules()

    def _judge(self) -> None:
        """The round is complete, and somebody is at fault."""
        faults = tuple(fault for fault in self._faults if fault is not None)
        now = tuple(fault for fault in faults if self._answers[fault.seat] is None)
        if not now:
            # The answer was complete before the fault: first what the answer brings.
            self._apply()
            now = tuple(replace(fault, turn=self.turn_of(fault.seat)) for fault in faults)
        if self.verdict is None:
            self.due = ()
            self.verdict = blame(now, self.variant.scores(self.position))

    def _end_by_rules(self) -> None:
        """Nobody plays any more."""
        variant, position = self.variant, self.position
        outcome = variant.outcome(position)
        if outcome is None:
            raise RuntimeError(f"{variant.name}: nobody plays, and there is no outcome")
        self.verdict = Verdict(
            Ending.RULES, outcome.reason, outcome.winner, (), variant.scores(position)
        )

    def _keep_notes(self, plays: tuple[tuple[Seat, Any], ...]) -> None:
        for place, (seat, _) in enumerate(plays, start=len(self.moves)):
            note = cut(self._notes.pop(seat, ""), self._notes_left[seat])
            if note:
                self.notes[str(place)] = note
                self._notes_left[seat] -= len(note.encode())
