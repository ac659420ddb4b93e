"""The benchmark of the store runs and says what it promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from referee.reports.standings import read_standings, standings
from referee.store.database import Store
from tests.reports.all_games import from_all_games

BENCH = Path(__file__).parent.parent / "benchmarks" / "store.py"


def test_a_store_of_its_rows_is_a_tournament(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    words = ("--games", "3000", "--bots", "4", "--keep", str(folder))
    command = [sys.executable, str(BENCH), *words]
    output = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    figures = json.loads(output.splitlines()[-1])
    assert figures["games"] == read_standings(folder).played == 3000
    for name in ("write_us", "bytes_a_game", "standings_s", "standings_json_s", "record_us"):
        assert figures[name] > 0
    with Store.read(folder) as store:
        assert standings(store) == from_all_games(store)
