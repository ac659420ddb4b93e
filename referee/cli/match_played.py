"""What a command keeps of a match while it is played, and where its logs are kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.cli import console
from referee.cli.logs import LOGS
from referee.cli.records_file import RecordsFile
from referee.match import BadMatch, check_logs
from referee.record import Record
from referee.verdict import Fault

SHOWN_FAULTS = 3


def default_logs() -> Path | None:
    """The usual folder; in a place that cannot be written to, a word that logs are not kept."""
    try:
        return check_logs(Path(LOGS))
    except BadMatch as bad:
        console.tell(f"{bad}; what bots write to stderr is lost")
        return None


class Progress:
    """How far a match is."""

    def __init__(self, games: int) -> None:
        self.games = games
        self.done = 0
        self._began = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            console.tell(f"{self.done} of {self.games} games were finished")

    def advance(self) -> None:
        self.done += 1

    def took_s(self) -> float:
        return time.monotonic() - self._began


def progress_of(games: int) -> Progress:
    """Shown on a terminal, and nowhere else."""
    if not sys.stderr.isatty():
        return Progress(games)
    from referee.cli.progress_bar import ShownProgress  # rich: where something is drawn

    return ShownProgress(games)


class MatchKeeping:
    """Writes the records of a match, and knows how far it is and who failed."""

    def __init__(self, file: RecordsFile, progress: Progress) -> None:
        self._file = file
        self._progress = progress
        self.first_faults: dict[str, list[tuple[Record, Fault]]] = {}
        """The first faults of each player with their records: a broken bot has thousands."""

    def add(self, record: Record) -> None:
        self._file.add(record)
        for fault in record.faults():
            kept = self.first_faults.setdefault(record.players[fault.seat], [])
            if len(kept) < SHOWN_FAULTS:
                kept.append((record, fault))
        self._progress.advance()

    def took_s(self) -> float:
        return self._progress.took_s()


@contextmanager
def keep_match(games: int, records: str | None) -> Iterator[MatchKeeping]:
    """Keep what comes of so many games; `records` is where their records are written."""
    with RecordsFile(records) as file, progress_of(games) as progress:
        yield MatchKeeping(file, progress)
