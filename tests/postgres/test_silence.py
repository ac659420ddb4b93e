"""A server that stands still while its machine answers for it: every wait has an end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from referee.store.database import Store
from referee.store.place import read_address
from referee.store.postgres import server, waiting
from referee.store.postgres.trouble import StoreLost
from tests.arena.playing import MARK, all_gone
from tests.cli.running import REFEREE, environment, referee
from tests.cluster.clustering import bot_folder
from tests.postgres.serving import Server
from tests.store.sample import BOTS, PAIRINGS, VALUES, games
from tests.tournament.test_nothing_lost import hear
from tests.waiting import PATIENCE_S, wait_for

GAMES = 100
NO_ANSWER = "the server has not answered for"
SHORT_S = 8
"""Longer than a signal is held back."""
IMPATIENT = f"""
from referee.cli import main
from referee.store.postgres.waiting import Connection

Connection.patience_s = {SHORT_S}
main()
"""


@contextlib.contextmanager
def frozen(postgres: Server, pid: int) -> Iterator[None]:
    """The session of this process, standing still."""
    with postgres.connect() as connection:
        named = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE %s"
        ((backend,),) = connection.execute(named, (f"referee, process {pid} on %",)).fetchall()
    assert isinstance(backend, int)
    os.kill(backend, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(backend, signal.SIGCONT)


@contextlib.contextmanager
def playing(postgres: Server, folder: Path, mark: str) -> Iterator[subprocess.Popen[bytes]]:
    """A tournament in the midst of it, with a limit that a test can wait for."""
    slow = [word for at in (0, 1) for word in ("--bot", bot_folder(folder, f"b{at}", at, 0.01))]
    words = ("tournament", *slow, "--games", GAMES, "--jobs", 1, "--sandbox", "none")
    where = ("--out", "t", "--store", f"{postgres.url()}#t{mark}", "--events", "-")
    process = subprocess.Popen(
        [sys.executable, "-c", IMPATIENT, *map(str, (*words, *where))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(**{MARK: mark}),
    )
    try:
        hear(process, 5)
        yield process
    finally:
        process.kill()
        process.communicate()


def stored(folder: Path) -> set[tuple[int, int]]:
    with Store.read(folder) as store:
        return {row[:2] for rows in store.columns() for row in rows}


def test_a_tournament_ends_in_a_sentence_and_goes_on(postgres: Server, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    with playing(postgres, tmp_path, mark) as process:
        with frozen(postgres, process.pid):
            _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 3, err
        (told,) = [line for line in err.decode().splitlines() if line.startswith("referee: ")]
        silent = f"was lost: {NO_ANSWER} {SHORT_S} s; "
        assert silent in told
    all_gone(mark)
    goes_on(tmp_path)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_wait(
    number: signal.Signals, status: int, postgres: Server, tmp_path: Path
) -> None:
    mark = uuid.uuid4().hex
    with playing(postgres, tmp_path, mark) as process:
        with frozen(postgres, process.pid):
            process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == status, err
        assert b"go on with: referee tournament --resume t\n" in err
        assert b"Traceback" not in err
    all_gone(mark)
    goes_on(tmp_path)


def goes_on(folder: Path) -> None:
    """To the end, with what was committed."""
    kept = stored(folder / "t")
    assert len(kept) < GAMES
    done = referee(folder, "tournament", "--resume", "t")
    assert done.status == 0, done.err
    assert kept <= (played := stored(folder / "t"))
    assert len(played) == GAMES


@pytest.fixture
def held(postgres: Server, tmp_path: Path) -> Iterator[tuple[str, Store]]:
    """A tournament with games, by its address and open to be written."""
    address = f"{postgres.url()}#held"
    postgres.forget("held")
    with Store.create(tmp_path / "held", VALUES, BOTS, read_address(address)) as store:
        store.add_pairings(PAIRINGS)
        store.add_games(games(1, 10))
        store.commit()
        yield address, store
    postgres.forget("held")


def test_whoever_reads_leaves_at_once(
    held: tuple[str, Store], postgres: Server, tmp_path: Path
) -> None:
    address, _ = held
    with postgres.connect() as connection, postgres.connect() as other:
        other.execute("BEGIN; LOCK TABLE held.value")
        words = [*REFEREE, "standings", address]
        reading = subprocess.Popen(words, stderr=subprocess.PIPE, cwd=tmp_path, env=environment())
        try:
            waits = """SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
                AND application_name LIKE %s"""
            named = f"referee, process {reading.pid} on %"
            wait_for_row(connection, waits, named)
            reading.send_signal(signal.SIGINT)
            _, err = reading.communicate(timeout=PATIENCE_S)
            assert reading.returncode == 130, err
            assert err == b"referee: interrupted\n"
            # The server does not work on for nobody.
            there = "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name LIKE %s"
            wait_for_row(connection, there, named)
        finally:
            reading.kill()
            reading.communicate()


def wait_for_row(
    connection: psycopg.Connection[tuple[object, ...]], query: str, value: str
) -> None:
    wait_for(lambda: connection.execute(query, (value,)).fetchone() not in ((0,), (False,)), query)


def test_silence_ends_an_addition_and_is_told_once_more(
    held: tuple[str, Store], postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, store = held
    monkeypatch.setattr(waiting.Connection, "patience_s", 1)
    with frozen(postgres, os.getpid()):
        for _ in range(2):
            with pytest.raises(StoreLost, match=rf"{NO_ANSWER} 1 s; .*can be resumed$"):
                store.add_games(games(11, 20))
        with pytest.raises(StoreLost, match=rf"{NO_ANSWER} 1 s; .*can be resumed$"):
            store.counts()


class Freezing(list[tuple[int, bytes]]):
    """Rows of which the first are sent when the server stops to read."""

    def __init__(self, postgres: Server, freezer: contextlib.ExitStack) -> None:
        super().__init__((number, b"x" * 1_000_000) for number in range(30))
        self._postgres = postgres
        self._freezer = freezer

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for number, row in enumerate(super().__iter__()):
            if number == 5:
                self._freezer.enter_context(frozen(self._postgres, os.getpid()))
            yield row


def test_silence_ends_a_copy_in_the_midst_of_it(
    held: tuple[str, Store], postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, store = held
    monkeypatch.setattr(waiting.Connection, "patience_s", 1)
    silent = pytest.raises(StoreLost, match=rf"{NO_ANSWER} 1 s; .*can be resumed$")
    with contextlib.ExitStack() as freezer, silent, store._addition():
        store._database.insert("record", Freezing(postgres, freezer))


def test_only_silence_counts_and_a_reader_has_more_patience(
    held: tuple[str, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, store = held
    monkeypatch.setattr(waiting.Connection, "patience_s", 0.5)
    slowly = "SELECT pg_sleep(0.05), repeat('x', 10000) FROM generate_series(1, 30)"
    assert len(store._database.execute(slowly).fetchall()) == 30
    with Store.read(address) as reader:
        assert list(reader._rows("SELECT 1 FROM pg_sleep(1.5)")) == [(1,)]
    monkeypatch.setattr(server, "LONG_ANSWER_S", 1)
    reads = pytest.raises(StoreLost, match=rf"{NO_ANSWER} 1 s$")
    with Store.read(address) as reader, reads:
        list(reader._rows("SELECT 1 FROM pg_sleep(30)"))
    # What a commit reads back is no exception, and a writer says that nothing is lost.
    with pytest.raises(StoreLost, match=rf"{NO_ANSWER} 0\.5 s; .*can be resumed$"):
        list(store._rows("SELECT 1 FROM pg_sleep(30)"))


def test_what_comes_while_waiting_ends_it_and_is_what_is_told(held: tuple[str, Store]) -> None:
    _, store = held
    database = store._database

    def leave(silent_s: float) -> None:
        if silent_s > 0.5:
            raise KeyboardInterrupt

    store.while_silent(leave)
    with pytest.raises(KeyboardInterrupt):
        database.execute("SELECT pg_sleep(30)")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            store.add_games(games(11, 20))
