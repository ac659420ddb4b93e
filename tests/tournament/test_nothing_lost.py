"""Real tournaments that are killed, interrupted, resumed and extended: the table is the same."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from referee.store.database import Store
from tests.arena.playing import MARK, all_gone
from tests.cli.running import environment, referee
from tests.forking import COMMAND, MAIN, Forked
from tests.once import once
from tests.tournament.playing import SALT
from tests.waiting import PATIENCE_S

KILLS = 20
TABLES = ("standings.md", "standings.csv", "standings.json", "crosstable.csv")
PLAY = [
    *("tournament", "--variant", "underdog", "--variant", "deck", "--name", "same", "--seed", "7"),
    *("--salt", SALT),
    *("--bot", "highest", "--bot", "lowest", "--bot", "random"),
    # One game at a time, so that it lasts for seconds: games are committed once a second.
    *("--at-once", "1", "--time", "60s"),
]
GAMES = 500
ALL = 6 * GAMES
"""Three pairings in two variants."""


def tables(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in TABLES}


def games(folder: Path) -> list[dict[str, Any]]:
    """The records without what the clock says."""
    done = referee(folder.parent, "export", folder)
    assert (done.status, done.err) == (0, "")
    records = [json.loads(line) for line in done.out.splitlines()]
    for record in records:
        for key in ("started", "spent_us", "cpu_us"):
            del record[key]
    return records


def begin(folder: Path, mark: str, *words: object) -> subprocess.Popen[bytes]:
    return Forked(
        COMMAND,
        MAIN,
        *(*words, "--events", "-"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(**{MARK: mark}),
    )


def hear(process: subprocess.Popen[bytes], count: int) -> None:
    """Read events until so many games have been told of."""
    assert process.stdout is not None
    while count > 0:
        line = process.stdout.readline()
        assert line, process.stderr and process.stderr.read()
        count -= line.startswith(b'{"event":"game"')


def stored(folder: Path) -> set[tuple[int, int]]:
    if not (folder / "tournament.db").exists():
        return set()
    with Store.read(folder) as store:
        return {row[:2] for rows in store.columns() for row in rows}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same tournament, played in one go by one worker."""

    def play(folder: Path) -> None:
        words = [*PLAY, "--games", GAMES, "--jobs", 1, "--out", "t"]
        done = referee(folder, *words, PYTHONHASHSEED="1")
        assert done.status == 0, done.err

    return once(tmp_path_factory, "uninterrupted", play) / "t"


def test_four_workers_give_the_same_bytes(uninterrupted: Path, tmp_path: Path) -> None:
    # What depends on the order of a set would be another for another seed of hashes.
    words = [*PLAY, "--games", GAMES, "--jobs", 4, "--out", "t"]
    done = referee(tmp_path, *words, PYTHONHASHSEED="2")
    assert done.status == 0, done.err
    assert tables(tmp_path / "t") == tables(uninterrupted)
    assert games(tmp_path / "t") == games(uninterrupted)


def test_killed_twenty_times(uninterrupted: Path, tmp_path: Path) -> None:
    chance = random.Random(20)
    folder = tmp_path / "t"
    mark = uuid.uuid4().hex
    kept: set[tuple[int, int]] = set()
    in_the_middle = 0
    for kill in range(KILLS):
        words: list[object]
        if (folder / "tournament.db").exists():
            words = ["tournament", "--resume", "t", "--jobs", 1 + kill % 3]
        else:
            words = [*PLAY, "--games", GAMES, "--jobs", 2, "--out", "t"]
        process = begin(tmp_path, mark, *words)
        if kill % 4 == 0:
            time.sleep(chance.uniform(0.0, 1.5))
        elif kill % 4 == 1:
            assert process.stdout is not None
            while len(stored(folder)) == len(kept) and process.stdout.readline():
                pass
        else:
            hear(process, chance.randint(1, 40))
            time.sleep(chance.choice((0.0, 0.0, 0.3, 1.1)))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        all_gone(mark)
        now = stored(folder)
        assert kept <= now, "what was committed is there for good"
        kept = now
        in_the_middle += 0 < len(kept) < ALL
        if len(kept) > ALL * 5 / 6:
            break
    assert in_the_middle
    done = referee(tmp_path, "tournament", "--resume", "t")
    assert done.status == 0, done.err
    assert tables(folder) == tables(uninterrupted)
    assert games(folder) == games(uninterrupted)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_and_resumed(
    number: int, status: int, uninterrupted: Path, tmp_path: Path
) -> None:
    mark = uuid.uuid4().hex
    process = begin(tmp_path, mark, *PLAY, "--games", GAMES, "--jobs", 2, "--out", "t")
    hear(process, 50)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == status
    assert b"go on with: referee tournament --resume t\n" in err
    all_gone(mark)
    assert 50 <= len(stored(tmp_path / "t")) < ALL, "what was told of is kept"
    done = referee(tmp_path, "tournament", "--resume", "t")
    assert done.status == 0, done.err
    assert tables(tmp_path / "t") == tables(uninterrupted)


def test_more_games_extend_it(uninterrupted: Path, tmp_path: Path) -> None:
    """Before its end, as if it had been begun with them."""
    mark = uuid.uuid4().hex
    process = begin(tmp_path, mark, *PLAY, "--games", GAMES - 2, "--jobs", 2, "--out", "t")
    hear(process, 30)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    played = stored(tmp_path / "t")
    assert 30 <= len(played) < ALL - 12
    done = referee(tmp_path, "tournament", "--resume", "t", "--games", GAMES)
    assert done.status == 0, done.err
    assert played < stored(tmp_path / "t")
    assert tables(tmp_path / "t") == tables(uninterrupted)
    again = referee(tmp_path, "tournament", "--resume", "t")
    assert again.status == 0
    assert "0 games in" in again.out, "nothing is left to play"
    fewer = referee(tmp_path, "tournament", "--resume", "t", "--games", 20)
    assert (fewer.status, fewer.out) == (2, "")
    assert f"games was {GAMES} and is 20" in fewer.err


def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    process = begin(tmp_path, mark, *PLAY, "--games", 100_000, "--out", "t")
    try:
        hear(process, 1)
        second = referee(tmp_path, "tournament", "--resume", "t")
        assert second.status == 2
        assert f"process {process.pid}" in second.err
        looked_at = referee(tmp_path, "standings", "t")
        assert looked_at.status == 0, looked_at.err
    finally:
        process.kill()
        process.communicate()
    all_gone(mark)
    again = begin(tmp_path, mark, "tournament", "--resume", "t")
    hear(again, 1)
    again.send_signal(signal.SIGINT)
    again.communicate(timeout=PATIENCE_S)
    assert again.returncode == 130, "the lock went with its process"


def test_a_folder_that_holds_one_is_refused(uninterrupted: Path) -> None:
    before = stored(uninterrupted)
    done = referee(uninterrupted.parent, *PLAY, "--out", "t")
    assert (done.status, done.out) == (2, "")
    assert "--resume" in done.err
    assert stored(uninterrupted) == before


def test_what_has_changed_is_named(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(
            f'name = "{name}"\ncommand = ["python3", "bot.py"]\n'
        )
        (tmp_path / name / "bot.py").write_text(
            "import json, sys\n"
            "for line in sys.stdin:\n"
            "    m = json.loads(line)\n"
            "    if m['type'] == 'hello': print('{\"type\":\"hello\"}', flush=True)\n"
            "    if m['type'] == 'turn':\n"
            "        print(json.dumps({'id': m['id'], 'move': m['legal'][0]}), flush=True)\n"
        )
    words = ["tournament", "--bot", "one", "--bot", "two", "--games", 2, "--out", "t"]
    assert referee(tmp_path, *words).status == 0
    with (tmp_path / "two" / "bot.py").open("a") as file:
        file.write("# improved\n")
    (elsewhere := tmp_path / "elsewhere").mkdir()
    changed = referee(elsewhere, "tournament", "--resume", tmp_path / "t", "--games", 4)
    assert (changed.status, changed.out) == (2, "")
    assert "the bot two has changed" in changed.err
    assert "one" not in changed.err
    spec = referee(tmp_path, "tournament", "--resume", "t", "--time", "5s")
    assert (spec.status, spec.out) == (2, "")
    assert "time was 1s and is 5s" in spec.err
    allowed = referee(
        elsewhere, *("tournament", "--resume", tmp_path / "t", "--games", 4, "--allow-changes")
    )
    assert allowed.status == 0, allowed.err
    assert len(stored(tmp_path / "t")) == 4
    (tmp_path / "one").rename(tmp_path / "uno")
    lost = referee(tmp_path, "tournament", "--resume", "t", "--games", 6)
    assert (lost.status, lost.out) == (2, "")
    assert "one" in lost.err
