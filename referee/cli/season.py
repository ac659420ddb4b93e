"""`referee season`: a ladder from its start to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec import Raw
from msgspec.structs import asdict

from referee.cli import console
from referee.cli.confining import exposed_by_daemon, read_given_limits
from referee.cli.house import opened, opened_or_made, person
from referee.cli.options import DATA, AsJson, Create, Data, Expose, Limit, Sandbox
from referee.rules.registry import BUNDLED, is_path
from referee.store.browsing import games_now
from referee.store.database import Store
from referee.store.house import House
from referee.store.house.mistakes import Conflict
from referee.store.house.rows import SeasonRow
from referee.tournament.reading import override
from referee.tournament.spec import Spec

NAME = "ladder"
Season = Annotated[
    str | None,
    typer.Argument(metavar="[SEASON]", help="Which; the last if left out.", show_default=False),
]


def season_start_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="What it is called; its number if left out.", show_default=False
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", "-v", help="What is played. Can be repeated."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of a variant: target=40, or duel.life=30. Can be repeated."),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option("--time", help="100ms a move, 10s+100ms as bank, or none.")
    ] = None,
    sandbox: Sandbox = None,
    limit: Limit = None,
    expose: Expose = None,
    data: Data = DATA,
    create: Create = False,
) -> None:
    """Start a season. The one before has to be closed.

    What is not given is as in the season before; in the first one, all variants are played with a
    second a move. The daemon plays it as soon as it runs.

    **Examples**

        referee season start

        referee season start finals --variant duel --time 100ms
    """
    with opened_or_made(data, create=create) as house:
        last = house.seasons.latest()
        base = Spec(name=NAME, variants=tuple(BUNDLED), prior=True) if last is None else _spec(last)
        spec = override(
            base,
            option=option or [],
            variants=whole_variants(variant),
            time=time_limit,
            sandbox=sandbox,
            limits=read_given_limits(limit),
            expose=exposed_by_daemon(expose, data),
        )
        season = house.seasons.start(msgspec.json.encode(spec).decode(), name, by=person())
    console.out.print(f"The season {season.name} has started: {', '.join(spec.variants)}")


def season_freeze_command(season: Season = None, data: Data = DATA) -> None:
    """Freeze the public scoreboard: games go on, and only organisers see what comes of them.

    **Example**

        referee season freeze
    """
    from referee.reports.standings import standings  # numpy: not before it is needed

    with opened(data) as house:
        row = _named(house, season)
        folder = house.seasons.folder(row)
        if not folder.exists():
            raise Conflict(f"the season {row.name} has no games yet")
        with Store.read(folder) as store:
            told, games = msgspec.json.encode(standings(store)).decode(), games_now(store)
        frozen = house.seasons.freeze(row.name, told, games, by=person())
    console.out.print(f"The season {frozen.name} is frozen until it is revealed")


def season_reveal_command(season: Season = None, data: Data = DATA) -> None:
    """Show everybody the true scoreboard again.

    **Example**

        referee season reveal
    """
    with opened(data) as house:
        row = house.seasons.reveal(_named(house, season).name, by=person())
    console.out.print(f"The season {row.name} is revealed")


def season_close_command(season: Season = None, data: Data = DATA) -> None:
    """End a season: no more games. What is frozen stays so until it is revealed.

    **Example**

        referee season close
    """
    with opened(data) as house:
        row = house.seasons.close(_named(house, season).name, by=person())
        folder = house.seasons.folder(row)
    console.out.print(f"The season {row.name} is closed; its games are in {folder}")


def season_list_command(data: Data = DATA, json: AsJson = False) -> None:
    """Show the seasons.

    **Example**

        referee season list --json
    """
    with opened(data) as house:
        rows = house.seasons.all()
    if json:
        console.print_json([{**asdict(row), "spec": Raw(row.spec.encode())} for row in rows])
        return
    console.out.columns(
        ["season", "state", "started", "closed", "variants"],
        [
            [
                row.name,
                "closed, not revealed" if row.state == "closed" and row.hidden else row.state,
                row.started[:16].replace("T", " "),
                (row.closed or "")[:16].replace("T", " "),
                ", ".join(Path(each).stem for each in _spec(row).variants),
            ]
            for row in rows
        ],
    )


def _named(house: House, name: str | None) -> SeasonRow:
    if name is not None:
        return house.seasons.named(name)
    last = house.seasons.latest()
    if last is None:
        raise Conflict("there is no season yet")
    return last


def _spec(season: SeasonRow) -> Spec:
    return msgspec.json.decode(season.spec, type=Spec)


def whole_variants(given: list[str] | None) -> tuple[str, ...] | None:
    """With whole paths of scripts: the daemon runs elsewhere."""
    if not given:
        return None
    return tuple(str(Path(text).resolve()) if is_path(text) else text for text in given)
