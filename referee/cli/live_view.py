"""A tournament on a terminal: progress and the table so far, drawn over and over."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from referee.cli import console
from referee.cli.watching import TABLE_S, WAITING, FaultLines, Interval, Pace, muster_told, told
from referee.tournament.events import BotOut, Building, LeftOut, RoundEnded, Started, Tick, Told

DRAW_S = 0.25


class TimeLeft(TimeRemainingColumn):
    """While there is nobody to play, nobody knows it."""

    def render(self, task: Task) -> Text:
        return Text("") if task.fields["waiting"] else super().render(task)


class LiveView:
    """Progress and the table so far, drawn over and over on a terminal."""

    def __init__(self, who: Callable[[int], str]) -> None:
        """`who` plays, if so many chunks are played at a time."""
        self._who = who
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
            TimeLeft(),
            console=console.err,
            auto_refresh=False,
        )
        self._task = self._bar.add_task("starting", total=None, pace="", waiting=False)
        self._live = Live(console=console.err, auto_refresh=False, transient=True)
        self._draw, self._table = Interval(DRAW_S), Interval(TABLE_S)
        self._shown: list[RenderableType] = []
        self._faults = FaultLines()
        self._pace = Pace()

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, event: Told | Tick) -> None:
        for line in self._faults(event):
            self._live.console.print(line)
        if isinstance(event, Tick):
            self._tick(event)
        elif isinstance(event, Building | LeftOut | Started | BotOut | RoundEnded):
            for line in told(event, self._who):
                self._live.console.print(line)

    def _tick(self, tick: Tick) -> None:
        pace = self._pace(tick)
        if not self._draw.is_due():
            return
        word = "starting bots" if tick.state == "calling" else "playing"
        self._bar.update(
            self._task,
            description=WAITING if pace is None else word,
            completed=tick.played,
            total=tick.planned,
            pace="" if pace is None else f"{pace:.0f} games/s",
            waiting=pace is None,
        )
        if tick.new and self._table.is_due():
            began = time.monotonic()
            from referee.cli.so_far import table_so_far  # numpy: not before it is needed

            self._shown = table_so_far(tick.store)
            self._table.done(time.monotonic() - began)
        who = []
        if tick.muster is not None and tick.muster.places:
            who.append(muster_told(tick.muster, self._live.console.width))
        self._live.update(Group(*self._shown, *who, self._bar), refresh=True)
        self._draw.done()
