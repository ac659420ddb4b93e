"""A referee in a process of its own, to be stopped and killed by the test."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from referee.record import Record, read_record
from tests.arena.playing import MARK, ROOT, command, left_of
from tests.waiting import PATIENCE_S, wait_for

PROGRAM = """
import json, sys
from referee.match import play_match
from referee.record import encode_record

def tell(record):
    print(encode_record(record).decode(), flush=True)

result = play_match(*json.loads(sys.argv[1]), on_record=tell, **json.loads(sys.argv[2]))
print("replayed", result.replayed)
"""


class Outside:
    """The running process, and the mark that it and all its bots carry."""

    def __init__(self, process: subprocess.Popen[str], mark: str) -> None:
        self.process = process
        self._mark = mark

    def alive(self) -> list[str]:
        """Every process of the match that is still there, the referee included."""
        return left_of(self._mark)

    def finish(self) -> tuple[list[Record], int]:
        """The records, and how many games were played again."""
        output, _ = self.process.communicate(timeout=PATIENCE_S)
        *lines, last = output.splitlines()
        return [read_record(text.encode()) for text in lines], int(last.split()[1])


@contextlib.contextmanager
def referee(*bots: tuple[object, ...], **terms: object) -> Iterator[Outside]:
    """A match between two bots, each given as the script's name and its words."""
    names = [
        f"{name}={shlex.join(command(str(script), *words))}"
        for name, (script, *words) in zip(("first", "second"), bots, strict=True)
    ]
    mark = uuid.uuid4().hex
    env = {**os.environ, MARK: mark, "PYTHONPATH": str(ROOT)}
    program = [sys.executable, "-c", PROGRAM, json.dumps(names), json.dumps(terms)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            yield Outside(process, mark)
        finally:
            process.kill()


def wait_for_touch(path: Path) -> None:
    """Wait until the bot that touches this file when it begins to think does so once more."""

    def stamp() -> int:
        return path.stat().st_mtime_ns if path.exists() else 0

    before = stamp()
    wait_for(lambda: stamp() != before, f"{path} to be touched")
