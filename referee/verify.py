"""Judge records again: every field that the rules decide is worked out anew and compared.

What happened on the wire cannot be worked out from a record: that a bot was late or crashed is
attested by the referee that saw it. Such records are counted apart; all that can be checked of
them, the moves up to the fault, the scores, who wins by it, is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from referee.protocol.codec import Garbled, decode_line
from referee.protocol.messages import MoveReceived, OddMoveReceived
from referee.record import FORMAT, Record, read_records
from referee.replay import NEVER_PLAYED, Mismatch, Replay, replay
from referee.rules.variant import IllegalMove
from referee.schedule import ATTEMPTS
from referee.verdict import AT_START, Ending, Fault, Verdict, blame


class Finding(Struct, frozen=True):
    """A record that does not hold."""

    line: int
    game: str
    field: str
    why: str


class Report(Struct, frozen=True, kw_only=True):
    """What came out of verifying a file."""

    records: int
    judged: int
    """Judged again in full: ended by the rules or by an illegal move."""
    attested: int
    """Ended by something that only the referee saw; the rest of the record was judged again."""
    mismatches: list[Finding]


def verify(lines: Iterable[bytes], script: str | None = None) -> Report:
    """Judge every record in these lines again. Raises BadRecord on a line that is none."""
    records = judged = 0
    mismatches: list[Finding] = []
    for number, record in read_records(lines):
        records += 1
        try:
            judged += _verify_one(record, script)
        except Mismatch as mismatch:
            mismatches.append(Finding(number, record.game, mismatch.field, mismatch.why))
    attested = records - judged - len(mismatches)
    return Report(records=records, judged=judged, attested=attested, mismatches=mismatches)


def _verify_one(record: Record, script: str | None) -> bool:
    """Whether the record could be judged in full. Raises Mismatch."""
    for field, good, why in _plain_checks(record):
        if not good:
            raise Mismatch(field, why)
    game = replay(record, script)
    if record.ending in NEVER_PLAYED:
        _compare(record, Verdict(record.ending, record.reason, None, (), (0, 0)))
        return False
    outcome = game.variant.outcome(game.end)
    scores = game.variant.scores(game.end)
    if outcome is not None:
        _compare(record, Verdict(Ending.RULES, outcome.reason, outcome.winner, (), scores))
        return True
    if record.ending is Ending.RULES:
        raise Mismatch("ending", "the rules have not ended the game after these moves")
    faults = record.faults()
    if not faults:
        raise Mismatch("fault", f"the ending is {record.ending}, but no fault is recorded")
    if len(faults) == 2 and {fault.seat for fault in faults} != {0, 1}:
        raise Mismatch("other_fault", "both faults are of one seat")
    for fault in faults:
        _check_fault(game, fault)
    _compare(record, blame(faults, scores))
    judged = [_judge_illegal(game, fault) for fault in faults]
    return all(judged)


def _plain_checks(record: Record) -> Iterator[tuple[str, bool, str]]:
    """(field, whether it holds, what is wrong if not)"""
    moves = len(record.moves)
    yield "format", record.format == FORMAT, f"it is {record.format}, this referee reads {FORMAT}"
    yield "attempt", record.attempt <= ATTEMPTS, f"a game has at most {ATTEMPTS} attempts"
    yield "spent_us", len(record.spent_us) == moves, f"there are {moves} moves"
    yield "cpu_us", len(record.cpu_us) in (0, 2), "it has one number for each seat, or none"
    yield "players", record.players[0] != record.players[1], "both seats have one name"
    for key in record.notes:
        good = key.isdecimal() and len(key) < 9 and int(key) < moves
        yield "notes", good, f"{key!r} is not a place in moves"


def _compare(record: Record, verdict: Verdict) -> None:
    for field in ("ending", "reason", "winner", "at_fault", "scores"):
        recorded, judged = getattr(record, field), getattr(verdict, field)
        if recorded != judged:
            raise Mismatch(field, f"recorded is {_show(recorded)}, judged {_show(judged)}")
    fault = verdict.faults[0] if verdict.faults else None
    if record.fault != fault:
        raise Mismatch("fault", "another fault comes first" if fault else "there was none")
    if len(record.faults()) != len(verdict.faults):
        raise Mismatch("other_fault", "only a void game has two faults")


def _check_fault(game: Replay, fault: Fault) -> None:
    """That the fault stands at the place of the game where the moves end."""
    moves = len(game.record.moves)
    actors = game.variant.actors(game.end)
    turn = moves + 1 + (fault.seat if len(actors) == 2 else 0)
    if fault.code in AT_START or fault.code is Ending.FORFEIT:
        turn = 1
        if moves:
            raise Mismatch("moves", f"a game that ended by {fault.code} has none")
    if fault.turn != turn:
        raise Mismatch("fault.turn", f"recorded is {fault.turn}, judged {turn}")
    if fault.code is Ending.ILLEGAL and fault.seat not in actors:
        raise Mismatch("fault.seat", f"seat {fault.seat} was not to move")


def _judge_illegal(game: Replay, fault: Fault) -> bool:
    """Whether the recorded answer could be judged again. Raises Mismatch if it is legal."""
    if fault.code is not Ending.ILLEGAL:
        return False
    try:
        _, answer = decode_line(fault.received.encode().strip())
    except Garbled:
        return False
    if not isinstance(answer, MoveReceived | OddMoveReceived):
        return False
    try:
        game.variant.read_move(game.end, fault.seat, answer.move)
    except IllegalMove:
        return True
    raise Mismatch("fault.received", f"the move {answer.move!r} was legal")


def _show(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
