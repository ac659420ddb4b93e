"""The same games in a file and on a server: whatever is asked, the answers are the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.store import schema
from referee.store.browsing import last_numbers, met_by, newest_records, records_of
from referee.store.database import BadStore, Store
from referee.store.oldest import oldest_records
from referee.store.place import read_address
from referee.store.rows import FaultRow, GameRow, RulingRow, game_id
from referee.store.tally import COUNTED
from tests.postgres.serving import Server
from tests.store.sample import BOTS, PAIRINGS, VALUES, record

NAME = "alike"
ENDINGS = ("rules", "rules", "rules", "timeout", "forfeit", "void")

QUESTIONS: dict[str, Callable[[Store], object]] = {
    "bots": Store.bots,
    "pairings": Store.pairings,
    "counts": Store.counts,
    "played": lambda store: [store.played(row.id) for row in PAIRINGS],
    "columns": lambda store: [row for rows in store.columns() for row in rows],
    "columns of one": lambda store: [row for rows in store.columns(2) for row in rows],
    "records": lambda store: list(store.records()),
    "records of one": lambda store: list(store.records(3)),
    "faults": lambda store: list(store.faults()),
    "faults of one": lambda store: list(store.faults(1)),
    "tallies": lambda store: [row for rows in store.tallies() for row in rows],
    "blame": lambda store: list(store.blame()),
    "times": lambda store: list(store.times()),
    "rulings": Store.rulings,
    "dropped": Store.dropped,
    "met": lambda store: met_by(store, [1, 2, 3], None),
    "met in a variant": lambda store: met_by(store, [1, 2, 3], "underdog"),
    "last": last_numbers,
    "newest": lambda store: newest_records(store, 1, 40, above=3, below=190),
    "some": lambda store: records_of(store, [(1, 1), (2, 130), (3, 7), (3, 999)]),
    "oldest": lambda store: [key for _, key, _ in oldest_records(store)],
}


def fill(store: Store) -> None:
    """Random games in a random order, with repeats, in several commits; all by one seed."""
    draw = random.Random(4)
    store.add_pairings(PAIRINGS)
    for row in PAIRINGS:
        store.set_games(row.id, 300)
    left = [(row, number) for row in PAIRINGS for number in range(1, 301)]
    draw.shuffle(left)
    while len(left) > 100:
        some = [left.pop() for _ in range(50)] + draw.sample(left, 10)
        games, faults = [], []
        for row, number in some:
            seats = (row.first, row.second) if number % 2 else (row.second, row.first)
            ending = draw.choice(ENDINGS)
            points = None if ending == "void" else draw.choice((0, 1, 2))
            times = draw.choices(range(3000), k=4), draw.choices(range(90), k=3)
            digest = draw.choice((draw.getrandbits(64) - (1 << 63), 5))
            body = record(f"{row.id}-{number} ".encode() * 9, times)
            told = (row.id, number, (number + 1) // 2, *seats, points, ending, 7, digest, body)
            games.append(GameRow(*told))
            if ending == "timeout":
                code = draw.choice(sorted(COUNTED))
                faults.append(FaultRow(row.id, number, 1, seats[1], code, 3, "höher, 100 %s"))
        store.add_games(games, faults)
        if draw.random() < 0.5:
            store.commit()
    there = [key for rows in store.columns() for key in (each[:2] for each in rows)]
    for pairing, number in draw.sample(there, 5):
        store.add_ruling(RulingRow(pairing, number, "void", None, "x", "Ada", "now"))
    pairing, number = there[0]
    store.add_ruling(RulingRow(pairing, number, "award", 1, "y", "Ada", "later"))
    store.drop_records([(game_id(*key), "2026") for key in draw.sample(there, 30)])
    store.set_bot(BOTS[1])
    store.commit()


def test_the_answers_are_the_same(postgres: Server, tmp_path: Path) -> None:
    address = f"{postgres.url()}#{NAME}"
    with (
        Store.create(tmp_path / "file", VALUES, BOTS) as file,
        Store.create(tmp_path / "server", VALUES, BOTS, read_address(address)) as server,
    ):
        fill(file)
        fill(server)
        with Store.read(address) as reader:
            for name, ask in QUESTIONS.items():
                assert ask(server) == ask(file), name
                assert ask(reader) == ask(file), name
    postgres.forget(NAME)


def test_an_older_one_is_brought_up_to_date_by_whoever_writes(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = tmp_path / "old", read_address(f"{postgres.url()}#old")
    Store.create(folder, VALUES, BOTS, address).close()
    step = ["ALTER TABLE value ADD COLUMN note TEXT", "UPDATE value SET note = text || '!'"]
    monkeypatch.setattr(schema, "STEPS", [*schema.STEPS, step])
    newest = schema.newest(schema.STEPS)
    with pytest.raises(BadStore, match=rf"is of version {newest - 1}, .*--resume"):
        Store.read(folder)
    Store.open(folder).close()
    with Store.read(folder) as store:
        assert store._first("SELECT note FROM value WHERE key = 'name'", ()) == ("three!",)
        assert store._first("SELECT version FROM referee", ()) == (newest,)
    monkeypatch.setattr(schema, "STEPS", [*schema.STEPS, ["UPDATE nothing SET a = 1"]])
    with pytest.raises(BadStore, match="nothing"):
        Store.open(folder)
    with postgres.connect() as connection:
        row = connection.execute("SELECT version FROM old.referee").fetchone()
    assert row == (newest,)
    postgres.forget("old")


def test_one_that_is_taken_away_is_missed(postgres: Server, tmp_path: Path) -> None:
    folder, address = tmp_path / "gone", read_address(f"{postgres.url()}#gone")
    with Store.create(folder, VALUES, BOTS, address) as store:
        postgres.forget("gone")
        with pytest.raises(BadStore, match="#gone is not there any more"):
            store.add_pairings(PAIRINGS)
    with pytest.raises(BadStore, match="holds no tournament gone"):
        Store.open(folder)
