"""Judge records again: every field that the rules decide is worked out anew and compared.

What happened on the wire cannot be worked out from a record: that a bot was late or crashed is
attested by the referee that saw it. Such records are counted apart; all that can be checked of
them, the moves up to the fault, the scores, who wins by it, is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import UNSET, Struct

from referee.protocol.codec import Garbled, decode_line
from referee.protocol.messages import MoveReceived, OddMoveReceived
from referee.record import FORMAT, Record, read_records
from referee.replaying import NEVER_PLAYED, Mismatch, Replay, replay
from referee.rules.registry import BadVariant, blame_script
from referee.rules.variant import IllegalMove, UnreadableMove
from referee.schedule import ATTEMPTS
from referee.verdict import AT_START, PRECEDENCE, Ending, Fault, Verdict, blame


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
    """Judge every record in these lines again.

    Raises BadRecord on a line that is none, and BadVariant where a variant is unknown or fails.
    """
    records = judged = 0
    mismatches: list[Finding] = []
    for number, record in read_records(lines):
        records += 1
        try:
            judged += _verify_one(record, script)
        except Mismatch as mismatch:
            mismatches.append(Finding(number, record.game, mismatch.field, mismatch.why))
        except BadVariant as bad:
            raise BadVariant(f"line {number}: {bad}") from bad
    attested = records - judged - len(mismatches)
    return Report(records=records, judged=judged, attested=attested, mismatches=mismatches)


def _verify_one(record: Record, script: str | None) -> bool:
    """Whether the record could be judged in full. Raises Mismatch."""
    for field, good, why in _plain_checks(record):
        if not good:
            raise Mismatch(field, why)
    game = replay(record, script)
    try:
        return _judge(game)
    except Mismatch:
        raise
    except Exception as error:
        raise BadVariant(blame_script(error, type(game.variant))) from error


def _judge(game: Replay) -> bool:
    """Whether the game could be judged in full, now that its moves hold. Raises Mismatch."""
    record = game.record
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
    named = list(zip(("fault", "other_fault"), faults, strict=False))
    for name, fault in named:
        _check_fault(game, name, fault)
    _compare(record, blame(faults, scores))
    judged = [_judge_illegal(game, name, fault) for name, fault in named]
    return all(judged)


def _plain_checks(record: Record) -> Iterator[tuple[str, bool, str]]:
    """(field, whether it holds, what is wrong if not)"""
    moves = len(record.moves)
    yield "format", record.format == FORMAT, f"it is {record.format}, this referee reads {FORMAT}"
    yield "attempt", record.attempt <= ATTEMPTS, f"a game has at most {ATTEMPTS} attempts"
    again = record.ending not in NEVER_PLAYED or record.attempt == ATTEMPTS
    yield (
        *("ending" if moves else "attempt", again),
        f"a game that is void by {record.ending} is played again up to attempt {ATTEMPTS}",
    )
    yield "spent_us", len(record.spent_us) == moves, f"there are {moves} moves"
    yield "cpu_us", len(record.cpu_us) in (0, moves), f"there are {moves} moves"
    yield "players", record.players[0] != record.players[1], "both seats have one name"
    for key in record.notes:
        good = key.isdecimal() and len(key) < 9 and key == str(int(key)) and int(key) < moves
        yield "notes", good, f"{key!r} is not a place in moves"
    alone = record.fault is None and record.other_fault is not UNSET
    yield "other_fault", not alone, "there is no first fault"


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


def _check_fault(game: Replay, name: str, fault: Fault) -> None:
    """That the fault fits the rest, and stands at the place of the game where the moves end."""
    record, actors = game.record, game.variant.actors(game.end)
    if fault.code not in PRECEDENCE and fault.code is not Ending.FORFEIT:
        raise Mismatch(f"{name}.code", f"{fault.code} is no fault of a bot")
    at_start = fault.code in AT_START or fault.code is Ending.FORFEIT
    turn = 1 if at_start else len(record.moves) + 1 + (fault.seat if len(actors) == 2 else 0)
    if record.other_fault is not UNSET:
        if len({each.seat for each in record.faults()}) == 1 and (
            name == "other_fault" or fault.turn != turn
        ):
            raise Mismatch(f"{name}.seat", "both faults are of one seat")
        if not at_start and len(actors) < 2:
            raise Mismatch("other_fault", "only one seat was to play")
    # Of several fields that say the same, the one that stands alone is the wrong one.
    elif record.winner is not None and record.at_fault == (1 - record.winner,) != (fault.seat,):
        raise Mismatch(f"{name}.seat", f"it is {fault.seat}, the seat that won")
    elif record.ending == record.reason != fault.code:
        raise Mismatch(f"{name}.code", f"it is {fault.code}, the ending {record.ending}")
    if at_start and record.moves:
        raise Mismatch("moves", f"a game that ended by {fault.code} has none")
    if fault.turn != turn:
        raise Mismatch(f"{name}.turn", f"recorded is {fault.turn}, judged {turn}")
    if fault.code in (Ending.ILLEGAL, Ending.RESIGN) and fault.seat not in actors:
        raise Mismatch(f"{name}.seat", f"seat {fault.seat} was not to move")
    spent_us, limit_us = fault.spent_us, fault.limit_us
    if spent_us is not None and limit_us is not None and spent_us < limit_us:
        raise Mismatch(f"{name}.spent_us", f"it is within the limit, {limit_us}")


def _judge_illegal(game: Replay, name: str, fault: Fault) -> bool:
    """Whether the recorded answer could be judged again. Raises Mismatch if it is no illegal one.

    What was cut off after its first 200 bytes is beyond judging.
    """
    if fault.code is not Ending.ILLEGAL:
        return False
    if fault.received.endswith("…"):
        return False
    try:
        _, answer = decode_line(fault.received.encode().strip())
    except Garbled as garbled:
        raise Mismatch(f"{name}.received", f"it is no move at all: {garbled}") from None
    if not isinstance(answer, MoveReceived | OddMoveReceived):
        raise Mismatch(f"{name}.received", "it is no move at all")
    try:
        game.variant.read_move(game.end, fault.seat, answer.move)
    except IllegalMove:
        return True
    except UnreadableMove as unreadable:
        raise Mismatch(f"{name}.received", f"it is garbled, not illegal: {unreadable}") from None
    raise Mismatch(f"{name}.received", f"the move {answer.move!r} was legal")


def _show(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
