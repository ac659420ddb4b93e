"""One tournament on a cluster, with what its coordinator did between its first chunk and its last.

    python -m benchmarks.coordinating ADDRESS SPEC FOLDER SCHEDULER_PID

A program of its own for cluster.py: the process that it measures is the coordinator and nothing
else, since scheduler and workers are processes of their own. The last line is one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec

from referee.cluster import cluster
from referee.cluster.ground import ClusterGround
from referee.store.database import Store
from referee.tournament.begin import play_tournament
from referee.tournament.chunk import Batch, Done, frame
from referee.tournament.crew import Crew
from referee.tournament.spec import Spec


class Waiting(SimpleQueue[Any]):
    """What the coordinator waits at when it has nothing to do."""

    waited_s = 0.0

    def get(self, *args: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return super().get(*args, **options)
        finally:
            if threading.current_thread() is threading.main_thread():
                Waiting.waited_s += time.perf_counter() - began


class Watch:
    """Sums up to the end of each chunk, those up to the first one taken off."""

    def __init__(self, scheduler: int) -> None:
        self._scheduler = scheduler
        self._committed_s = 0.0
        self._games = self._chunks = 0
        self._first: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self.line_bytes = 0.0
        """Of a game, as the first chunk came."""

    def commits(self) -> None:
        commit = Store.commit

        def timed(store: Store) -> None:
            began = time.perf_counter()
            commit(store)
            self._committed_s += time.perf_counter() - began

        setattr(Store, "commit", timed)  # noqa: B010  mypy forbids assignment to a method

    def follow(self, crew: Crew) -> Crew:
        hear = crew.hear

        def heard(timeout_s: float) -> Iterator[Any]:
            for hand, said in hear(timeout_s):
                yield hand, said
                # The coordinator has kept it by now.
                reports = said if isinstance(said, list) else []
                self._games += sum(len(each.games) for each in reports if isinstance(each, Batch))
                if self._games and not self._first:
                    self.line_bytes = sum(len(frame(each)) for each in reports) / self._games
                for _ in (each for each in reports if isinstance(each, Done)):
                    self._chunks += 1
                    self._last = self._now()
                    self._first = self._first or self._last

        setattr(crew, "hear", heard)  # noqa: B010
        return crew

    def _now(self) -> dict[str, float]:
        wall = time.perf_counter()
        return {
            "games": self._games,
            "chunks": self._chunks,
            "cpu_s": time.process_time(),
            "busy_s": wall - Waiting.waited_s - self._committed_s,
            "commit_s": self._committed_s,
            "scheduler_s": cpu_s_of(self._scheduler),
        }

    def found(self) -> dict[str, float]:
        return {name: self._last[name] - value for name, value in self._first.items()}


class Watched(ClusterGround):
    def __init__(self, there: cluster.Cluster, watch: Watch) -> None:
        super().__init__(there)
        self._watch = watch

    def hire(self, wanted: int) -> Crew:
        return self._watch.follow(super().hire(wanted))


def cpu_s_of(process: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    address, text, folder, scheduler = sys.argv[1:]
    spec = msgspec.json.decode(text, type=Spec)
    setattr(cluster, "SimpleQueue", Waiting)  # noqa: B010
    watch = Watch(int(scheduler))
    watch.commits()
    with cluster.cluster_at(address, None) as there:
        while len(there.stations) < (spec.jobs or 1):
            list(there.attend(0.1))
        result = play_tournament(spec, folder, ground=Watched(there, watch))
    found = {"between": watch.found(), "line_bytes": watch.line_bytes}
    print(json.dumps({**msgspec.to_builtins(result), **found}))


if __name__ == "__main__":
    main()
