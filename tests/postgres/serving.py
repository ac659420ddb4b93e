"""A real PostgreSQL server for tests: its own folder, its own socket, and nobody else's data.

The server refuses to be run by root, so that root has somebody else run it. It is started when the
first test asks for it, and ends with the tests, or with the process that ran them.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.packages import postgres_program
from tests.waiting import PATIENCE_S, wait_for

MISSING = "there is no PostgreSQL server here: apt-get install --yes postgresql"
DATABASE = "referee"
LOCKED = "locked"
"""Who needs a password."""
PASSWORD = "sesame/opens?cavern#forty@thieves%50:a=b&c+é"
"""With everything that means something in a URL."""
PORT = 5432


class Server:
    """One server; it can be stopped, killed and started again."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self.folder = folder
        self._data = folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = PORT
        self._more: dict[str, object] = {}
        self._run("initdb", "-D", self._data, "-U", "referee", "-E", "UTF8", "--no-sync")
        hba = f"local all {LOCKED} scram-sha-256\nlocal all all trust\n"
        hba += "host all all 127.0.0.0/8 trust\n"
        (self._data / "pg_hba.conf").write_text(hba)
        self.start()
        with self.connect("postgres") as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}")
            connection.execute(f"CREATE ROLE {LOCKED} LOGIN PASSWORD '{PASSWORD}'")

    def url(self, user: str = "referee", database: str = DATABASE) -> str:
        port = "" if self.port == PORT else f"&port={self.port}"
        return f"postgresql://{user}@/{database}?host={self.folder}{port}"

    def connect(self, database: str = DATABASE) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.url(database=database), autocommit=True)

    def start(self, port: int = PORT, **more: object) -> None:
        """With these settings more."""
        self.port, self._more = port, more
        settings = {
            "port": port,
            "listen_addresses": "",
            "unix_socket_directories": self.folder,
            "shared_buffers": "16MB",
            # No test cuts the power: what was written is there after a kill all the same.
            "fsync": "off",
            **more,
        }
        words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._as_somebody("postgres"), "-D", str(self._data), *words],
                stdout=log,
                stderr=log,
                env=self._environment(),
            )
        wait_for(self._answers, lambda: (self.folder / "log").read_text())

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "log").read_text()
        with contextlib.suppress(psycopg.OperationalError):
            self.connect("postgres").close()
            return True
        return False

    def stop(self, *, at_once: bool = False) -> None:
        """At once: as after a crash, without a word to anybody."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT if at_once else signal.SIGINT)
            self._process.wait(PATIENCE_S)
            self._process = None

    @contextlib.contextmanager
    def otherwise(self, port: int, **more: object) -> Iterator[None]:
        """Started anew with these settings, and as before afterwards."""
        before = self.port, self._more
        self.stop()
        try:
            self.start(port, **more)
            yield
        finally:
            self.stop()
            self.start(before[0], **before[1])

    def owns(self, path: Path) -> None:
        """Have the file be the server's own, for nobody else to read."""
        path.chmod(0o600)
        if os.geteuid() == 0:
            os.chown(path, _nobody().pw_uid, _nobody().pw_gid)

    def forget(self, *names: str) -> None:
        """Take schemas away."""
        with self.connect() as connection:
            for name in names:
                drop = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name))
                connection.execute(drop)

    def forget_all(self) -> None:
        """Take every schema away that a test has made."""
        names = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_|public)'"
        with self.connect() as connection:
            there = [str(name) for (name,) in connection.execute(names)]
        self.forget(*there)

    def _run(self, command: str, *words: object) -> None:
        done = subprocess.run(
            [*self._as_somebody(command), *map(str, words)],
            capture_output=True,
            text=True,
            env=self._environment(),
        )
        assert done.returncode == 0, done.stderr

    def _as_somebody(self, command: str) -> list[str]:
        program = str(self._program.with_name(command))
        words = ["setpriv", "--pdeathsig", "INT"]
        if os.geteuid() == 0:
            words += [
                "--reuid=nobody",
                f"--regid={_nobody().pw_gid}",
                "--clear-groups",
            ]
        return [*words, program]

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}


def _nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


@contextlib.contextmanager
def server() -> Iterator[Server]:
    program = postgres_program()
    if program is None:
        if "CI" in os.environ:
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    # Not in pytest's own folder: nobody but its owner gets there, and a socket's path is short.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    running: Server | None = None
    try:
        if os.geteuid() == 0:
            os.chown(folder, _nobody().pw_uid, _nobody().pw_gid)
        running = Server(program, folder)
        yield running
    finally:
        if running is not None:
            running.stop(at_once=True)
        shutil.rmtree(folder, ignore_errors=True)
