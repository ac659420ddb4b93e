"""The store that the benchmark fills is that of a tournament."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchmarks.archive import played
from benchmarks.store import fill, pairs_of
from referee.reports.standings import read_standings, standings
from referee.store.database import Store
from tests.reports.all_games import from_all_games


def test_a_store_of_its_rows_is_a_tournament(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    bodies = [msgspec.msgpack.encode(record) for record in played("underdog", 20)]
    found = fill(folder, 3000, pairs_of(4, None), 4, bodies)
    assert found["games"] == read_standings(folder).played == 3000
    with Store.read(folder) as store:
        assert standings(store) == from_all_games(store)
