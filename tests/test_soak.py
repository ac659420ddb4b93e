"""A short soak holds at the best level that this machine offers, and a soak sees what does not."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from referee.bots.confinement.probe import EVERYWHERE
from referee.tournament.begin import play_tournament
from referee.tournament.spec import Spec
from soak import checks
from soak.books import Account, Books, account
from soak.checks import Check
from soak.field import Entrant, Field
from soak.playing import Ended
from soak.run import Report, keep
from soak.watching import Sample, Watch, family, is_there, left_of
from tests.facts import Naming

ROOT = Path(__file__).parents[1]
PATIENCE_S = 400
pytestmark = pytest.mark.skipif(not is_there(), reason="there is no /proc to look at")


@pytest.mark.slow
def test_a_short_soak_holds() -> None:
    # A clock that no honest bot misses on a busy machine; a soak of minutes has a shorter one.
    words = ["--seconds", "8", "--bots", "7", "--games", "4", "--time", "2s", "--seed", "3"]
    env = {name: value for name, value in os.environ.items() if name != EVERYWHERE}
    done = subprocess.run(
        [sys.executable, str(ROOT / "soak" / "run.py"), *words, "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**env, "PYTHONPATH": str(ROOT)},
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert [check for check in report["checks"] if not check["held"]] == []
    assert (done.returncode, done.stderr, report["held"]) == (0, "", True)
    assert {"SIGINT", "SIGTERM", "SIGKILL"} <= report["runs"].keys()
    assert report["games"] == report["records"]["records"] > 0
    assert [len(names) for names in report["bots"].values()] == [3, 2, 2]
    assert not Path(report["folder"] or "nowhere").exists()


def test_what_does_not_hold_is_kept_with_its_report(tmp_path: Path) -> None:
    report = Report(
        held=False,
        seconds=1.0,
        level="none",
        seed="s",
        bots={},
        games=0,
        games_of={},
        endings={},
        runs={"SIGKILL": 1},
        longest_ending_s=0.0,
        most_processes=1,
        most_fds={},
        most_threads={},
        peak_kb={},
        database_kb=1,
        records={},
        checks=[Check("files", False, "one is left")],
        folder=str(tmp_path),
    )
    keep(report, ["soak: 1 s at level none, seed s"], tmp_path)
    assert msgspec.json.decode((tmp_path / "report.json").read_bytes(), type=Report) == report
    lines = (tmp_path / "report.txt").read_text().splitlines()
    assert lines[0] == "soak: 1 s at level none, seed s"
    assert "FAIL  files: one is left" in lines
    assert lines[-1] == f"something does not hold; see {tmp_path}"


def test_a_level_that_is_not_there_is_named() -> None:
    command = [sys.executable, "-m", "soak.run", "--seconds", "1"]
    env = {**os.environ, EVERYWHERE: "fort"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == Naming("soak: ", "level 'fort'")


# The soak's own eyes.


def sample(at_s: float, role: Any = "coordinator", pid: int = 1, **values: int) -> Sample:
    usual = {"fds": 10, "threads": 1, "rss_kb": 40_000, "peak_kb": 50_000, "unreaped": 0}
    return Sample(at_s=at_s, role=role, pid=pid, playing=True, **{**usual, **values})


def failed(found: Iterator[Check]) -> list[str]:
    return [check.name for check in found if not check.held]


@pytest.mark.parametrize(
    ("field", "step", "name"),
    [
        ("fds", 1, "descriptors"),
        ("threads", 1, "threads"),
        ("rss_kb", 1024, "memory in kB"),
        ("unreaped", 1, "unreaped children"),
    ],
)
def test_growth_is_seen(field: str, step: int, name: str) -> None:
    for role in ("coordinator", "worker"):
        steady = [sample(at_s, role) for at_s in range(100)]
        assert failed(checks.no_growth(steady, last_run_s=50)) == []
        growing = [sample(at_s, role, **{field: at_s * step}) for at_s in range(100)]
        assert failed(checks.no_growth(growing, last_run_s=0)) == [name]


def test_growth_from_run_to_run_is_seen() -> None:
    runs = [sample(at_s, pid=at_s // 10, fds=at_s // 10 * 5) for at_s in range(100)]
    assert failed(checks.no_growth(runs, last_run_s=90)) == ["descriptors"]


def test_a_process_that_is_too_large_is_seen() -> None:
    samples = [sample(1), sample(2, "worker", peak_kb=300_000)]
    assert checks.small_enough(samples[:1]).held
    assert checks.small_enough(samples).told == "worker 300000 kB"


@contextmanager
def sleeping(*words: str, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", "import time; time.sleep(600)", *words]
    with subprocess.Popen(command, env={**os.environ, **env}) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_process_that_is_left_is_seen() -> None:
    mark = uuid.uuid4().hex
    with sleeping(mark) as by_word, sleeping(SOAK=mark) as by_environment, sleeping() as by_birth:
        before = family(by_birth.pid)
        assert before.keys() == {by_birth.pid}
        assert left_of({}, mark).keys() == {by_word.pid, by_environment.pid}
        assert left_of(before, mark).keys() == {by_word.pid, by_environment.pid, by_birth.pid}
    assert left_of(before, mark) == {}
    ended = Ended(by="SIGKILL", ending_s=0.1, gone_s=9.0, left=["7: sleep 60"], trouble=[])
    assert checks.nobody_left([ended]).told == "after SIGKILL: 7: sleep 60"


def test_a_run_that_ends_badly_is_seen() -> None:
    ended = Ended(by="itself", ending_s=0.0, gone_s=0.0, left=[], trouble=["status 4"])
    assert not checks.ended_well([ended]).held


def test_processes_are_looked_at() -> None:
    watch = Watch(0.0)
    watch.look(os.getpid(), playing=True)
    (own,) = [each for each in watch.samples if each.role == "coordinator"]
    assert own.pid == os.getpid()
    assert own.fds >= 3
    assert own.threads >= 1
    assert own.peak_kb >= own.rss_kb > 1000
    with sleeping():
        watch.look(os.getpid(), playing=True)
    assert watch.most_processes >= 1


def test_files_that_are_left_are_seen(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    builds = tmp_path / "cache/referee/builds"
    for name in ("tmp/referee-0-core-1.lock", "tournament/tournament.db-wal", "tournament/.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (builds / "whole").mkdir(parents=True)
    for ending in ("whole", "lock", "log"):
        (builds / f"whole.{ending}").touch()
    assert checks.no_files_left(tmp_path, mark).held
    for name in ("tmp/tmpabc", "cache/referee/builds/half", "tournament/core"):
        (tmp_path / name).touch()
        assert checks.no_files_left(tmp_path, mark).told == str(tmp_path / name)
        (tmp_path / name).unlink()


def test_a_log_that_is_too_long_is_seen(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "underdog" / "bad.stderr.txt"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"x" * 1000)
    assert checks.logs_are_short(tmp_path).held
    log.write_bytes(b"x" * 1_000_000)
    assert checks.logs_are_short(tmp_path).told == "bad.stderr.txt: 1000000 bytes"


@pytest.fixture
def played(tmp_path: Path) -> Path:
    spec = Spec(name="t", variants=("underdog",), bots=("highest", "lowest"), games=4)
    play_tournament(spec, tmp_path / "tournament")
    return tmp_path / "tournament"


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "tournament.db")) as database, database:
        database.execute(statement)


def test_the_books_are_compared(played: Path) -> None:
    games = [f"1-{number}" for number in range(1, 5)]
    books = Books(played)
    books.compare(games, games)
    assert books.trouble == []
    books.compare(["1-2"], [])
    books.compare([], ["1-5"])
    change(played, "UPDATE record SET body = x'00' WHERE id = 1 << 32 | 3")
    books.compare([], [])
    change(played, "DELETE FROM record WHERE id = 1 << 32 | 4")
    books.compare([], [])
    assert books.trouble == [
        "1 games played again, though they were in the database: 1-2",
        "1 games told of, and not in the database: 1-5",
        "1 games changed since they were written: 1-3",
        "1 games once in the database, and no longer: 1-4",
    ]


def test_the_database_is_read(played: Path) -> None:
    counted = account(played)
    assert (counted.games, counted.planned, counted.trouble) == (4, 4, [])
    assert counted.games_of == {"highest": 4, "lowest": 4}
    assert checks.books_hold(counted, [], {"played": 4}).held
    assert not checks.books_hold(counted, [], {"played": 3}).held
    assert not checks.books_hold(counted, ["lost"], {"played": 4}).held
    check, figures = checks.records_hold(played.parent, os.environ)
    assert (check.held, figures["judged"]) == (True, 4)
    change(played, "DELETE FROM game WHERE id = 1 << 32 | 4")
    assert account(played).trouble == ["1 records without a game"]


def test_a_record_that_does_not_hold_is_seen(played: Path) -> None:
    with closing(sqlite3.connect(played / "tournament.db")) as database, database:
        (body,) = database.execute("SELECT body FROM record WHERE id = 1 << 32 | 2").fetchone()
        wrong = body.replace(b"\xa6winner\x00", b"\xa6winner\x01")
        wrong = wrong if wrong != body else body.replace(b"\xa6winner\x01", b"\xa6winner\x00")
        assert wrong != body
        database.execute("UPDATE record SET body = ? WHERE id = 1 << 32 | 2", (wrong,))
    check, _ = checks.records_hold(played.parent, os.environ)
    assert not check.held
    assert check.told.startswith("game 1-2: ")


def test_a_fault_of_an_honest_bot_is_seen() -> None:
    field = [Entrant("good", "honest", Path()), Entrant("bad", "broken", Path())]
    counted = Account(
        games=2,
        planned=2,
        endings={"crash": 1, "rules": 1},
        faults={"bad": {"crash": 1}},
        games_of={"good": 2, "bad": 2},
        trouble=[],
    )
    assert checks.honest_are_blameless(field, counted).held
    counted.faults["good"] = {"timeout": 1}
    assert checks.honest_are_blameless(field, counted).told == "good: {'timeout': 1}"
    del counted.faults["good"]
    counted.endings["referee_error"] = 1
    assert not checks.honest_are_blameless(field, counted).held


def test_a_victim_that_is_gone_is_seen() -> None:
    with sleeping() as victim:
        assert checks.lives(victim).held
        victim.send_signal(signal.SIGTERM)
        victim.wait()
        assert not checks.lives(victim).held


@pytest.mark.parametrize("level", ["standard", "none"])
def test_who_plays(level: str, tmp_path: Path) -> None:
    values = dict.fromkeys(
        ("opponent", "database", "logs", "neighbour", "secret", "victims"), "x"
    ) | dict.fromkeys(("tcp", "udp", "abstract", "path"), "9")
    field = Field(tmp_path, level, "mark", None, values).make(1000, Random(1))
    names = [entrant.name for entrant in field]
    assert len({*names}) == len(names) > 40
    for entrant in field:
        assert "mark" in (entrant.folder / "bot.toml").read_text()
    # What could do harm to others plays only where it is confined.
    assert ("spy" in names) == (level == "standard")
