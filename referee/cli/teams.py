"""`referee teams`: who may submit bots, organise and look, and their tokens."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from typing import Annotated

import typer
from msgspec.structs import asdict

from referee.cli import console
from referee.cli.house import opened, opened_or_made, person
from referee.cli.options import DATA, AsJson, Create, Data
from referee.mistake import Mistake

LONGEST_LIST = 10_000_000


def teams_import_command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="CSV with the columns name and role; - is stdin.")
    ],
    data: Data = DATA,
    create: Create = False,
    json: AsJson = False,
) -> None:
    """Add the teams of a list, and print their tokens.

    The role is organiser, team or viewer; team if left out. The tokens are printed as CSV and shown
    this once: keep them. A team that is there already keeps its token, and its role becomes what
    the list says. A list with a mistake changes nothing.

    **Examples**

        referee teams import teams.csv > tokens.csv

        echo name,Reds,Blues | tr , '\\n' | referee teams import - --create
    """
    with console.open_input(file) as source:
        content = source.read(LONGEST_LIST + 1)
    if len(content) > LONGEST_LIST:
        raise Mistake(f"{file}: larger than {LONGEST_LIST:,} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise Mistake(f"{file}: not UTF-8; save the file as UTF-8") from None
    with opened_or_made(data, create=create) as house:
        found = house.teams.import_csv(text, by=person())
    if json:
        console.print_json(found)
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["name", "role", "token"])
    writer.writerows([team.name, team.role, team.token or ""] for team in found)


def teams_list_command(data: Data = DATA, json: AsJson = False) -> None:
    """Show the teams.

    **Example**

        referee teams list
    """
    with opened(data) as house:
        teams = house.teams.all()
        bots = Counter(bot.team for bot in house.bots.all())
    if json:
        console.print_json([{**asdict(team), "bots": bots[team.id]} for team in teams])
        return
    console.out.columns(
        ["team", "role", "bots", "since"],
        [[team.name, team.role, str(bots[team.id]), team.created[:10]] for team in teams],
    )


def teams_token_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a team.")],
    data: Data = DATA,
) -> None:
    """Give a team another token, and print it. The one it had is void from now on.

    **Example**

        referee teams token Reds
    """
    with opened(data) as house:
        token = house.teams.new_token(name, by=person())
    console.out.print(token)
