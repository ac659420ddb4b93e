"""Old records are found in the order of time, and go without the results of their games."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.daemon.dropping import too_old
from referee.reports.archive.make import Wish, make_archive
from referee.reports.standings import read_standings
from referee.reports.tables.notes import closing_notes
from referee.store.database import Store
from referee.store.house.rows import Keep
from referee.store.oldest import oldest_records, used_bytes
from tests.records import games
from tests.reports.stored import make_real

START = datetime(2026, 11, 1, tzinfo=UTC)
GAMES = 300


def day(number: int) -> str:
    return (START + timedelta(days=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three pairings that were played in turn, a game a day."""
    (record, *_) = games("underdog")
    names = [("a", "b"), ("a", "c"), ("b", "c")]
    return make_real(
        tmp_path / "t",
        {
            pair: [
                replace(
                    record,
                    players=pair,
                    game=f"{at + 1}-{n + 1}",
                    started=day(3 * n + at),
                    notes={"0": random.Random(3 * n + at).randbytes(300).hex()},
                )
                for n in range(GAMES // 3)
            ]
            for at, pair in enumerate(names)
        },
    )


def test_the_oldest_come_first(folder: Path) -> None:
    with Store.read(folder) as store:
        found = list(oldest_records(store))
    assert [started for started, _, _ in found] == [day(number) for number in range(GAMES)]
    assert len({key for _, key, _ in found}) == GAMES


def test_by_age_and_by_size(folder: Path) -> None:
    now = START + timedelta(days=GAMES)
    assert too_old(folder, Keep(), now) == []
    assert [at for _, at in too_old(folder, Keep(days=GAMES - 2), now)] == [day(0), day(1)]
    with Store.read(folder) as store:
        used = used_bytes(store)
        (_, _, size), *_ = oldest_records(store)
    assert too_old(folder, Keep(bytes=used), now) == []
    found = too_old(folder, Keep(bytes=used - 1), now)
    assert len(found) == pytest.approx(0.05 * used / size, abs=2)
    assert found[0][1] == day(0)


def test_results_stay_and_it_is_said(folder: Path, tmp_path: Path) -> None:
    before = read_standings(folder)
    assert before.dropped is None
    with Store.open(folder) as store:
        old = too_old(folder, Keep(days=250), START + timedelta(days=GAMES))
        store.drop_records(old[:20])
        store.drop_records(old[20:])
        store.commit()
        assert len(list(store.records())) == 250
        assert store.add_games([]) == 0
    after = read_standings(folder)
    assert after.dropped is not None
    assert (after.dropped.games, after.dropped.last) == (50, day(49))
    assert msgspec.json.encode(after.tables) == msgspec.json.encode(before.tables)
    told = "The records of 50 games, the last of them of 2026-12-20, are no longer kept; "
    assert any(note.startswith(told) for note in closing_notes(after))
    made = make_archive(folder, tmp_path / "out", Wish())
    assert (made.games, made.records) == (GAMES, 250)
    assert "The records of 50 games" in (tmp_path / "out/README.txt").read_text()


def test_what_was_not_committed_is_not_dropped(folder: Path) -> None:
    with Store.open(folder) as store:
        store.drop_records(too_old(folder, Keep(days=1), START + timedelta(days=9)))
    with Store.read(folder) as store:
        assert len(list(store.records())) == GAMES
        assert store.dropped() is None
