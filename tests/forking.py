"""Starts Python programs for tests by a fork of a process that has imported their modules already.

A test that starts a program is about what it does; most of the processor time would go into
importing the same modules again. Each process of tests has one forking process for each set of
modules. What it forks is a process of its own, with the given arguments, folder, environment and
standard files, and nothing of the test.

    test  --(socket: what to run, where; three files and a socket)-->  forking process
    forking process  --fork-->  waiting process  --fork-->  the program
    waiting process  --(that socket: its process, and how it ended)-->  test

What differs from a program that Python starts: /proc has the words and variables of the forking
process, and variables that Python reads at its start have no effect.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

from tests.arena.playing import MARK, ROOT
from tests.waiting import PATIENCE_S

MAIN = "from referee.cli import main; main()"
"""The program that runs a command."""
COMMAND = (
    *("referee.cli.app", "referee.cli.screen", "referee.cli.tournament_shown"),
    *("referee.daemon.serve", "referee.reports.html.make", "referee.reports.tables.text"),
)
"""What it imports: the commands, and what many of them import when they run."""
_LONGEST = 1 << 20
_PIPE_HOLDS = 1 << 15
_PROGRAM = "import sys; from tests.forking import serve; serve(sys.argv.pop())"


class ForkingProcess:
    """The process that forks programs, as its client sees it."""

    def __init__(self, modules: Sequence[str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for each in (ours, theirs):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
        self._socket = ours
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, " ".join(modules)],
            stdin=theirs.fileno(),
            env={**_unmarked(os.environ), "PYTHONPATH": str(ROOT)},
        )
        theirs.close()
        atexit.register(self._close)

    def fork(self, order: bytes, standard: Sequence[int]) -> socket.socket:
        """Where the forked program is told of, each message by itself: its id, then how it ended.

        `standard` are its three standard files.
        """
        news, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            socket.send_fds(self._socket, [order], [*standard, theirs.fileno()])
        return news

    def _close(self) -> None:
        self._socket.close()
        self._process.wait()


def _unmarked(environment: Mapping[str, str]) -> dict[str, str]:
    """Without the mark of the test that is the first to need the process, and not the last."""
    return {name: value for name, value in environment.items() if name != MARK}


@cache
def _forking_process(modules: tuple[str, ...]) -> ForkingProcess:
    return ForkingProcess(modules)


class Forked(subprocess.Popen[bytes]):
    """A program that was forked, to be treated like any other process."""

    def __init__(
        self,
        modules: Sequence[str],
        program: str,
        *words: object,
        stdin: int | IO[bytes] | None = None,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        start_new_session: bool = False,
    ) -> None:
        """`program` is Python, as it could stand after `python -c`; it should need the modules."""
        self.args = [program, *map(str, words)]
        self.returncode = None
        folder = str(cwd or Path.cwd())
        order = json.dumps([self.args, folder, env or dict(os.environ), start_new_session])
        theirs: list[int] = []
        self.stdin, self.stdout, self.stderr = (
            _pipe(number, given, theirs) for number, given in enumerate((stdin, stdout, stderr))
        )
        self._news = _forking_process(tuple(modules)).fork(order.encode(), theirs)
        for fd in theirs:
            os.close(fd)
        self._news.settimeout(PATIENCE_S)
        self.pid = int(self._news.recv(32))

    def poll(self) -> int | None:
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        status = self._ended(timeout)
        if status is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return status

    def _ended(self, timeout: float | None) -> int | None:
        """Its status, if it ends so soon: a signal is a negative number."""
        if self.returncode is None:
            self._news.settimeout(timeout)
            try:
                self.returncode = int(self._news.recv(32))
            except (TimeoutError, BlockingIOError):
                return None
            self._news.close()
        return self.returncode

    def send_signal(self, sig: int) -> None:
        # The program may have ended, and its end may still be on its way to us.
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def communicate(
        self, input: bytes | None = None, timeout: float | None = None
    ) -> tuple[bytes, bytes]:
        """Input that is more than a pipe holds has to be a file."""
        if self.stdin is not None and not self.stdin.closed:
            with contextlib.suppress(BrokenPipeError), self.stdin:
                self.stdin.write(input or b"")
        give_up = time.monotonic() + (PATIENCE_S if timeout is None else timeout)
        pipes = [each for each in (self.stdout, self.stderr) if each and not each.closed]
        written = _read_all(pipes, give_up)
        self.wait(max(0.0, give_up - time.monotonic()))
        return written.get(self.stdout, b""), written.get(self.stderr, b"")


def _pipe(number: int, given: int | IO[bytes] | None, theirs: list[int]) -> IO[bytes] | None:
    """Our end of a pipe, if one is asked for. What the program gets is added to `theirs`."""
    if given == subprocess.PIPE:
        reading, writing = os.pipe()
        theirs.append(writing if number else reading)
        return os.fdopen(reading, "rb") if number else os.fdopen(writing, "wb")
    if given == subprocess.DEVNULL:
        theirs.append(os.open(os.devnull, os.O_RDWR))
    elif given == subprocess.STDOUT:
        theirs.append(os.dup(theirs[1]))
    else:
        shared = number if given is None else given if isinstance(given, int) else given.fileno()
        theirs.append(os.dup(shared))
    return None


def _read_all(pipes: list[IO[bytes]], give_up: float) -> dict[IO[bytes] | None, bytes]:
    """What comes out of each until its end."""
    found: dict[IO[bytes] | None, bytes] = dict.fromkeys(pipes, b"")
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ, pipe)
        while selector.get_map():
            for key, _ in selector.select(give_up - time.monotonic()):
                data = os.read(key.fd, 1 << 16)
                found[key.data] += data
                if not data:
                    selector.unregister(key.fd)
                    key.data.close()
            if time.monotonic() > give_up:
                raise TimeoutError("the program has not ended in time")
    return found


def run(
    modules: Sequence[str],
    program: str,
    *words: object,
    stdin: bytes,
    cwd: Path,
    env: dict[str, str],
) -> tuple[int, bytes, bytes]:
    """Run the program with this input to its end: its status, and what it wrote."""
    with tempfile.TemporaryFile() as file:
        fits = len(stdin) <= _PIPE_HOLDS
        if not fits:
            file.write(stdin)
            file.seek(0)
        given, pipe = subprocess.PIPE if fits else file, subprocess.PIPE
        process = Forked(
            modules, program, *words, stdin=given, stdout=pipe, stderr=pipe, cwd=cwd, env=env
        )
    try:
        out, err = process.communicate(stdin if fits else None, PATIENCE_S)
    except TimeoutError:
        process.kill()
        raise
    return process.returncode, out, err


def serve(modules: str) -> None:
    """What the forking process does until its client is gone."""
    for module in modules.split():
        importlib.import_module(module)
    if "referee.cli.app" in sys.modules:
        _read_a_command()
    gc.freeze()
    orders = socket.socket(fileno=0)
    while True:
        order, files, _, _ = socket.recv_fds(orders, _LONGEST, 4)
        if not order:
            return
        if os.fork() == 0:
            orders.detach()
            _wait_for_program(order, files)
        for fd in files:
            os.close(fd)
        _reap()


def _read_a_command() -> None:
    """Commands import more when they are run, and typer for the first command that it reads."""
    import typer

    import referee.cli
    from referee.cli.app import build_app

    for module in pkgutil.iter_modules(referee.cli.__path__, "referee.cli."):
        importlib.import_module(module.name)
    typer.main.get_command(build_app()).make_context("referee", ["variants"])


def _reap() -> None:
    """Let go of waiting processes that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _wait_for_program(order: bytes, files: list[int]) -> NoReturn:
    *standard, news = files
    child = os.fork()
    if child == 0:
        os.close(news)
        _become_program(order, standard)
    os.write(news, b"%d" % child)
    for fd in (0, 1, 2, *standard):
        os.close(fd)
    _, status = os.waitpid(child, 0)
    os.write(news, b"%d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become_program(order: bytes, standard: list[int]) -> NoReturn:
    (program, *words), folder, environment, start_new_session = json.loads(order)
    if start_new_session:
        os.setsid()
    for fd, given in enumerate(standard):
        os.dup2(given, fd)
        os.close(given)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[:] = ["-c", *words]
    exec(program, {"__name__": "__main__"})
    sys.exit(0)
