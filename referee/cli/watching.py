"""Whoever watches a tournament: a log file, a script, a person at a terminal (live_view.py).

Each is a listener of the coordinator. The table so far is computed from the store now and then, and
rarely enough that it costs a fortieth of the time at most.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from referee.cli import console
from referee.cli.first_faults import FirstFaults
from referee.rules.numbers import amount
from referee.store.database import Store
from referee.tournament.crew import Muster
from referee.tournament.events import (
    BotOut,
    Building,
    Finished,
    GamePlayed,
    LeftOut,
    Listener,
    RoundEnded,
    Started,
    Tick,
    Told,
)

LINE_S = 10.0
FLUSH_S = 0.5
TABLE_S = 2.0
SHOWN_PLACES = 4
WAITING = "waiting for workers"
TABLE_SHARE = 40
"""The table so far is made again after so many times as long as it took to make."""


class Watchers:
    """Everybody who listens, as one listener."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = listeners

    def __call__(self, event: Told | Tick) -> None:
        for listener in self._listeners:
            listener(event)


class Interval:
    """Whether it is time again."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._next = time.monotonic() + every_s

    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    def done(self, took_s: float = 0.0) -> None:
        self._next = time.monotonic() + max(self._every_s, TABLE_SHARE * took_s)


class FaultLines:
    """The first faults of each bot, in lines, soon after they happened."""

    def __init__(self) -> None:
        self._faults, self._look = FirstFaults(), Interval(TABLE_S)
        self._store: Store | None = None
        self._seen = 0

    def __call__(self, event: Told | Tick) -> list[str]:
        """What is to be told now."""
        if isinstance(event, Tick):
            self._store = event.store
            if event.new == self._seen or not self._look.is_due():
                return []
            self._seen = event.new
        elif isinstance(event, Started) and event.resumed:
            with Store.read(event.folder) as before:
                self._faults.know(before)
            return []
        elif not isinstance(event, Finished):
            return []
        if self._store is None:
            return []
        began = time.monotonic()
        lines = self._faults.new_lines(self._store)
        self._look.done(time.monotonic() - began)
        return lines


class Pace:
    """Games a second, over the time in which there was somebody to play them."""

    def __init__(self) -> None:
        self._seen = time.monotonic()
        self._playing_s = 0.001

    def __call__(self, tick: Tick) -> float | None:
        """None while there is nobody. Wants to be told of every tick."""
        now = time.monotonic()
        waited_s, self._seen = now - self._seen, now
        if tick.muster is not None and not tick.muster.places:
            return None
        self._playing_s += waited_s
        return tick.new / self._playing_s


class Lines:
    """One line now and then, for a log."""

    def __init__(self, who: Callable[[int], str]) -> None:
        """`who` plays, if so many chunks are played at a time."""
        self._who = who
        self._line = Interval(LINE_S)
        self._faults = FaultLines()
        self._pace = Pace()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, event: Told | Tick) -> None:
        for line in self._faults(event):
            console.tell(line)
        if isinstance(event, Tick):
            pace = self._pace(event)
            if self._line.is_due():
                console.tell(self._progress(event, pace))
                self._line.done()
            return
        if isinstance(event, Building | LeftOut | Started | BotOut | RoundEnded):
            for line in told(event, self._who):
                console.tell(line)

    def _progress(self, tick: Tick, pace: float | None) -> str:
        line = f"{tick.played} of {amount(tick.planned, 'game')}"
        if pace is not None:
            line += f", {pace:.0f} games/s"
            if tick.new:
                line += f", about {(tick.planned - tick.played) / pace:.0f} s left"
        if tick.muster is not None:
            line += f"; {muster_told(tick.muster)}"
        return line


class Stream:
    """Events as JSON lines, for scripts. docs/events.md describes them."""

    def __init__(self, path: str, *, resumed: bool) -> None:
        self._path = path
        self._resumed = resumed
        self._before = io.BytesIO()
        """What was told before the start: a command that is refused overwrites nothing."""
        self._file: IO[bytes] = self._before
        self._encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
        self._table, self._flush = Interval(LINE_S), Interval(FLUSH_S)
        self._store: Store | None = None

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        with self._named():
            self._file.flush()
            if self._path != "-":
                self._file.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Trouble with the file says which file it is."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            error.filename = "the events on standard output" if self._path == "-" else self._path
            raise

    def __call__(self, event: Told | Tick) -> None:
        with self._named():
            self._hear(event)

    def _hear(self, event: Told | Tick) -> None:
        if isinstance(event, Started):
            self._file = sys.stdout.buffer if self._path == "-" else self._opened()
            self._file.write(self._before.getvalue())
        if isinstance(event, Tick):
            self._store = event.store
            if self._table.is_due():
                began = time.monotonic()
                self._tell_standings(event.store)
                self._table.done(time.monotonic() - began)
            if self._flush.is_due():
                self._file.flush()
                self._flush.done()
            return
        if isinstance(event, Finished) and self._store is not None:
            self._tell_standings(self._store)
        self._write(event)
        if not isinstance(event, GamePlayed):
            self._file.flush()

    def _opened(self) -> IO[bytes]:
        """What a resumed tournament tells goes on with what it told before."""
        return Path(self._path).open("ab" if self._resumed else "wb")

    def _tell_standings(self, store: Store) -> None:
        from referee.reports.standings import standings  # numpy: not before it is needed

        self._write({"event": "standings", **msgspec.to_builtins(standings(store))})

    def _write(self, event: object) -> None:
        self._file.write(self._encode(event) + b"\n")


def muster_told(muster: Muster, width: int | None = None) -> str:
    """Who plays on a cluster, in a line of this width: the busiest first, as many as fit."""
    places = sorted(muster.places, key=lambda place: -place.games_per_s)
    if not places:
        return WAITING
    told = f"{amount(len(places), 'worker')}, {amount(muster.in_flight, 'chunk')} in flight"
    for shown in range(min(len(places), SHOWN_PLACES), 0, -1):
        paces = [f"{place.name} {place.games_per_s:.0f} games/s" for place in places[:shown]]
        more = f" and {len(places) - shown} more" if len(places) > shown else ""
        line = f"{told}: {', '.join(paces)}{more}"
        if width is None or len(line) <= width:
            return line
    return told


def told(
    event: Building | LeftOut | Started | BotOut | RoundEnded, who: Callable[[int], str]
) -> list[str]:
    """An event as lines for people, whatever a stranger's bot.toml made of it."""
    return [console.printable(line) for line in _told(event, who)]


def _told(
    event: Building | LeftOut | Started | BotOut | RoundEnded, who: Callable[[int], str]
) -> list[str]:
    if isinstance(event, Building):
        return [f"building {event.bot}"]
    if isinstance(event, LeftOut):
        return [f"{event.bot} is left out: {event.why}", *console.quoted(event.output)]
    if isinstance(event, BotOut):
        return [f"{event.bot} is out: {event.why}"]
    if isinstance(event, RoundEnded):
        return [f"round {event.round} is over: {event.played} of {event.planned} games"]
    what = f"{event.name}: {event.format} of {', '.join(event.bots)}"
    games = f"{', '.join(event.variants)}, {amount(event.planned, 'game')}"
    if event.resumed:
        games += f", {event.played} of them played before"
    return [f"{what}", f"{games}, {who(event.jobs)}, in {event.folder}"]
