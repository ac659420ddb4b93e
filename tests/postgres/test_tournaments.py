"""Real tournaments with their games on a real server: killed, cut off, shared; the same tables."""

from __future__ import annotations

import json
import signal
import uuid
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from referee.bots.environment import environment
from referee.bots.manifest import find_bot
from referee.store.database import Store
from tests.arena.playing import all_gone
from tests.cli.running import each, referee
from tests.cluster.clustering import bot_folder
from tests.facts import Naming
from tests.postgres.serving import LOCKED, PASSWORD, Server
from tests.tournament.playing import SALT
from tests.tournament.test_nothing_lost import begin, hear, tables
from tests.waiting import PATIENCE_S

GAMES = 20
NAMES = ("high", "low", "middle")


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bots that take 5 ms a move, so that there is time to kill something."""
    folder = tmp_path_factory.mktemp("bots")
    for place, name in zip((-1, 0, 1), NAMES, strict=True):
        bot_folder(folder, name, place, 0.005)
    return folder


@pytest.fixture(scope="module")
def play(bots: Path) -> list[object]:
    """The words of a tournament, but for its name and where it is kept."""
    named = [word for name in NAMES for word in ("--bot", bots / name)]
    fixed = ("--variant", "underdog", "--seed", "7", "--salt", SALT, "--sandbox", "none")
    return ["tournament", *fixed, "--games", GAMES, "--name", "same", *named]


@pytest.fixture(scope="module")
def in_file(play: list[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same tournament in a file."""
    folder = tmp_path_factory.mktemp("file")
    done = referee(folder, *play, "--jobs", 2, "--out", "t")
    assert done.status == 0, done.err
    return folder / "t"


def stored(folder: Path) -> set[tuple[int, int]]:
    with Store.read(folder) as store:
        return {row[:2] for rows in store.columns() for row in rows}


def games(folder: Path) -> list[dict[str, object]]:
    """The records without what the clock says."""
    with Store.read(folder) as store:
        records = [msgspec.msgpack.decode(body) for _, _, body in store.records()]
    for record in records:
        for key in ("started", "spent_us", "cpu_us"):
            record.pop(key, None)
    return records


def test_the_same_bytes_by_folder_and_by_address(
    play: list[object], in_file: Path, postgres: Server, tmp_path: Path
) -> None:
    url = postgres.url()
    done = referee(tmp_path, *play, "--jobs", 2, "--out", "whole", "--store", url)
    assert done.status == 0, done.err
    assert tables(tmp_path / "whole") == tables(in_file)
    assert games(tmp_path / "whole") == games(in_file)
    assert not (tmp_path / "whole" / "tournament.db").exists()
    address = f"{url}#whole"
    commands: list[list[object]] = [
        ["standings", "--json", address],
        ["standings", "--json", "whole"],
        ["export", address],
        ["export", "whole"],
        ["standings", url, "--json"],
        ["standings", url],
        ["report", address],
        ["archive", address],
        ["verify", "archive-whole"],
        ["repro", address, "1-1", "--bot", "highest", "--seat", 0, "--sandbox", "none", "--json"],
        ["rule", "1-1", "void", "--reason", "x", "--folder", "whole"],
        ["standings", address],
        [*play, "--out", "elsewhere/whole", "--store", url],
    ]
    *done_all, taken = each(tmp_path, commands)
    assert [done.status for done in done_all[:9]] == [0] * 9
    tabled, tabled_here, exported, exported_here, listed, shown, *more = done_all
    assert (tabled, exported) == (tabled_here, exported_here)
    (row,) = [row for row in json.loads(listed.out) if row["name"] == "whole"]
    assert (row["address"], row["played"], row["planned"]) == (address, 3 * GAMES, 3 * GAMES)
    assert "whole" in shown.out
    reported, archived, verified, again, _, ruled = more
    assert ruled.status == 0, ruled.err
    assert (reported.out, archived.out) == ("whole.html\n", "archive-whole\n")
    assert f"{3 * GAMES} records, 0 mismatches" in verified.out
    assert json.loads(again.out)["game"] == "1-1"
    assert "Ruling: game 1-1" in ruled.out
    assert (taken.status, taken.out) == (2, "")
    told = f"already holds whole: go on with it by --resume elsewhere/whole --store {address}"
    assert told in taken.err


def test_killed_and_the_server_too(
    play: list[object], in_file: Path, postgres: Server, tmp_path: Path
) -> None:
    folder, mark = tmp_path / "killed", uuid.uuid4().hex
    more = ("--jobs", 2, "--out", "killed", "--store", postgres.url())
    process = begin(tmp_path, mark, *play, *more)
    hear(process, 5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    all_gone(mark)
    kept = stored(folder)
    again = begin(tmp_path, mark, "tournament", "--resume", "killed")
    hear(again, 10)
    postgres.stop(at_once=True)
    _, err = again.communicate(timeout=PATIENCE_S)
    assert again.returncode == 3
    (told,) = [line for line in err.decode().splitlines() if line.startswith("referee: ")]
    assert told.startswith("referee: the connection to postgresql://")
    assert told.endswith("every game that was committed is safe, and the tournament can be resumed")
    all_gone(mark)
    away = referee(tmp_path, "tournament", "--resume", "killed")
    assert (away.status, away.out) == (3, "")
    assert "cannot be reached" in away.err
    postgres.start()
    assert kept <= (now := stored(folder))
    assert len(now) < 3 * GAMES
    done = referee(tmp_path, "tournament", "--resume", "killed")
    assert done.status == 0, done.err
    assert tables(folder) == tables(in_file)
    assert games(folder) == games(in_file)


def test_two_at_once_and_whoever_reads(postgres: Server, tmp_path: Path) -> None:
    mark, address = uuid.uuid4().hex, f"{postgres.url()}#shared"
    slow = [word for at in (0, 1) for word in ("--bot", bot_folder(tmp_path, f"b{at}", at, 0.02))]
    more = ("--games", 100_000, "--jobs", 1, "--sandbox", "none", "--out", "t", "--store", address)
    process = begin(tmp_path, mark, "tournament", *slow, *more)
    try:
        hear(process, 1)
        second = referee(tmp_path, "tournament", "--resume", "elsewhere", "--store", address)
        assert (second.status, second.out) == (2, "")
        assert second.err == Naming("#shared", f"process {process.pid} on ")
        assert not (tmp_path / "elsewhere").exists()
        looked_at = referee(tmp_path, "standings", address)
        assert looked_at.status == 0, looked_at.err
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert b"go on with: referee tournament --resume t\n" in err
    finally:
        process.kill()
        process.communicate()
    all_gone(mark)
    Store.open(tmp_path / "t").close()


def test_on_a_cluster(play: list[object], in_file: Path, postgres: Server, tmp_path: Path) -> None:
    more = ("--cluster", "local", "--jobs", 2, "--out", "t", "--store", f"{postgres.url()}#dask")
    done = referee(tmp_path, *play, *more)
    assert done.status == 0, done.err
    assert tables(tmp_path / "t") == tables(in_file)


def test_a_password_stays_out_of_files_and_bots(
    play: list[object], postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres.connect() as connection:
        connection.execute(f"GRANT CREATE ON DATABASE referee TO {LOCKED}")
    url = postgres.url(LOCKED)
    secret = quote(PASSWORD, safe="")
    given = url.replace("@", f":{secret}@", 1)
    some = (*play, "--games", 2, "--out", "t")
    refused, done = each(tmp_path, [[*some, "--store", url], [*some, "--store", f"{given}#secret"]])
    assert (refused.status, refused.out) == (3, "")
    assert "PGPASSWORD tells the password" in refused.err
    assert done.status == 0, done.err
    assert "The password is not kept" in done.err
    for path in tmp_path.rglob("*"):
        for written in (secret, PASSWORD):
            assert path.is_dir() or written.encode() not in path.read_bytes()
    shown = referee(tmp_path, "standings", "t", PGPASSWORD=PASSWORD)
    assert shown.status == 0, shown.err
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert "PGPASSWORD" not in environment(find_bot("highest"))
