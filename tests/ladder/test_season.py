"""A season's ledger on a real store: who is given what, and what comes back."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

import msgspec
import pytest

from referee.bots.manifest import Bot
from referee.clock import Clock
from referee.ladder.season import CHUNK_GAMES, Player, Season
from referee.record import BotInfo, Record
from referee.rules.registry import find_variant
from referee.schedule import game_orders
from referee.store.database import Store
from referee.store.rows import FaultRow, GameRow
from referee.tournament.chunk import Batch, Chunk, Contestant, Manner
from referee.tournament.spec import Spec
from referee.verdict import Ending

SPEC = Spec(name="ladder", variants=("underdog", "deck"))
MANNER = Manner(
    tournament="ladder",
    clock=Clock(move_ms=1000),
    startup_ms=1000,
    warm_up_ms=0,
    think="in turn",
    at_once=1,
)


class Clockwork:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def player(
    number: int,
    *,
    team: str | None = None,
    connected: bool = False,
    variants: tuple[str, ...] | None = None,
) -> Player:
    name = f"bot{number}"
    return Player(
        contestant=Contestant(number, Bot(name=name, command=("true",), hash=f"{number:x}")),
        name=f"{name} v1",
        team=team,
        connected=connected,
        variants=variants,
    )


def new_store(folder: Path) -> Store:
    values = {"spec": msgspec.json.encode(SPEC).decode(), "seed": "test"}
    return Store.create(folder, values, [])


def a_season(store: Store, clock: Clockwork | None = None, *, hidden: bool = False) -> Season:
    names = (lambda _: ("one", "two")) if hidden else None
    return Season(store, SPEC, count(1), now=clock or Clockwork(), hidden_names=names)


def record(chunk: Chunk, number: int) -> bytes:
    names = chunk.called or ("?", "?")
    return msgspec.msgpack.encode(
        Record(
            game=f"{chunk.pairing}-{number}",
            pair=(number + 1) // 2,
            attempt=1,
            tournament="ladder",
            variant=chunk.variant,
            rules=1,
            options={},
            clock=MANNER.clock,
            players=names if number % 2 else (names[1], names[0]),
            bots=(BotInfo("", ""), BotInfo("", "")),
            started="2026-01-01T00:00:00Z",
            level="none",
            bot_seeds=(1, 2),
            chance=[],
            moves=[],
            spent_us=[],
            cpu_us=[],
            notes={},
            dropped=0,
            ending=Ending.RULES,
            reason="",
            winner=0,
            at_fault=(),
            scores=(1, 0),
            fault=None,
        )
    )


def played(chunk: Chunk, numbers: list[int], ending: str = "rules") -> Batch:
    """Seat 0 wins every game."""
    games = []
    for number in numbers:
        seats = (chunk.first.id, chunk.second.id)
        first, second = seats if number % 2 else seats[::-1]
        games.append(
            GameRow(
                *(chunk.pairing, number, (number + 1) // 2, first, second, 2, ending, 0),
                *(number, record(chunk, number)),
            )
        )
    faults = [
        FaultRow(chunk.pairing, number, 0, chunk.first.id, ending, 0, "no such program")
        for number in numbers
        if ending != "rules"
    ]
    return Batch(chunk.id, games, faults, [])


def given(season: Season, place: str = "workers", **options: object) -> Chunk:
    chunk = season.next_chunk(MANNER, place, **options)  # type: ignore[arg-type]
    assert chunk is not None
    return chunk


def test_chunks_are_whole_pairs_and_variants_take_turns(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        season = a_season(store)
        for number in (1, 2, 3):
            season.enter(player(number))
        chunks = [given(season) for _ in range(4)]
        assert [chunk.variant for chunk in chunks] == ["underdog", "deck", "underdog", "deck"]
        for chunk in chunks:
            assert len(list(chunk.each_number())) == CHUNK_GAMES["workers"]
            assert chunk.first.id != chunk.second.id
            assert chunk.called == (f"bot{chunk.first.id} v1", f"bot{chunk.second.id} v1")
        assert len({chunk.id for chunk in chunks}) == 4


@pytest.mark.parametrize("place", ["workers", "hall"])
def test_bots_of_one_team_do_not_meet(place: str, tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        season = a_season(store)
        teams = {1: "Reds", 2: "Reds", 3: "Reds", 4: None, 5: None, 6: "Blues"}
        for number, team in teams.items():
            season.enter(player(number, team=team, connected=place == "hall"))
        met: set[frozenset[int]] = set()
        for _ in range(60):
            chunk = given(season, place)
            met.add(frozenset({chunk.first.id, chunk.second.id}))
            season.keep(played(chunk, list(chunk.each_number())))
            season.give_back(chunk.id)
        assert {number for pair in met for number in pair} == set(teams)
        assert not [pair for pair in met if pair < {1, 2, 3}]
        assert frozenset({4, 5}) in met, "the organisers' own bots are of no team"
        assert not season.is_of_one_team()


def test_a_single_team_waits_for_another(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        season = a_season(store)
        for number in (1, 2):
            season.enter(player(number, team="Reds"))
        assert season.is_of_one_team()
        assert season.next_chunk(MANNER) is None
        season.enter(player(3))
        assert not season.is_of_one_team()
        assert given(season).second.id == 3


def test_what_was_not_played_is_played_next_time(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        season = a_season(store)
        season.enter(player(1, variants=("underdog",)))
        season.enter(player(2, variants=("underdog",)))
        first = given(season)
        second = given(season)
        assert set(first.each_number()).isdisjoint(second.each_number())
        season.keep(played(first, [1, 2, 5]))
        season.give_back(first.id)
        season.keep(played(second, list(second.each_number())))
        season.give_back(second.id)
        again = given(season)
        assert set(range(1, 21)) - {1, 2, 5} <= set(again.each_number())
        assert again.branch == first.branch
        assert season.played == 23


def test_a_season_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        season = a_season(store)
        season.enter(player(1, variants=("underdog",)))
        season.enter(player(2, variants=("underdog",)))
        chunk = given(season)
        season.keep(played(chunk, [1, 2, 3]))
        store.commit()
        season.keep(played(chunk, [4, 5]))
    with Store.open(tmp_path) as store:
        season = a_season(store)
        assert season.played == 3
        season.enter(player(1, variants=("underdog",)))
        season.enter(player(2, variants=("underdog",)))
        again = given(season)
        assert min(again.each_number()) == 4
        assert again.pairing == chunk.pairing
        season.keep(played(again, list(again.each_number())))
        assert store.played(chunk.pairing) == [(1, max(again.each_number()))]


def test_the_hall_is_for_those_who_are_connected(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        season = a_season(store)
        for number in (1, 2):
            season.enter(player(number))
        assert season.next_chunk(MANNER, "hall") is None
        for number in (3, 4, 5):
            season.enter(player(number, connected=True))
        for _ in range(6):
            chunk = given(season)
            assert {chunk.first.id, chunk.second.id} == {1, 2}
        chunk = given(season, "hall", absent={1, 2})
        here = {chunk.first.id, chunk.second.id}
        assert here < {3, 4, 5}
        # Everybody plays one chunk at a time there.
        assert season.next_chunk(MANNER, "hall", absent={1, 2}) is None
        mixed = given(season, "hall")
        assert {mixed.first.id, mixed.second.id}.isdisjoint(here)
        season.give_back(chunk.id)
        assert season.at_play("hall") == {mixed.first.id, mixed.second.id}


def test_a_hand_that_was_seen_is_not_dealt_again(tmp_path: Path) -> None:
    """Bots that live on would know it: unplayed games of the hall with hidden chance are gone."""
    for variant, kept in (("deck", False), ("underdog", True)):
        with new_store(tmp_path / variant) as store:
            season = a_season(store)
            season.enter(player(1, connected=True, variants=(variant,)))
            season.enter(player(2, connected=True, variants=(variant,)))
            chunk = given(season, "hall")
            season.give_back(chunk.id)
            again = given(season, "hall")
            assert (set(again.each_number()) == set(chunk.each_number())) is kept
            store.commit()
        with Store.open(tmp_path / variant) as store:
            season = a_season(store)
            season.enter(player(1, connected=True, variants=(variant,)))
            season.enter(player(2, connected=True, variants=(variant,)))
            later = given(season, "hall")
            assert set(later.each_number()).isdisjoint(again.each_number()) is not kept


@pytest.mark.parametrize(("variant", "kept"), [("deck", False), ("underdog", True)])
def test_a_hand_that_a_lost_worker_dealt_is_not_dealt_again(
    variant: str, kept: bool, tmp_path: Path
) -> None:
    """Bots that are started anew may know it; games that were not begun keep their numbers."""
    with new_store(tmp_path) as store:
        season = a_season(store)
        for number in (1, 2):
            season.enter(player(number, variants=(variant,)))
        whole = given(season)
        assert whole.own_chance is not kept
        season.give_back(whole.id)
        lost = given(season)
        assert lost.numbers == whole.numbers
        season.give_back(lost.id, begun=True)
        again = given(season)
        assert (again.numbers == lost.numbers) is kept
        store.commit()
        later = a_season(store)
        for number in (1, 2):
            later.enter(player(number, variants=(variant,)))
        assert set(given(later).each_number()).isdisjoint(again.each_number()) is not kept


@pytest.mark.parametrize(("variant", "again"), [("deck", False), ("underdog", True)])
def test_a_hand_that_was_dealt_after_a_backup_is_not_dealt_again(
    variant: str, again: bool, tmp_path: Path
) -> None:
    """Nor one of which a daemon that was killed had not written that it was dealt."""
    with new_store(tmp_path / "backup") as store:
        season = a_season(store)
        for number in (1, 2):
            season.enter(player(number, variants=(variant,)))
        given(season)
        store.commit()
        backup = shutil.copytree(tmp_path / "backup", tmp_path / "restored")
        played_on = seeds(given(season))
    with Store.open(backup) as store:
        restored = a_season(store)
        for number in (1, 2):
            restored.enter(player(number, variants=(variant,)))
        dealt = [seeds(given(restored)) for _ in range(2)]
    assert (played_on in dealt) is again
    assert played_on.isdisjoint(set().union(*dealt)) is not again


def seeds(chunk: Chunk) -> set[str]:
    """What the chance of its games comes from."""
    hidden = find_variant(chunk.variant).hidden_chance
    orders = game_orders(chunk.branch, chunk.each_number(), hidden_chance=hidden)
    return {order.chance_seed for order in orders}


def test_whoever_does_not_start_is_left_alone_and_loses_nothing(tmp_path: Path) -> None:
    clock = Clockwork()
    with new_store(tmp_path) as store:
        season = a_season(store, clock)
        season.enter(player(1, variants=("underdog",)))
        season.enter(player(2, variants=("underdog",)))
        chunk = given(season)
        kept = season.keep(played(chunk, [1, 2], ending="forfeit"))
        assert (kept.games, kept.faults) == ([], [])
        season.give_back(chunk.id)
        season.rest(1, 60.0)
        assert season.next_chunk(MANNER) is None
        clock.now = 61.0
        assert min(given(season).each_number()) == 1
        assert season.played == 0


def test_whoever_leaves_gets_no_more_games(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        season = a_season(store)
        for number in (1, 2, 3):
            season.enter(player(number))
        chunk = given(season)
        season.leave(chunk.first.id)
        for _ in range(6):
            later = given(season)
            assert chunk.first.id not in (later.first.id, later.second.id)
        # What was on its way counts.
        season.keep(played(chunk, [1, 2]))
        assert season.played == 2


def test_records_have_the_true_names_though_bots_did_not(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        season = a_season(store, hidden=True)
        season.enter(player(1))
        season.enter(player(2))
        chunk = given(season)
        assert chunk.called == ("one", "two")
        season.keep(played(chunk, [1, 2]))
        bodies = [body for _, _, body in store.records()]
        names = [msgspec.msgpack.decode(body, type=Record).players for body in bodies]
        assert names == [("bot1 v1", "bot2 v1"), ("bot2 v1", "bot1 v1")]


def test_ratings_narrow_as_games_come_in(tmp_path: Path) -> None:
    clock = Clockwork()
    with new_store(tmp_path) as store:
        season = a_season(store, clock)
        for number in (1, 2, 3):
            season.enter(player(number, variants=("underdog",)))
        assert season.widest() == pytest.approx(float("inf"))
        widths = []
        for _ in range(12):
            clock.now += 10
            chunk = given(season)
            season.keep(played(chunk, list(chunk.each_number())))
            season.give_back(chunk.id)
            widths.append(season.widest())
        assert widths[-1] < widths[0] / 3
