"""Many games on one link: asked together, answered in any order, and when bots are restarted."""

from __future__ import annotations

import pytest

from referee.record import Record
from tests.arena.playing import all_by_rules, bot, honest, play


def notes(record: Record, name: str) -> list[tuple[str, int]]:
    """(process id, turns in one read) of every answer of this bot."""
    seat = record.players.index(name)
    texts = [
        record.notes[str(place)] for place, (mover, _) in enumerate(record.moves) if mover == seat
    ]
    return [(pid, int(count)) for pid, count in map(str.split, texts)]


@pytest.mark.parametrize(
    ("first", "second", "house", "width"),
    [(8, 8, 64, 8), (16, 4, 64, 4), (1, 8, 64, 1), (8, 8, 3, 3)],
)
def test_requests_go_out_together(first: int, second: int, house: int, width: int) -> None:
    """The smallest of the three counts; answers in reversed order belong where their id says."""
    bots = bot("notes", first, name="first"), bot("notes", second, name="second")
    played = play(*bots, variant="difference", games=2 * width, at_once=house)
    all_by_rules(played)
    for record in played.records:
        # All games are of the same length, so that all turns fall due together.
        for name in record.players:
            assert [count for _, count in notes(record, name)] == [width] * 5


def test_answers_in_any_order_are_the_same_games() -> None:
    """Forwards one at a time, and eight at once backwards."""
    one, many = (
        play(bot("notes", at_once), honest(at_once, name="other"), variant="duel", games=8)
        for at_once in (1, 8)
    )
    for before, after in zip(one.records, many.records, strict=True):
        bad = before.players.index("bad")
        assert before.chance == after.chance
        assert before.bot_seeds == after.bot_seeds
        assert [move for seat, move in before.moves if seat == bad][:3] == [1, 1, 2]
        assert [move for seat, move in after.moves if seat == bad][:3] == [1, 1, 2]


@pytest.mark.parametrize("variant", ["underdog", "duel"])
def test_parallel_thinking_gives_the_same_verdicts(variant: str) -> None:
    """Both asked at once or one after the other: the same games."""
    in_turn, parallel = (
        play(bot("steady", 4), bot("steady", 4, name="other"), variant=variant, games=12, think=how)
        for how in ("in turn", "parallel")
    )
    all_by_rules(in_turn)
    assert [record.moves for record in in_turn.records] == [
        record.moves for record in parallel.records
    ]
    assert in_turn.result.score.elo == parallel.result.score.elo


def test_one_process_plays_many_games() -> None:
    played = play(bot("notes", 1), honest(), games=6)
    all_by_rules(played)
    assert len({pid for record in played.records for pid, _ in notes(record, "bad")}) == 1


@pytest.mark.parametrize("at_once", [1, 4])
def test_deck_is_played_in_two_legs(at_once: int) -> None:
    """No process sees both games of a pair, whose hands are the same."""
    bots = bot("notes", at_once, name="first"), bot("notes", at_once, name="second")
    played = play(*bots, variant="deck", games=8)
    all_by_rules(played)
    for name in ("first", "second"):
        legs = [
            {pid for record in played.records[leg::2] for pid, _ in notes(record, name)}
            for leg in (0, 1)
        ]
        assert [len(pids) for pids in legs] == [1, 1]
        assert legs[0] != legs[1]
    for one, other in zip(played.records[0::2], played.records[1::2], strict=True):
        assert one.pair == other.pair
        assert one.chance[0] == other.chance[0]
        assert one.players == other.players[::-1]


@pytest.mark.parametrize("variant", ["underdog", "duel", "deck"])
def test_same_seed_same_games(variant: str) -> None:
    """All but the times is the same, and another seed gives other games."""
    bots = bot("steady", 2), bot("steady", 2, name="other")
    once, again, other = (
        play(*bots, variant=variant, games=6, seed=seed).records for seed in ("a", "a", "b")
    )
    assert [timeless(record) for record in once] == [timeless(record) for record in again]
    assert [record.moves for record in once] != [record.moves for record in other]
    assert not {record.bot_seeds for record in once} & {record.bot_seeds for record in other}
    for record in once:
        assert record.bot_seeds[0] != record.bot_seeds[1]


def timeless(record: Record) -> dict[str, object]:
    times = ("started", "spent_us", "cpu_us")
    return {name: getattr(record, name) for name in record.__struct_fields__ if name not in times}
