"""Files of every kind: found out by their content, packed or not, several together."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from referee.results.blocks import BadResults
from referee.results.reading import looks_like, read_results
from tests.records import fields, games
from tests.results.reading import pairs, told

CSV = b"pair,a,b,result\n1,x,y,1-0\n1,y,x,1-0\n"
PGN = b'[White "x"]\n[Black "z"]\n[Result "0-1"]\n\n0-1\n'


@pytest.fixture
def record() -> bytes:
    return json.dumps(fields(games("underdog")[0])).encode() + b"\n"


def test_the_kind_is_seen_in_the_content(record: bytes) -> None:
    kinds = {
        CSV: "csv",
        b"a,b,1-0\n": "csv",
        b"[a],b,1-0\n": "csv",
        b"{a},b,1-0\n": "csv",
        b"": "csv",
        PGN: "pgn",
        b"\r\n% x\r\n; y\r\n" + PGN: "pgn",
        record: "records",
        b"\n " + record: "records",
    }
    for data, kind in kinds.items():
        assert looks_like(data) == kind, data[:40]


def test_the_suffix_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "games.csv").write_bytes(PGN)
    assert told(read_results([str(tmp_path / "games.csv")]).games) == [("x", "z", 0)]


def test_several_files_are_one_set_of_games(tmp_path: Path, record: bytes) -> None:
    paths = []
    for name, data in {"1": CSV, "2": PGN, "3": gzip.compress(CSV), "4": record}.items():
        (tmp_path / name).write_bytes(data)
        paths.append(str(tmp_path / name))
    found, _ = read_results(paths)
    assert told(found)[:5] == [
        *[("x", "y", 2), ("y", "x", 2), ("x", "z", 0)],
        *[("x", "y", 2), ("y", "x", 2)],
    ]
    assert pairs(found) == [0, 0, None, 1, 1, 2]
    assert found.players == sorted(["x", "y", "z", *games("underdog")[0].players])


def test_the_order_of_files_does_not_show_in_the_players(tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(CSV)
    (tmp_path / "2").write_bytes(PGN)
    paths = [str(tmp_path / "1"), str(tmp_path / "2")]
    assert read_results(paths).games.players == read_results(paths[::-1]).games.players


def refused(path: Path, kind: str | None = None) -> str:
    with pytest.raises(BadResults) as bad:
        read_results([str(path)], kind)  # type: ignore[arg-type]
    return str(bad.value).replace(str(path), path.name)


def test_what_is_refused_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "games"
    assert refused(path) == "games: no such file"
    assert refused(tmp_path) == f"{tmp_path.name}: a folder, where a file is due"
    path.write_bytes(b"a,b,1-1\n")
    assert refused(path).startswith('games, line 1: result "1-1" is none of')
    path.write_bytes(gzip.compress(b"a,b,1-1\n"))
    assert refused(path).startswith('games, line 1: result "1-1" is none of')
    path.write_bytes(gzip.compress(CSV)[:-5])
    assert refused(path).startswith("games: damaged gzip data (")
    path.write_bytes(b"\x1f\x8b" + CSV)
    assert refused(path).startswith("games: damaged gzip data (")
    path.write_bytes(gzip.compress(CSV)[:20] + b"x" * 20)
    assert refused(path).startswith("games: damaged gzip data (")


def test_a_kind_that_is_asked_for_is_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "games"
    path.write_bytes(CSV)
    assert refused(path, "records").startswith("games, line 1: not JSON")
    assert refused(path, "pgn").startswith("games, line 1: moves, ")
    path.write_bytes(PGN)
    assert refused(path, "csv").startswith("games, line 1: 1 column, where")
