"""One run of the real command: `referee tournament`, as a process, until it is ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from soak.watching import Process, family, left_of

REFEREE = (sys.executable, "-m", "referee")
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
"""With which the command ends after a signal."""
ENDS_S = 20.0
"""Within which it has to."""
GONE_S = 20.0
"""And all that it started within this time after it."""
LOOK_S = 0.05
SAFE_S = 3.0
"""A game is in the database so long after its event at the latest: it is committed once a second,
but the disk may be slow."""


class Ended(Struct, frozen=True, kw_only=True):
    """How a run ended."""

    by: str
    """The signal, or `itself`."""
    ending_s: float
    """From the signal to the end of the coordinator."""
    gone_s: float
    """From then to the end of all that it had started."""
    left: list[str]
    """What did not end."""
    trouble: list[str]


class Run:
    """A tournament that is being played."""

    def __init__(self, words: Sequence[object], place: Path, mark: str, env: Mapping[str, str]):
        self._mark = mark
        self._errors = place / "stderr.txt"
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*REFEREE, "tournament", *map(str, words), "--events", "-"],
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=place,
                env=env,
                # Ctrl-C is for the soak, which ends its tournament itself.
                start_new_session=True,
            )
        self.started, self.playing = threading.Event(), threading.Event()
        """Whether it has begun, and whether it has told of a game."""
        self.finished = False
        self.told: dict[str, float] = {}
        """The games that it has told of, and when."""
        self._family: dict[int, Process] = {}
        self._signalled_s = 0.0
        """When it was told to end."""
        self._trouble: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def is_playing(self) -> bool:
        return self.playing.is_set() and not self.finished and not self._signalled_s

    def wait(self, seconds: float, event: threading.Event | None = None) -> bool:
        """Wait so long, or for the event; False where it ended meanwhile."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not (event is not None and event.is_set()):
            if self.process.poll() is not None:
                return False
            time.sleep(LOOK_S)
        return True

    def await_games(self, seconds: float) -> None:
        """Wait until it tells of a game; it has so long to do so."""
        if self.wait(seconds, self.playing) and not self.playing.is_set():
            self._trouble.append(f"told of no game for {seconds:g} s")

    def end(self, number: signal.Signals) -> Ended:
        """End it by this signal, unless it has ended, and see that nothing of it stays."""
        by = "itself" if self.process.poll() is not None else number.name
        self._family = family(self.process.pid)
        at = self._signalled_s = time.monotonic()
        self.process.send_signal(number)
        self._await_end(number.name)
        ended = time.monotonic()
        left = self._await_nobody()
        gone = time.monotonic()
        self._reader.join()
        if self.finished and self.process.returncode == 0:
            by = "itself"
        else:
            self._check_status(by, number)
        return Ended(
            by=by,
            ending_s=0.0 if by == "itself" else ended - at,
            gone_s=gone - ended,
            left=left,
            trouble=self._trouble,
        )

    def surely_kept(self, ended: Ended) -> list[str]:
        """The games of this run that the database must have, now that it has ended."""
        if ended.by != signal.SIGKILL.name:
            return [*self.told]
        return [game for game, when in self.told.items() if when < self._signalled_s - SAFE_S]

    def stop(self) -> None:
        """Whatever happened: nothing stays."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._await_nobody()
        self._reader.join()

    def _await_end(self, name: str) -> None:
        try:
            self.process.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            self._trouble.append(f"did not end within {ENDS_S:g} s of {name}")
            self.process.kill()
            self.process.wait()

    def _await_nobody(self) -> list[str]:
        """What is left after a while. It is ended here, lest it disturbs what follows."""
        give_up = time.monotonic() + GONE_S
        while (found := left_of(self._family, self._mark)) and time.monotonic() < give_up:
            time.sleep(LOOK_S)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        return [f"{pid}: {words}" for pid, words in found.items()]

    def _check_status(self, by: str, number: signal.Signals) -> None:
        status, said = self.process.returncode, self._errors.read_text("utf-8", "replace")
        if by == "itself" or status != STATUS[number]:
            last = said.strip().rpartition("\n")[2]
            self._trouble.append(f"ended by {by} with status {status}: {last}")
        if "Traceback" in said:
            self._trouble.append(f"a traceback: {said[said.index('Traceback') :]}")

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # It was killed while it wrote.
                self._hear(json.loads(line))

    def _hear(self, event: dict[str, object]) -> None:
        kind = event["event"]
        if kind == "game":
            game = str(event["game"])
            if game in self.told:
                self._trouble.append(f"told twice of game {game}")
            self.told[game] = time.monotonic()
            self.playing.set()
        elif kind == "started":
            self.started.set()
        elif kind == "finished":
            self.finished = True
