"""Starts the `referee` command for tests by a fork of a process that has imported it already.

A test that runs a command is about what it does; most of the processor time would go into importing
the same modules again. Each process of tests has one forking process. What it forks is a process of
its own, with the given arguments, folder, environment and standard files, and nothing of the test.

    test  --(socket: words, folder, environment; three files and a socket)-->  forking process
    forking process  --fork-->  waiting process  --fork-->  the command
    waiting process  --(that socket: how the command ended)-->  test
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tests.waiting import PATIENCE_S

_LONGEST = 1 << 20
_PIPE_HOLDS = 1 << 15
_PROGRAM = """
from tests.cli.forking import serve
serve()
"""


class ForkingProcess:
    """The process that forks commands, as its client sees it."""

    def __init__(self, environment: dict[str, str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for each in (ours, theirs):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
        self._socket = ours
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM], stdin=theirs.fileno(), env=environment
        )
        theirs.close()
        atexit.register(self.close)

    def run(
        self, words: list[str], folder: Path, environment: dict[str, str], stdin: bytes
    ) -> tuple[int, bytes, bytes]:
        """Run the command with this input to its end: its status, and what it wrote.

        The status is as `subprocess` has it: a signal is a negative number.
        """
        # Each thing that is told is read by itself: first the process, then how it ended.
        news, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        order = json.dumps([words, str(folder), environment]).encode()
        with news, _input(stdin) as given:
            socket.send_fds(self._socket, [order], [given, out_end, err_end, theirs.fileno()])
            for each in (out_end, err_end, theirs.detach()):
                os.close(each)
            news.settimeout(PATIENCE_S)
            pid = int(news.recv(32))
            try:
                written = _read_all(out, err)
                return int(news.recv(32)), written[out], written[err]
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


@contextmanager
def _input(data: bytes) -> Iterator[int]:
    """A pipe with this in it, and then its end; a file where it is too much for a pipe."""
    if len(data) <= _PIPE_HOLDS:
        reading, writing = os.pipe()
        os.write(writing, data)
        os.close(writing)
        try:
            yield reading
        finally:
            os.close(reading)
    else:
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            yield file.fileno()


def _read_all(*pipes: int) -> dict[int, bytes]:
    """What comes out of each until its end."""
    found = dict.fromkeys(pipes, b"")
    give_up = time.monotonic() + PATIENCE_S
    with selectors.DefaultSelector() as selector:
        for fd in pipes:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(give_up - time.monotonic()):
                data = os.read(key.fd, 1 << 16)
                found[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
                    os.close(key.fd)
            if time.monotonic() > give_up:
                raise TimeoutError(f"the command has not ended within {PATIENCE_S:.0f} s")
    return found


def serve() -> None:
    """What the forking process does until its client is gone."""
    import typer

    from referee.cli.app import build_app

    # Typer imports more for the first command that it reads.
    typer.main.get_command(build_app()).make_context("referee", ["variants"])
    gc.freeze()
    orders = socket.socket(fileno=0)
    while True:
        order, files, _, _ = socket.recv_fds(orders, _LONGEST, 4)
        if not order:
            return
        if os.fork() == 0:
            orders.detach()
            _wait_for_command(order, files)
        for fd in files:
            os.close(fd)
        _reap()


def _reap() -> None:
    """Let go of waiting processes that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _wait_for_command(order: bytes, files: list[int]) -> NoReturn:
    *standard, news = files
    child = os.fork()
    if child == 0:
        os.close(news)
        _become_command(order, standard)
    os.write(news, b"%d" % child)
    for fd in (0, 1, 2, *standard):
        os.close(fd)
    _, status = os.waitpid(child, 0)
    os.write(news, b"%d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become_command(order: bytes, standard: list[int]) -> NoReturn:
    from referee.cli import main

    words, folder, environment = json.loads(order)
    for fd, given in enumerate(standard):
        os.dup2(given, fd)
        os.close(given)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[:] = ["referee", *words]
    main()
    raise AssertionError("a command ends its process")
