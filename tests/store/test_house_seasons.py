"""Seasons, ratings over time, rulings on their way to the store, and tournaments on demand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from referee.store.database import Store
from referee.store.house import House
from referee.store.house.mistakes import Conflict, HouseMistake, Unknown
from referee.store.house.ratings import RatingNow
from referee.store.house.rows import RulingWhat, TeamRow
from referee.store.rows import GamesAt, RulingRow
from tests.store.housing import Clock, played
from tests.store.sample import games, new_store


def test_one_season_at_a_time(house: House) -> None:
    assert house.seasons.current() is None and house.seasons.latest() is None
    first = house.seasons.start('{"name":"1"}', by="me")
    assert (first.name, first.state, first.hidden) == ("1", "open", False)
    assert house.seasons.folder(first) == house.data / "seasons" / "1"
    with pytest.raises(Conflict, match="the season 1 is not closed yet"):
        house.seasons.start("{}", "autumn", by="me")
    assert house.seasons.close("1", by="me").closed is not None
    assert house.seasons.current() is None
    with pytest.raises(Conflict, match="closed already"):
        house.seasons.close("1", by="me")
    with pytest.raises(Conflict, match="there is a season 1 already"):
        house.seasons.start("{}", "1", by="me")
    assert house.seasons.start("{}", "autumn", by="me") == house.seasons.current()
    house.seasons.close("autumn", by="me")
    assert house.seasons.start("{}", by="me").name == "3"
    assert [season.name for season in house.seasons.all()] == ["1", "autumn", "3"]
    with pytest.raises(Unknown, match="no season 'spring'; there is 1, autumn, 3"):
        house.seasons.named("spring")


def test_a_frozen_table_is_what_the_public_sees_until_it_is_revealed(house: House) -> None:
    house.seasons.start("{}", by="me")
    with pytest.raises(Conflict, match="is not frozen"):
        house.seasons.reveal("1", by="me")
    frozen = house.seasons.freeze("1", '{"a":1}', GamesAt(), by="me")
    assert (frozen.state, frozen.hidden) == ("frozen", True)
    assert house.seasons.frozen(frozen) == '{"a":1,"entrants":{},"games":{"last":{},"missing":{}}}'
    with pytest.raises(Conflict, match="is frozen already"):
        house.seasons.freeze("1", '{"a":2}', GamesAt(), by="me")
    assert house.seasons.reveal("1", by="me").state == "open"
    assert not house.seasons.named("1").hidden
    assert house.seasons.freeze("1", '{"a":2}', GamesAt(), by="me").hidden
    closed = house.seasons.close("1", by="me")
    assert (closed.state, closed.hidden) == ("closed", True)
    assert house.seasons.reveal("1", by="me").state == "closed"
    with pytest.raises(Conflict, match="the season 1 is closed"):
        house.seasons.freeze("1", "{}", GamesAt(), by="me")


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "-x", "a b", 41 * "a", "é", "a\n"])
def test_a_season_is_called_what_a_folder_can_be_called(house: House, name: str) -> None:
    with pytest.raises(HouseMistake, match="a season's name has"):
        house.seasons.start("{}", name, by="me")
    assert house.seasons.all() == []


def test_a_season_is_not_called_as_a_tournament_is(house: House) -> None:
    with pytest.raises(HouseMistake, match="games of tournaments are called so"):
        house.seasons.start("{}", "t7", by="me")
    assert house.seasons.start("{}", "t7a", by="me").name == "t7a"


def test_ratings_are_kept_a_minute_apart(house: House, reds: TeamRow, clock: Clock) -> None:
    season = house.seasons.start("{}", by="me")
    one, two = played(house, "greedy", reds, b"one"), played(house, "greedy", reds, b"two")

    def note(version: int, elo: float, count: int) -> None:
        house.ratings.note(season, [RatingNow(version, "duel", elo, 9.5, count)])

    for count in range(1, 7):
        note(one.id, 10.0 * count, count)
        clock.turn(seconds=20)
    note(one.id, 60.0, 6)
    assert [(row.at[11:16], row.elo) for row in house.ratings.of_version(season, one.id)] == [
        ("12:00", 30.0),
        ("12:01", 60.0),
    ]
    note(two.id, -5.0, 1)
    assert [(row.version, row.elo, row.games) for row in house.ratings.latest(season)] == [
        (one.id, 60.0, 6),
        (two.id, -5.0, 1),
    ]
    assert len(house.ratings.of_bot(season, one.bot)) == 3
    before = house.ratings.at(season, clock.time - timedelta(seconds=90))
    assert [(row.version, row.elo) for row in before] == [(one.id, 30.0)]


def test_a_clock_that_is_set_back_does_not_date_ratings_before_a_freeze(
    house: House, reds: TeamRow, clock: Clock
) -> None:
    season = house.seasons.start("{}", by="me")
    version = played(house, "greedy", reds, b"one")

    def note(count: int) -> None:
        house.ratings.note(season, [RatingNow(version.id, "", float(count), 1.0, count)])

    note(1)
    clock.turn(minutes=5)
    frozen = house.seasons.freeze("1", "{}", GamesAt(), by="me")
    note(2)  # in the minute of the freeze
    clock.turn(hours=-1)
    note(3)
    assert frozen.frozen_at is not None
    at = [row.at for row in house.ratings.of_version(season, version.id)]
    assert [each[:16] > frozen.frozen_at[:16] for each in at] == [False, True]
    house.seasons.reveal("1", by="me")
    note(4)
    points = {row.at[11:16]: row.elo for row in house.ratings.of_version(season, version.id)}
    assert points == {"11:05": 4.0, "12:00": 1.0, "12:06": 3.0}


def test_ratings_are_thinned_to_an_hour_apart(house: House, reds: TeamRow, clock: Clock) -> None:
    season = house.seasons.start("{}", by="me")
    version = played(house, "greedy", reds, b"one")
    for count in range(10 * 27):
        house.ratings.note(season, [RatingNow(version.id, "", float(count), 1.0, count)])
        clock.turn(minutes=6)
    rows = house.ratings.of_version(season, version.id)
    assert [row.elo for row in rows[:4]] == [9.0, 19.0, 20.0, 21.0]
    assert [row.elo for row in rows[2:]] == [float(count) for count in range(20, 10 * 27)]
    then = house.ratings.at(season, clock.time - timedelta(hours=25.5))
    assert [row.elo for row in then] == [9.0]
    assert house.ratings.latest(season) == rows[-1:]
    assert house.ratings.at(season, clock.time - timedelta(days=9)) == []


def test_rulings_reach_the_store_once(house: House) -> None:
    season = house.seasons.start("{}", by="me")
    add = house.rulings.add
    add(season, (1, 2), "void", reason="a power cut", by="Ada")
    add(season, (1, 3), "award", 1, reason="copied", by="Ada")
    add(season, (1, 99), "void", reason="not played yet", by="Ada")
    with new_store(house.seasons.folder(season)) as store:
        store.add_games(games(1, 10))
        assert house.rulings.apply(season, store) == 2
        assert store.rulings() == [
            RulingRow(1, 2, "void", None, "a power cut", "Ada", "2026-11-16T12:00:00.000Z"),
            RulingRow(1, 3, "award", 1, "copied", "Ada", "2026-11-16T12:00:00.000Z"),
        ]
        assert house.rulings.apply(season, store) == 0
        assert [ruling.number for ruling in house.rulings.pending()] == [99]
        add(season, (1, 2), "lift", reason="there was none", by="Ada")
        add(season, (1, 3), "award", 0, reason="the other way round", by="Ada")
        assert house.rulings.apply(season, store) == 2
    with Store.read(house.seasons.folder(season)) as store:
        assert [(row.number, row.seat) for row in store.rulings()] == [(3, 0)]
    assert [row.applied for row in house.rulings.of_season(season)] == [
        True,
        True,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("what", "seat", "reason", "told"),
    [
        ("void", 0, "x", "a seat is named for award alone"),
        ("award", None, "x", "awarded to seat 0 or to seat 1"),
        ("award", 2, "x", "awarded to seat 0 or to seat 1"),
        ("void", None, " \t", "a ruling needs a reason"),
        ("void", None, 501 * "a", "a reason has at most 500"),
    ],
)
def test_a_bad_ruling_is_refused(
    house: House, what: RulingWhat, seat: int | None, reason: str, told: str
) -> None:
    season = house.seasons.start("{}", by="me")
    with pytest.raises(HouseMistake, match=told):
        house.rulings.add(season, (1, 1), what, seat, reason=reason, by="me")
    assert house.rulings.pending() == []


def test_tournaments_are_played_in_the_order_of_asking(house: House) -> None:
    assert house.tournaments.claim() is None
    first, second = (house.tournaments.ask("{}", by="Ada") for _ in range(2))
    claimed = house.tournaments.claim()
    assert claimed is not None and (claimed.id, claimed.state) == (first.id, "playing")
    assert house.tournaments.folder(first) == house.data / "tournaments" / "1"
    assert house.tournaments.finish(first.id).state == "finished"
    with pytest.raises(Conflict, match="tournament 1 is not being played"):
        house.tournaments.fail(first.id, "x")
    house.tournaments.claim()
    assert house.tournaments.cancel(second.id, by="Bob").told == "called off by Bob"
    with pytest.raises(Conflict, match="tournament 2 is failed already"):
        house.tournaments.cancel(second.id, by="Bob")
    with pytest.raises(Unknown):
        house.tournaments.get(3)


def test_several_changes_are_one(house: House) -> None:
    def change_and_fail() -> None:
        with house.changing():
            house.teams.add("Reds", by="me")
            with pytest.raises(Conflict):
                house.teams.add("Reds", by="me")
            assert [team.name for team in house.teams.all()] == ["Reds"]
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        change_and_fail()
    assert house.teams.all() == []
    assert house.journal.recent() == []
