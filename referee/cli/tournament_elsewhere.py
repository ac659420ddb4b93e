"""`referee tournament --daemon URL`: a daemon plays it among its bots, and it is followed here.

The daemon goes on whether anybody follows or not. Its tables are written here in the end, as those
of a tournament that was played here; the games stay there.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.cli import console
from referee.cli.remote import DaemonRefused, Remote, Unreachable
from referee.cli.watching import LINE_S, Interval
from referee.mistake import REFUSED
from referee.rules.numbers import amount
from referee.store.place import holds_tournament
from referee.tournament.begin import free_folder
from referee.tournament.spec import DEFAULTS, BadSpec, Spec

OF_HERE = {
    "--bots": "is a folder here: name bots of its ladder with --bot",
    "--resume": "is for a tournament here: the daemon goes on by itself",
    "--allow-changes": "is for --resume",
    "--plan": "is for a tournament here",
    "--store": "is for a tournament here: the daemon keeps its own",
    "--events": "is for a tournament here: the daemon tells its own at /api/v1/events",
}
"""Options that mean nothing to a daemon, and what to do instead. Others are the daemon's to say."""
FIRST_LOOK_S = 0.2
LOOK_S = 2.0
BUSY = (429, 503)
AWAY_S = 120.0
"""How long a daemon may be away, to be started anew for example, before it is given up."""
OVER = ("finished", "failed")


class Progress(Struct, frozen=True):
    """What the daemon tells of a tournament."""

    state: str
    told: str
    standings: Any = None


class NotPlayed(Unreachable):
    """The daemon did not play it to its end; the message says why."""

    status = REFUSED


def refuse_what_is_of_here(*given: tuple[str, object]) -> None:
    """Raises BadSpec for the first of these options that somebody has given."""
    for option, value in given:
        if value not in (None, False):
            why = OF_HERE.get(option, "is the daemon's to say")
            raise BadSpec(f"with --daemon: {option} {why}")


def play_elsewhere(
    remote: Remote, spec: Spec, out: Path | None, home: Path, *, as_json: bool
) -> None:
    """Ask for it, follow it, and write its tables into `out`; where that is not given, into a
    folder of the tournament's name in `home`. Raises BadSpec, DaemonRefused, Unreachable."""
    if out is not None and (holds_tournament(out) or (out.exists() and not out.is_dir())):
        raise BadSpec(f"{out} is taken; give --out another folder")
    if len({name.casefold() for name in spec.bots}) == 1:
        raise BadSpec(f"a tournament needs two bots or more, not {spec.bots[0]} alone")
    told = {key: value for key, value in msgspec.to_builtins(spec).items() if _is_said(spec, key)}
    body = msgspec.json.encode({"spec": told})
    number = remote.post("/tournaments", body, "application/json")["id"]
    with _GoesOn(remote, number):
        _follow(remote, number)
        found = remote.get(f"/tournaments/{number}/standings")
    _show(found, out or _new_folder(home, spec.name), as_json=as_json)


def _new_folder(home: Path, name: str) -> Path:
    """One in which there are neither games nor tables yet: NAME, NAME-2, …"""
    folder = free_folder(home, name)
    number = 2
    while folder.exists():
        folder = free_folder(home, f"{name}-{number}")
        number += 1
    return folder


def _is_said(spec: Spec, key: str) -> bool:
    """Whether the daemon is told of it: what is left out is as it usually is."""
    return key in ("name", "variants") or getattr(spec, key) != DEFAULTS[key]


class _GoesOn:
    """Says what becomes of the tournament where somebody stops following it."""

    def __init__(self, remote: Remote, number: int) -> None:
        self._remote = remote
        self._number = number

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, Exception):
            return
        where = f"{self._remote.url}/api/v1/tournaments/{self._number}"
        console.err.print(
            f"The daemon goes on with tournament {self._number}: its tables are at "
            f"{where}/standings; a POST to {where}/cancel calls it off"
        )


def _follow(remote: Remote, number: int) -> None:
    """Until it is finished. Raises NotPlayed, Unreachable."""
    pause, state = FIRST_LOOK_S, ""
    heard = time.monotonic()
    away = False
    with _Screen(number) as screen:
        while True:
            try:
                progress = _look(remote, number)
            except Unreachable as trouble:
                if time.monotonic() - heard > AWAY_S:
                    raise
                if not away:
                    screen.say(f"{trouble}; trying again")
                away = True
            else:
                heard, away = time.monotonic(), False
                if progress.state != state:
                    state = progress.state
                    screen.say(f"tournament {number}: {state}")
                screen.show(progress)
                if state == "failed":
                    raise NotPlayed(f"tournament {number} was not played: {progress.told}")
                if state == "finished":
                    return
            time.sleep(pause)
            pause = min(LOOK_S, pause * 1.5)


def _look(remote: Remote, number: int) -> Progress:
    """Raises Unreachable where the daemon is away or has too much to do."""
    try:
        row = remote.get(f"/tournaments/{number}")
        progress = Progress(str(row["state"]), str(row["told"]))
        if progress.state != "playing":
            return progress
        tables = remote.get(f"/tournaments/{number}/standings")
    except DaemonRefused as refused:
        if refused.code == 404 and refused.args[0].startswith(f"tournament {number} has no games"):
            return progress
        if refused.code in BUSY:
            raise Unreachable(str(refused)) from None
        raise
    return msgspec.structs.replace(progress, standings=tables["standings"])


class _Screen:
    """How far it is: on a terminal the table so far, over and over; else a line now and then."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._line = Interval(LINE_S)
        self._live: Any = None

    def __enter__(self) -> _Screen:
        if console.err.is_terminal:
            from rich.live import Live

            self._live = Live(console=console.err, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, line: str) -> None:
        if self._live is not None:
            self._live.console.print(console.printable(line))
        else:
            print(console.printable(line), file=sys.stderr, flush=True)

    def show(self, progress: Progress) -> None:
        if progress.standings is None:
            return
        played, planned = progress.standings["played"], progress.standings["planned"]
        line = f"{played} of {amount(planned, 'game')}"
        if self._live is not None:
            from rich.console import Group

            from referee.cli.so_far import shown_so_far  # numpy: not before it is needed
            from referee.reports.standings import Standings

            standings = msgspec.convert(progress.standings, Standings)
            self._live.update(Group(*shown_so_far(standings), line), refresh=True)
        elif self._line.is_due():
            self.say(line)
            self._line.done()


def _show(found: Any, folder: Path, *, as_json: bool) -> None:
    """Write the tables, and show them."""
    # numpy: not before it is needed
    from referee.cli.tournament_shown import show_tables, show_written
    from referee.reports.standings import Standings, Timing
    from referee.reports.tables.files import write_tables

    try:
        table = msgspec.convert(found["standings"], Standings)
        times = msgspec.convert(found["times"], list[Timing])
    except (msgspec.ValidationError, KeyError) as error:
        raise Unreachable(f"the daemon's tables cannot be read: {error}") from None
    folder.mkdir(parents=True, exist_ok=True)
    written = write_tables(folder, table, times)
    if as_json:
        console.print_json(table)
        return
    show_tables(console.out, table, times)
    show_written(console.out, folder, written)
