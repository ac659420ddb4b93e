"""Running counts come to what all games come to, however they were stored, ruled on or upgraded."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.reports.standings import standings
from referee.store import connect, schema, tally
from referee.store.database import Store
from referee.store.rows import BotRow, FaultRow, GameRow, PairingRow, RulingRow
from referee.tournament.spec import Spec
from referee.verdict import UNRATED
from tests.reports.all_games import from_all_games
from tests.reports.stored import Met, make

BOTS = [BotRow(at, name, "1", "", "{}") for at, name in enumerate(("d", "a", "c", "b"), start=1)]
PAIRINGS = [
    *(PairingRow(1, 1, "duel", 1, 2, 30), PairingRow(2, 1, "duel", 3, 1, 30)),
    *(PairingRow(3, 1, "deck", 1, 2, 30), PairingRow(4, 2, "duel", 2, 1, 30, 1)),
    *(PairingRow(5, 2, "duel", 4, 3, 30), PairingRow(6, 3, "deck", 4, 1, 30)),
]
ENDINGS = ("rules", "rules", "rules", "timeout", "forfeit", "both forfeit", "void", "host_stall")


def a_game(draw: random.Random, row: PairingRow, number: int) -> tuple[GameRow, list[FaultRow]]:
    """Some end of this game, with the faults that go with it."""
    seats = (row.first, row.second) if number % 2 else (row.second, row.first)
    hidden = row.variant == "deck"
    what, loser = draw.choice(ENDINGS), draw.randrange(2)
    points: int | None = None
    if what == "rules":
        points = draw.randrange(3)
    elif what in ("timeout", "forfeit"):
        points = 2 * loser
    guilty = {"timeout": [loser], "forfeit": [loser], "void": [0, 1], "both forfeit": [0, 1]}
    codes = {"void": ["timeout", "illegal"], "both forfeit": ["forfeit"] * 2}.get(what, [what] * 2)
    if what == "host_stall" and draw.random() < 0.5:
        guilty["host_stall"] = [loser]  # a code that no table counts
    faults = [
        FaultRow(row.id, number, seat, seats[seat], codes[seat], 1, "of the test")
        for seat in guilty.get(what, [])
    ]
    ending = "void" if what == "both forfeit" else what
    pair = number if hidden else (number + 1) // 2
    digest = draw.randrange(-3, 4)
    return GameRow(row.id, number, pair, *seats, points, ending, 4, digest, b"x"), faults


def bytes_of(what: object) -> bytes:
    return msgspec.json.encode(what)


def agree(store: Store) -> None:
    expected = bytes_of(from_all_games(store))
    assert bytes_of(standings(store)) == expected
    assert results_counted(store) == results_played(store)


def results_counted(store: Store) -> Counter[tuple[int, int, int, int]]:
    """How often each two seats had each result in each pairing, by the running counts."""
    found: Counter[tuple[int, int, int, int]] = Counter()
    rows = {row.id: row for row in PAIRINGS}
    for tallies in store.tallies():
        for each in tallies:
            for first, second, points, games in tally.results(each, rows[each[0]]):
                found[each[0], first, second, points] += games
    return found


def results_played(store: Store) -> Counter[tuple[int, int, int, int]]:
    found: Counter[tuple[int, int, int, int]] = Counter()
    for rows in store.columns():
        for pairing, _, _, first, second, points, ending, _ in rows:
            if points is not None and ending not in UNRATED:
                found[pairing, first, second, points] += 1
    return found


def begun(folder: Path, draw: random.Random) -> Store:
    spec = Spec(
        name="test",
        variants=("duel", "deck"),
        rank_by=draw.choice(["elo", "points"]),
        format=draw.choice(["round-robin", "swiss"]),
        games=30,
        advantage=draw.random() < 0.5,
        prior=draw.random() < 0.5,
    )
    values = {"name": "test", "spec": bytes_of(spec).decode(), "seed": "s", "level": "none"}
    store = Store.create(folder, values, BOTS)
    store.add_pairings(PAIRINGS)
    store.commit()
    return store


def fill(store: Store, draw: random.Random, games: int) -> Store:
    """Add games in any order, some twice, with commits, re-openings and losses in between."""
    wanted = [(row, number) for row in PAIRINGS for number in range(1, 13)]
    for _ in range(games // 3):
        batch, faults = [], []
        for row, number in draw.sample(wanted, draw.randrange(1, 9)):
            game, made = a_game(draw, row, number)
            batch.append(game)
            faults += made
        store.add_games(batch, faults)
        if draw.random() < 0.3:
            store.commit()
        if draw.random() < 0.1:
            agree(store)
        if draw.random() < 0.1:
            store.close()  # what was not committed is lost, and so is what it counted
            store = Store.open(store.folder)
    return store


def rule(store: Store, draw: random.Random) -> None:
    played = [row for rows in store.columns() for row in rows]
    for game in draw.sample(played, min(len(played), draw.randrange(5))):
        seat = draw.choice([None, 0, 1])
        what = "void" if seat is None else "award"
        store.add_ruling(RulingRow(game[0], game[1], what, seat, "seen", "Ada", "2026-11-16"))


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(0, 60))
def test_running_counts_are_those_of_all_games(seed: int, games: int) -> None:
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        store = fill(begun(Path(folder) / "t", draw), draw, games)
        agree(store)
        rule(store, draw)
        agree(store)
        store.commit()
        store.close()
        with Store.read(store.folder) as again:
            agree(again)


def without_counts(folder: Path) -> Path:
    """The folder as version 2 had it."""
    database = sqlite3.connect(folder / connect.FILE, isolation_level=None)
    for table in ("tally", "digest", "blame", "block"):
        database.execute(f"DROP TABLE {table}")
    database.execute("PRAGMA user_version = 2")
    database.close()
    return folder


def counts_in(folder: Path) -> list[object]:
    """What the tables of running counts hold; which pairing a game was new in is left out."""
    database = sqlite3.connect(folder / connect.FILE)
    columns = ", ".join(column for column in tally.COLUMNS if column != "different")
    found: list[object] = [
        database.execute(f"SELECT pairing, {columns} FROM tally ORDER BY 1").fetchall(),
        database.execute("SELECT * FROM digest ORDER BY 1, 2").fetchall(),
        database.execute("SELECT * FROM blame ORDER BY 1, 2, 3").fetchall(),
        database.execute("SELECT sum(different) FROM tally").fetchall(),
    ]
    database.close()
    return found


@pytest.mark.parametrize("seed", range(12))
def test_a_database_without_them_gets_the_same_counts(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    with fill(begun(tmp_path / "t", draw), draw, 60) as store:
        rule(store, draw)
        store.commit()
        folder = store.folder
        expected = bytes_of(from_all_games(store))
    counted = counts_in(folder)
    with Store.read(without_counts(folder)) as store:
        assert bytes_of(standings(store)) == expected
    with Store.open(folder) as store:
        assert bytes_of(standings(store)) == expected
    assert counts_in(folder) == counted
    with fill(Store.open(folder), draw, 30) as store:
        agree(store)


def test_a_chunk_that_comes_twice_counts_once(tmp_path: Path) -> None:
    draw = random.Random(5)
    made = [a_game(draw, row, number) for row in PAIRINGS for number in range(1, 31)]
    games, faults = [game for game, _ in made], [each for _, more in made for each in more]
    with begun(tmp_path, draw) as store:
        store.add_games(games, faults)
        store.commit()
        once = counts_in(tmp_path)
        assert store.add_games(games, faults) == 0
        assert store.add_games(games[::2], faults) == 0
        store.commit()
        assert counts_in(tmp_path) == once
        agree(store)


def test_no_table_reads_games_that_nobody_ruled_on(tmp_path: Path) -> None:
    meetings = [Met("a", "b", "10=1" * 5), Met("a", "c", "1101" * 5), Met("b", "c", "0=1v" * 5)]
    with Store.read(make(tmp_path, meetings)) as store:
        asked: list[str] = []
        assert isinstance(store._database, sqlite3.Connection)
        store._database.set_trace_callback(asked.append)
        standings(store)
    assert any("FROM tally" in question for question in asked)
    assert not [question for question in asked if "FROM game" in question]
    assert schema.newest(schema.STEPS) >= 3
