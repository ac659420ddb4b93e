"""Records of games that were played: nothing is lost in a file, and every judgement holds."""

from __future__ import annotations

import pytest

from referee.record import encode_record, read_record, read_records
from referee.replaying import replay
from referee.verdict import Ending
from tests.records import FAULTY, VARIANTS, faulty, games, judge, planned, play, with_notes

JUDGED = {"illegal", "illegal, both at once", "void, both illegal"}
"""The faults that can be judged again; what else ends a game, the referee alone has seen."""


@pytest.mark.parametrize("variant", VARIANTS)
def test_records_read_back_equal(variant: str) -> None:
    records = games(variant)
    lines = [encode_record(record) + b"\n" for record in records]
    assert [record for _, record in read_records(lines)] == records
    assert [number for number, _ in read_records(lines)] == [1, 2, 3, 4, 5, 6]
    assert all(line.count(b"\n") == 1 for line in lines)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_game_is_judged_as_it_was(variant: str) -> None:
    report = judge(*games(variant))
    assert report.mismatches == []
    assert (report.records, report.judged, report.attested) == (6, 6, 0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_games_of_a_pair_have_one_chance_and_swapped_seats(variant: str) -> None:
    records = games(variant)
    for first, second in zip(records[::2], records[1::2], strict=True):
        assert first.pair == second.pair
        # A reshuffle depends on the cards that were played; the first shuffle does not.
        assert first.chance[:1] == second.chance[:1]
        assert first.players == second.players[::-1] == ("random", "highest")
        assert first.bots == second.bots[::-1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_seed_gives_the_same_games(variant: str) -> None:
    """Whatever the bots play."""
    once, again = (
        play(planned("a", plan), planned("b", plan), variant)[0] for plan in ("first", "last")
    )
    assert (again.chance[:1], again.bot_seeds) == (once.chance[:1], once.bot_seeds)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_replay_ends_where_the_game_did(variant: str) -> None:
    for record in games(variant):
        game = replay(record)
        assert game.start is not None
        assert game.variant.scores(game.end) == record.scores
        assert [play for step in game.steps for play in step.plays] == record.moves
        for step, following in zip(game.steps, game.steps[1:], strict=False):
            assert step.after is following.before


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_game_holds(name: str) -> None:
    record = faulty(name)
    assert record.ending == name.partition(",")[0]
    assert read_record(encode_record(record)) == record
    report = judge(record)
    assert report.mismatches == []
    assert (report.judged, report.attested) == ((1, 0) if name in JUDGED else (0, 1))


def test_what_a_fault_leaves_of_the_game() -> None:
    illegal = faulty("illegal")
    assert illegal.moves == [(0, 9), (1, 1), (1, 1), (0, 1)]
    assert illegal.fault is not None
    assert (illegal.fault.seat, illegal.fault.turn, illegal.winner) == (0, 5, 1)
    assert illegal.scores == (20, 12)
    assert faulty("illegal, both at once").moves == [(0, 1), (1, 10)]
    void = faulty("void")
    assert [fault.code for fault in void.faults()] == [Ending.ILLEGAL, Ending.RESIGN]
    assert (void.moves, void.winner, void.points()) == ([(0, 1), (1, 10)], None, (0.0, 0.0))
    assert not void.rated
    assert not faulty("forfeit").rated
    assert faulty("no_start").rated


def test_no_bot_fills_a_record_with_notes() -> None:
    """Nor does one keep the notes of the other out of it."""
    bots = planned("a", "essay"), planned("b", "note")
    (record,) = play(*bots, "underdog", options={"size": 20, "points": 20})
    notes = [record.notes.get(str(place), "") for place in range(len(record.moves))]
    assert [note for note in notes[::2] if note] == [*10 * [66 * "€"], 22 * "€"]
    assert len(notes[1::2]) == 20 and all(notes[1::2])
    assert sum(len(note.encode()) for note in notes) <= 4096
    assert judge(record).mismatches == []


def test_notes_are_kept_with_their_moves() -> None:
    record = with_notes()
    assert record.notes["0"] == "of 10 the first"
    assert all(record.moves[int(place)][0] == 0 for place in record.notes)
    assert judge(record).mismatches == []
