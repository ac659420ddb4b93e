"""A real cluster for tests: a dask scheduler and workers, each a process of its own on loopback."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from distributed import Client

from referee.store.database import Store
from tests.arena.playing import MARK, left_of
from tests.cli.running import AT_START, environment
from tests.daemon.serving import processes_of
from tests.forking import COMMAND, MAIN, Forked
from tests.loopback import free_port, own_address
from tests.waiting import PATIENCE_S, wait_for

MODULES = (
    *COMMAND,
    *("distributed.cli.dask_scheduler", "distributed.cli.dask_worker", "referee.cluster.cluster"),
)
BOT = """\
import json, sys, time

games = 0
sys.stderr.write("hello from stderr\\n")
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({{"type": "hello", "name": "{name}"}}), flush=True)
    elif message["type"] == "ping":
        print(json.dumps({{"type": "pong"}}), flush=True)
    elif message["type"] == "bye":
        break
    elif message["type"] == "start":
        games += 1
    elif message["type"] == "turn":
        time.sleep({pause_s})
        legal = sorted(message["legal"])
        move = legal[({place} + games) % len(legal)]
        print(json.dumps({{"id": message["id"], "move": move}}), flush=True)
"""


def bot_folder(parent: Path, name: str, place: int, pause_s: float = 0.0, more: str = "") -> Path:
    """A bot that plays the legal move behind this place after a pause, and with each game of its
    process the next one: what a process has played tells in its games."""
    folder = parent / name
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text(BOT.format(name=name, place=place, pause_s=pause_s))
    (folder / "bot.toml").write_text(
        f'name = "{name}"\ncommand = ["python3", "-S", "bot.py"]\n{more}'
    )
    return folder


class DaskCluster:
    """A scheduler and its workers."""

    def __init__(self, folder: Path, scheme: str = "tcp", **variables: str) -> None:
        """`variables` are for the environment of all its processes."""
        self.folder = folder
        self._scheme = scheme
        self._variables = variables
        self.mark = uuid.uuid4().hex
        self.here = own_address()
        self.port = free_port(self.here)
        self.address = f"{scheme}://{self.here}:{self.port}"
        self.file = folder / "scheduler.json"
        self._workers = 0
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start_scheduler()

    def _start(self, module: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        mine = {MARK: self.mark, "XDG_CACHE_HOME": str(self.folder)}
        program = f"from distributed.cli.{module} import main; main()"
        with (self.folder / f"{module}-{len(self.processes)}.log").open("wb") as log:
            variables = {**mine, **self._variables, **variables}
            process = _start(program, *words, cwd=self.folder, out=log, err=log, **variables)
        self.processes.append(process)
        return process

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        words = ("--host", self.here, "--port", str(self.port), "--no-dashboard", "--no-show")
        pages = ("--dashboard-address", f"{self.here}:0")
        more = (*pages, "--scheduler-file", str(self.file), "--protocol", self._scheme)
        self.scheduler = self._start("dask_scheduler", *words, *more)
        return self.scheduler

    def start_worker(self, **variables: str) -> subprocess.Popen[bytes]:
        return self._worker(self.address, "--host", self.here, **variables)

    def start_worker_behind(self, to_scheduler: str, port: int, to_worker: str) -> None:
        """One that knows the scheduler by this address, and is known by that one."""
        listens = f"tcp://{self.here}:{port}"
        self._worker(to_scheduler, "--listen-address", listens, "--contact-address", to_worker)

    def _worker(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        self._workers += 1
        where = str(self.folder / f"scratch-{self._workers}")
        more = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", where)
        return self._start("dask_worker", *words, *more, **variables)

    def tidy(self) -> None:
        """Back to a scheduler and one good worker, for whoever comes next."""
        first, *others = self.processes[1:]
        for process in others:
            process.kill()
            process.wait()
        self.processes = [self.scheduler, first]
        if first.poll() is not None:
            self.processes.pop()
            self.start_worker()
        all_joined(self, 1)

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        wait_for(lambda: left_of(self.mark) == [] or None, "everything of the cluster to end")


@contextlib.contextmanager
def dask_cluster(folder: Path, workers: int = 2, **variables: str) -> Iterator[DaskCluster]:
    folder.mkdir(parents=True, exist_ok=True)
    cluster = DaskCluster(folder)
    try:
        for _ in range(workers):
            cluster.start_worker(**variables)
        all_joined(cluster, workers)
        yield cluster
    finally:
        cluster.close()


def all_joined(cluster: DaskCluster, workers: int) -> None:
    """Wait until the scheduler knows so many, and no others."""
    with Client(cluster.address, set_as_default=False, timeout=PATIENCE_S) as client:
        wait_for(lambda: len(client.nthreads()) == workers or None, f"{workers} workers")


def all_done(cluster: DaskCluster) -> None:
    """Wait until the workers have nothing to do; whoever gives them more has to be stopped."""
    with Client(cluster.address, set_as_default=False, timeout=PATIENCE_S) as client:
        wait_for(lambda: not any(client.processing().values()) or None, "nothing in flight")


def begin(
    folder: Path, *words: object, before: str = "", **variables: str
) -> subprocess.Popen[bytes]:
    """`referee tournament` on a cluster, as a process. `before` is Python that it runs first."""
    program, pipe = f"{before}\n{MAIN}", subprocess.PIPE
    return _start(program, "tournament", *words, cwd=folder, out=pipe, err=pipe, **variables)


def _start(
    program: str,
    *words: object,
    cwd: Path,
    out: int | IO[bytes],
    err: int | IO[bytes],
    **variables: str,
) -> subprocess.Popen[bytes]:
    """A program that uses dask, in a session of its own. Dask reads its variables when imported."""
    env = environment(**variables)
    if any(name.startswith((*AT_START, "DASK_")) for name in variables):
        return subprocess.Popen(
            [sys.executable, "-c", program, *map(str, words)],
            stdout=out,
            stderr=err,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    return Forked(
        MODULES,
        program,
        *words,
        stdout=out,
        stderr=err,
        cwd=cwd,
        env=env,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """With what status, and what it said."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, (err + out).decode()


def stored(folder: Path) -> set[tuple[int, int]]:
    if not (folder / "tournament.db").exists():
        return set()
    with Store.read(folder) as store:
        return {(row[0], row[1]) for rows in store.columns() for row in rows}


def some_games(folder: Path, more_than: int = 0) -> set[tuple[int, int]]:
    """What is in the store, once there is more than so much."""

    def look() -> set[tuple[int, int]] | None:
        found = stored(folder)
        return found if len(found) > more_than else None

    return wait_for(look, f"more than {more_than} games")


def stop(process: subprocess.Popen[bytes]) -> None:
    """It stands still, and its lines stay open: as a machine that nobody can reach."""
    os.kill(process.pid, signal.SIGSTOP)


def referees_on(worker: subprocess.Popen[bytes]) -> list[int]:
    """The processes of the referee that a dask worker has started."""
    return processes_of(worker.pid, b"referee.tournament.worker")


def bots_on(cluster: DaskCluster) -> list[str]:
    """Processes of bots that the workers of a cluster have; keepers aside."""
    found = [told for told in left_of(cluster.mark) if "python3 -S bot.py" in told]
    return [told for told in found if "keeper" not in told]
