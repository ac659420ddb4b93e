"""`referee activate`, `pause`, `resume`, `disqualify`: which bots play in the ladder."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import console
from referee.cli.house import opened, person
from referee.cli.options import DATA, Data

Name = Annotated[str, typer.Argument(metavar="BOT", help="Name of a bot of the ladder.")]


def activate_command(
    bot: Name,
    version: Annotated[int, typer.Argument(metavar="VERSION", help="Its number, for example 2.")],
    data: Data = DATA,
) -> None:
    """Let a version of a bot play instead of the one that does, for example an older one.

    **Example**

        referee activate rocky 2
    """
    with opened(data) as house:
        row = house.versions.activate(bot, version, by=person())
    console.out.print(f"{row.name} plays")


def pause_command(bot: Name, data: Data = DATA) -> None:
    """Give a bot no new games until it is resumed.

    **Example**

        referee pause rocky
    """
    with opened(data) as house:
        row = house.bots.pause(bot, by=person())
    console.out.print(f"{row.name} is paused")


def resume_command(bot: Name, data: Data = DATA) -> None:
    """Let a bot play again that was paused.

    A tournament that was interrupted goes on with `referee tournament --resume`.

    **Example**

        referee resume rocky
    """
    with opened(data) as house:
        row = house.bots.resume(bot, by=person())
    console.out.print(f"{row.name} plays again")


def disqualify_command(
    bot: Name,
    reason: Annotated[
        str | None, typer.Option(help="Why, in one line; everybody can read it.")
    ] = None,
    lift: Annotated[bool, typer.Option("--lift", help="Take a disqualification back.")] = False,
    data: Data = DATA,
) -> None:
    """Let a bot play no more. Its games stay; `referee rule` decides on single ones.

    **Examples**

        referee disqualify rocky --reason "looks into other bots' folders"

        referee disqualify rocky --lift
    """
    if lift == (reason is not None):
        raise console.UsageError("either --reason or --lift is given")
    with opened(data) as house:
        if reason is None:
            row = house.bots.reinstate(bot, by=person())
        else:
            row = house.bots.disqualify(bot, reason, by=person())
    if row.disqualified is None:
        console.out.print(f"{row.name} is no longer disqualified")
    else:
        console.out.print(f"{row.name} is disqualified: {row.disqualified}")
