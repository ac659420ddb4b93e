"""The bar that shows on a terminal how far a match is."""

from __future__ import annotations

import time

from rich import progress

from referee.cli import console
from referee.cli.match_played import Progress

REFRESH_S = 0.1


class ShownProgress(Progress):
    """Drawn ten times a second, by no thread of its own."""

    def __init__(self, games: int) -> None:
        super().__init__(games)
        self._bar = progress.Progress(
            progress.TextColumn("playing"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]:.0f} games/s"),
            progress.TimeRemainingColumn(),
            console=console.err,
            transient=True,
            auto_refresh=False,
        )
        self._task = self._bar.add_task("games", total=games, rate=0.0)
        self._drawn = time.monotonic()

    def __enter__(self) -> ShownProgress:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._bar.stop()
        super().__exit__(kind)

    def advance(self) -> None:
        super().advance()
        now = time.monotonic()
        if now - self._drawn > REFRESH_S:
            self._drawn = now
            rate = self.done / self.took_s()
            self._bar.update(self._task, completed=self.done, rate=rate, refresh=True)
