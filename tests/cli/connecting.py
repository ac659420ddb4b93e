"""`referee connect` in a process of its own, with a real hall to connect to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.arena.hosting import Host
from tests.arena.playing import MARK, all_gone
from tests.cli.running import environment
from tests.forking import COMMAND, MAIN, Forked
from tests.waiting import PATIENCE_S, wait_for

News = dict[str, Any]


class Envoy:
    """The running command, and what it has told so far."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, err: Path) -> None:
        self.process = process
        self._out = out
        self._err = err

    def news(self, kind: str | None = None) -> list[News]:
        whole, _, _ = self._out.read_bytes().rpartition(b"\n")
        told = [json.loads(line) for line in whole.splitlines()]
        return [each for each in told if kind in (None, each["event"])]

    def said(self) -> str:
        return self._err.read_text()

    def finish(self, *, host: Host | None = None) -> int:
        """Its exit status, once it has ended."""
        wait(lambda: self.process.poll() is not None, host)
        return self.process.returncode

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> None:
        self.process.send_signal(number)


def wait(holds: Callable[[], bool], host: Host | None = None) -> None:
    """Let the hall go on until this holds."""
    if host is None:
        wait_for(holds, "it")
    else:
        host.until(holds)


@contextlib.contextmanager
def connecting(folder: Path, *words: object) -> Iterator[Envoy]:
    """The command with `--json`. Whatever happens, nothing of it is left."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = Forked(
                COMMAND,
                MAIN,
                *("connect", *words, "--json"),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=folder,
                env=environment(**{MARK: mark}),
            )
        try:
            yield Envoy(process, out, err)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            process.wait(PATIENCE_S)
            all_gone(mark)
