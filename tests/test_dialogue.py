"""A dialogue made from a record is what the arena really sent: bots that keep a book prove it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from referee.dialogue import Dialogue, dialogue
from referee.protocol.codec import encode
from referee.protocol.messages import Error, Over
from referee.record import Record, encode_record, read_record
from referee.replaying import Mismatch
from referee.rules.registry import BUNDLED
from tests.arena.playing import ROOT, bot, honest, play
from tests.records import faulty, games

GOOFSPIEL = str(ROOT / "docs/examples/goofspiel.py")
LEFT = re.compile(rb'"left_ms":(\d+)\}\n$')


def played(tmp_path: Path, *how: object, **terms: Any) -> list[Record]:
    """Records of a match between two bots that keep a book; `how` is what the first does wrong."""
    first = bot("scribe", tmp_path / "first", *how, name="first")
    second = bot("scribe", tmp_path / "second", name="second")
    found = play(first, second, at_once=1, pin=False, **terms).records
    return [read_record(encode_record(record)) for record in found]


def book(tmp_path: Path, name: str, game: str) -> list[bytes]:
    """What a bot was really sent in a game, with its turns numbered from 1."""
    lines = (tmp_path / name).read_bytes().splitlines(keepends=True)
    of_game = [line for line in lines if b'"game":"%s"' % game.encode() in line]
    numbers: dict[bytes, int] = {}
    found = []
    for line in of_game:
        turn_id = re.match(rb'\{"type":"(?:turn"|error".*"game":"\d+").*?"id":(\d+)', line)
        if turn_id is not None:
            number = numbers.setdefault(turn_id[1], len(numbers) + 1)
            line = line[: turn_id.start(1)] + b"%d" % number + line[turn_id.end(1) :]
        found.append(line)
    return found


def sent(of: Dialogue) -> list[bytes]:
    return [encode([message]) for message in of.messages()]


@pytest.mark.parametrize("variant", [*BUNDLED, GOOFSPIEL])
def test_it_is_what_was_sent(variant: str, tmp_path: Path) -> None:
    records = played(tmp_path, variant=variant, games=4)
    assert {record.players for record in records} == {("first", "second"), ("second", "first")}
    for record in records:
        assert record.ending == "rules"
        for seat in (0, 1):
            found = dialogue(record, seat, variant)
            assert sent(found) == book(tmp_path, record.players[seat], record.game)
            assert found.fault is None
            own = [move for mover, move in record.moves if mover == seat]
            assert [asked.answer for asked in found.turns] == own
            for asked in found.turns:
                assert record.moves[asked.place - 1] == (seat, asked.answer)


@pytest.mark.parametrize("how", ["illegal", "resign", "garbled", "crash", "timeout"])
@pytest.mark.parametrize("variant", ["underdog", "deck"])
def test_a_fault(how: str, variant: str, tmp_path: Path) -> None:
    """In a round that both play at once, and in a game in turn."""
    terms = {"time": "1s"} if how == "timeout" else {}
    records = played(tmp_path, how, 2, variant=variant, games=2, **terms)
    for record in records:
        assert record.ending == how
        for seat in (0, 1):
            found, kept = dialogue(record, seat), book(tmp_path, record.players[seat], record.game)
            if record.players[seat] == "second":
                assert found.fault is None
                assert sent(found) == kept
                continue
            assert found.fault is not None
            assert found.fault == record.fault
            last = found.turns[-1]
            assert (last.place, last.answer) == (found.fault.turn, None)
            if how in ("garbled", "timeout"):
                # Its process is ended before it can read of it, and this error names no game.
                error = Error(how, found.fault.detail)
                assert found.end == [error]
                kept.append(encode([error]))
            assert sent(found) == kept


def test_a_bank(tmp_path: Path) -> None:
    """What is left is known up to a millisecond, and the rest of the text is the same."""
    records = played(tmp_path, variant="target", games=2, time="600s+1s")
    for record in records:
        for seat in (0, 1):
            lines = sent(dialogue(record, seat)), book(tmp_path, record.players[seat], record.game)
            for made, real in zip(*lines, strict=True):
                ours, theirs = LEFT.search(made), LEFT.search(real)
                assert (ours is None) == (theirs is None)
                if ours is not None and theirs is not None:
                    assert abs(int(ours[1]) - int(theirs[1])) <= 1
                assert LEFT.sub(b"", made) == LEFT.sub(b"", real)


def test_who_was_not_to_move_was_not_asked() -> None:
    """A bot that breaks down while the other thinks has no open turn."""
    bots = bot("crash", "idle"), honest(seconds=2)
    (record,) = play(*bots, variant="duel", games=1, options={"first": "seat0"}, pin=False).records
    assert (record.ending, record.at_fault, len(record.moves)) == ("crash", (0,), 1)
    crashed, other = dialogue(record, 0), dialogue(record, 1)
    assert [asked.answer for asked in crashed.turns] == [record.moves[0][1]]
    assert (crashed.end, crashed.asked_at(2)) == ([], None)
    assert [(asked.place, asked.answer) for asked in other.turns] == [(2, None)]
    (over,) = other.end
    assert isinstance(over, Over)
    assert over.result == "win"


@pytest.mark.parametrize("name", ["no_start", "forfeit", "void, no start"])
def test_a_game_that_never_began(name: str) -> None:
    record = faulty(name)
    for seat in (0, 1):
        found = dialogue(record, seat)
        assert (found.start, found.messages()) == (None, [])


def test_both_at_fault() -> None:
    record = faulty("void")
    first, second = dialogue(record, 0), dialogue(record, 1)
    assert [type(message) for message in first.end] == [Error, Over]
    (over,) = second.end
    assert isinstance(over, Over)
    assert over.result == "void"
    assert first.turns[-1].answer is second.turns[-1].answer is None


def test_a_record_of_another_variant() -> None:
    record = games("underdog")[0]
    for other in ("duel", GOOFSPIEL):
        with pytest.raises(
            Mismatch, match=r"variant: the record is of underdog, not of (duel|goof)"
        ):
            dialogue(record, 0, other)


def test_a_record_that_breaks_the_rules() -> None:
    record = games("underdog")[0]
    with pytest.raises(Mismatch):
        dialogue(replace(record, moves=[(0, 99), *record.moves[1:]]), 0)
    with pytest.raises(Mismatch, match="spent_us"):
        dialogue(replace(record, spent_us=record.spent_us[1:]), 0)
