"""`referee tournament --from-season`: the best of a season meet again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from referee.cli import console
from referee.store.place import holds_tournament
from referee.tournament.begin import free_folder
from referee.tournament.spec import BadSpec, Spec

TOP = 16
FromSeason = Annotated[
    str | None,
    typer.Option(metavar="SEASON", help="Finals: the best of this season of the daemon's data."),
]
Top = Annotated[
    int | None, typer.Option(min=2, max=1000, help=f"Finals: how many of the season; {TOP}.")
]


def check_finals(season: str | None, top: int | None, others: Mapping[str, object]) -> None:
    """Raises BadSpec where something is given that does not go with it."""
    if season is None:
        if top is not None:
            raise BadSpec("--top is for the finals of a season; give --from-season too")
        return
    for name, value in others.items():
        if value:
            raise BadSpec(f"--from-season says who plays: no {name} with it")


def finals(
    season: str,
    top: int | None,
    data: Path,
    variants: Sequence[str],
    place: Path | None,
    stack: ExitStack,
    *,
    whole: bool,
) -> Spec:
    """The spec of the finals, with the bots unpacked in the tournament's folder; without one, in a
    folder that is gone with the stack, as they are where no tournament comes of it. Those who are
    passed over are told; `whole` where everybody has to play every variant."""
    # numpy: not before it is needed.
    from referee.cli.house import opened
    from referee.daemon.finals import find_finals, unpack_finalists

    with opened(data) as house:
        most = TOP if top is None else top
        found = find_finals(house, season, most, variants, whole=whole)
        for player, why in found.passed_over.items():
            console.err.print(console.printable(f"{player} is passed over: {why}"))
        if place is not None:
            stack.callback(_tidy, place)
        else:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="finals-")))
        return replace(found.spec, bots=tuple(unpack_finalists(house, found, place)))


def _tidy(place: Path) -> None:
    """Leave nothing where no tournament was begun."""
    from referee.daemon.finals import FOLDER

    if not holds_tournament(place):
        shutil.rmtree(place / FOLDER, ignore_errors=True)
        with suppress(OSError):  # Somebody's folder that holds other things.
            place.rmdir()
            place.parent.rmdir()


def finals_folder(season: str, name: str | None, out: Path | None, home: Path) -> Path:
    """Where they are played."""
    if out is None:
        return free_folder(home, name or f"finals-{season}")
    if holds_tournament(out):
        raise BadSpec(f"{out} already holds a tournament; take another folder")
    return out
