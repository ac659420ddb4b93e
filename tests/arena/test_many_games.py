"""Many games on one link: asked together, answered in any order, and when bots are restarted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from referee.bots.manifest import is_sample, sample_bots
from referee.ratings.sprt import Sprt
from referee.record import Record
from referee.verdict import Ending
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
    played = play(*bots, variant="difference", games=8 * width, at_once=house)
    all_by_rules(played)
    for name in ("first", "second"):
        counts = [count for record in played.records for _, count in notes(record, name)]
        assert max(counts) == width


def test_an_honest_bot_is_not_sent_more_than_it_can_answer() -> None:
    """Eight turns would take it longer than one may, so that it is never sent eight."""
    all_by_rules(play(honest(8, 0.15, name="slow"), honest(8), games=8, time="1s"))


def test_many_games_buy_no_time_for_one() -> None:
    """Every turn has its own clock, whatever else the bot was asked in the same write."""
    played = play(bot("hoard", 8, 0.6), honest(8), games=24, time="1s")
    late = [record for record in played.records if record.ending == Ending.TIMEOUT]
    assert len(late) > 4
    assert {record.players[seat] for record in late for seat in record.at_fault} == {"bad"}


def test_parallel_thinking_gives_the_same_verdicts() -> None:
    """Both asked at once or one after the other: the same games."""
    bots = bot("steady", 4), bot("steady", 4, name="other")
    in_turn, parallel = (play(*bots, games=12, think=how) for how in ("in turn", "parallel"))
    all_by_rules(in_turn)
    assert [record.moves for record in in_turn.records] == [
        record.moves for record in parallel.records
    ]
    assert in_turn.result.score.elo == parallel.result.score.elo


def test_one_process_plays_many_games() -> None:
    played = play(bot("notes", 1), honest(), games=6)
    all_by_rules(played)
    assert len({pid for record in played.records for pid, _ in notes(record, "bad")}) == 1


def test_sample_bots_play_deck_in_two_legs() -> None:
    """No process sees both games of a pair, whose hands are the same."""
    sample = sample_bots()["random"]
    first, second = (
        replace(bot("notes", 2, name=name), folder=sample) for name in ("first", "second")
    )
    assert is_sample(first)
    played = play(first, second, variant="deck", games=8)
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


def test_strangers_get_other_cards_in_every_game() -> None:
    """They could pass on to their next process what they saw, so nothing of it helps them."""
    sample = replace(honest(2), folder=sample_bots()["random"])
    played = play(bot("notes", 2, name="first"), sample, variant="deck", games=8)
    all_by_rules(played)
    assert [record.pair for record in played.records] == list(range(1, 9))
    assert len({str(record.chance[0]) for record in played.records}) == 8
    assert [record.players[0] for record in played.records] == ["first", "good"] * 4
    assert len({pid for record in played.records for pid, _ in notes(record, "first")}) == 1


def test_a_sequential_test_counts_pairs_of_swapped_seats() -> None:
    """Also where the two games of a pair have cards of their own."""
    sprt = Sprt(elo0=0.0, elo1=10.0)
    result = play(bot("steady", 4), honest(4), variant="deck", games=20, sprt=sprt).result
    assert result.sprt is not None
    assert sum(result.sprt.pairs) == result.games // 2 == 10


def test_same_seed_same_games() -> None:
    """All but the times is the same, and another seed gives other games."""
    bots = bot("steady", 2), bot("steady", 2, name="other")
    once, again, other = (
        play(*bots, variant="duel", games=6, seed=seed).records for seed in ("a", "a", "b")
    )
    assert [timeless(record) for record in once] == [timeless(record) for record in again]
    assert [record.moves for record in once] != [record.moves for record in other]
    assert not {record.bot_seeds for record in once} & {record.bot_seeds for record in other}
    for record in once:
        assert record.bot_seeds[0] != record.bot_seeds[1]


def test_same_seed_same_cards() -> None:
    """Also where chance is hidden, and however many games they play at once."""
    one, many = (
        play(*(bot("steady", at_once, name=name) for name in "ab"), variant="deck", games=6).records
        for at_once in (1, 3)
    )
    assert [timeless(record) for record in one] == [timeless(record) for record in many]


def timeless(record: Record) -> dict[str, object]:
    times = ("started", "spent_us", "cpu_us")
    return {name: getattr(record, name) for name in record.__struct_fields__ if name not in times}
