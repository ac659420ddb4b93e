"""`referee tournament` without `--daemon`: it is played by this command, here or on a cluster."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from referee.cli import console
from referee.cli.cluster import Site
from referee.cli.confining import tell_unenforced
from referee.cli.watching import Lines, Stream, Watchers
from referee.mistake import BAD_INPUT, Mistake
from referee.rules.numbers import amount
from referee.store.database import Store
from referee.store.place import holds_tournament
from referee.store.trouble import StoreRefused
from referee.tournament.begin import (
    Lineup,
    line_up,
    play_tournament,
    resume_tournament,
    with_level_settled,
)
from referee.tournament.confining import confinement_of
from referee.tournament.events import Listener, Started, Tick, Told
from referee.tournament.ground import Ground
from referee.tournament.reading import read_spec
from referee.tournament.run import TournamentResult
from referee.tournament.spec import Spec


def lined_up(spec: Spec, ground: Ground) -> Lineup:
    """With what has to be said of its bots."""
    lineup = line_up(spec)
    for name in lineup.idle():
        console.tell(f"{name} plays none of the variants and is left out")
    lineup = with_level_settled(lineup, ground)
    confined = confinement_of(lineup.spec)
    tell_unenforced(lineup.spec.limits, confined.level)
    return lineup


def show_plan(lineup: Lineup, ground: Ground, *, as_json: bool) -> None:
    from referee.tournament.plan import plan, told  # the arena: not where a tournament is played

    for place, why in lineup.spec.left_out.items():
        console.tell(f"{place} is left out: {why}")
    spec = replace(lineup.spec, jobs=ground.jobs(lineup.spec))
    planned = plan(spec, lineup.players)
    if as_json:
        console.print_json(planned)
    else:
        for line in told(planned):
            console.out.print(line)


def _watchers(
    stack: ExitStack, folder: Path, site: Site, events: str | None, *, resumed: bool
) -> Watchers:
    safe_end = _SafeEnd(folder, resumed=resumed)
    stack.enter_context(safe_end)  # speaks when the live view is gone
    view = stack.enter_context(_view(site))
    if events is None:
        return Watchers([safe_end, view])
    return Watchers([safe_end, view, stack.enter_context(Stream(events, resumed=resumed))])


def _view(site: Site) -> AbstractContextManager[Listener]:
    if not sys.stderr.isatty():
        return Lines(site.told)
    from referee.cli.live_view import LiveView  # rich: where something is drawn

    return LiveView(site.told)


def played(
    spec: Spec, folder: Path, events: str | None, site: Site, store: str | None
) -> TournamentResult:
    with ExitStack() as stack:
        listener = _watchers(stack, folder, site, events, resumed=False)
        return play_tournament(
            spec,
            folder,
            listener=listener,
            each_game=events is not None,
            ground=site.ground,
            store=store,
        )


def resumed(
    folder: Path,
    path: Path | None,
    given: dict[str, Any],
    events: str | None,
    site: Site,
    store: str | None,
    *,
    allow_changes: bool,
) -> TournamentResult:
    with ExitStack() as stack:
        listener = _watchers(stack, folder, site, events, resumed=True)
        return resume_tournament(
            folder,
            given=given,
            spec=None if path is None else read_spec(path),
            allow_changes=allow_changes,
            listener=listener,
            each_game=events is not None,
            ground=site.ground,
            store=store,
        )


class _SafeEnd:
    """Says how to go on where a tournament ends before its end, other than by a mistake in what was
    asked for."""

    def __init__(self, folder: Path, *, resumed: bool) -> None:
        self._folder = folder
        self._others = not resumed and holds_tournament(folder)
        self._begun = False

    def __call__(self, event: Told | Tick) -> None:
        self._begun = self._begun or isinstance(event, Started)

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, problem: BaseException | None, *__: object) -> None:
        refused = isinstance(problem, Exception) and not self._begun
        if self._others or refused or not _cuts_short(problem):
            return
        try:
            with Store.read(self._folder) as store:
                there = f"{amount(sum(store.counts().values()), 'game')} in the store; "
        except StoreRefused:
            there = ""  # Its server does not answer.
        except Exception:
            return  # Nothing had begun.
        console.tell(f"{there}go on with: referee tournament --resume {self._folder}")


def _cuts_short(problem: BaseException | None) -> bool:
    """Whether it is nothing that was asked for wrongly: Ctrl-C, a cluster that is gone, a full
    disk."""
    if isinstance(problem, Mistake):
        return problem.status != BAD_INPUT
    if isinstance(problem, Exception):
        return isinstance(problem, OSError) and not isinstance(problem, BrokenPipeError)
    return problem is not None
