"""`referee new-bot`: a folder with a bot that works at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.bots.environment import missing_command
from referee.bots.manifest import read_bot, sample_bots
from referee.cli import console
from referee.workshop.new_bot import LANGUAGES, new_bot

EXAMPLES = """
**Examples**

    referee new-bot mine --language python

    referee new-bot ferris --language rust --variant underdog

    referee new-bot mine --language c --out bots
"""


def new_bot_command(
    name: Annotated[str, typer.Argument(help="What the tables will call it; also its folder.")],
    language: Annotated[
        str, typer.Option("--language", "-l", help=f"One of {', '.join(LANGUAGES)}.")
    ] = "python",
    variant: Annotated[
        str | None,
        typer.Option(help="The one variant that it is to play; it plays all if left out."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder in which its own is made.")] = Path(),
    json: Annotated[bool, typer.Option("--json", help="One JSON object to stdout.")] = False,
) -> None:
    """Write a new bot in a language of your choice: a folder that works at once."""
    made = new_bot(name, language, parent=out, variant=variant)
    missing = missing_command(read_bot(Path(made.folder)))
    if json:
        console.print_json(made)
    else:
        spoken = LANGUAGES[made.language]
        console.out.print(f"{made.name}, a bot in {spoken}, is in {made.folder}. Next:")
        for command in made.commands:
            console.out.print(f"  {command}")
        console.out.print(f"Then write choose() in {made.edit}.")
    if name in sample_bots():
        console.err.print(
            f"a sample bot is called {name} too: ./{name} is yours, and so is {name} "
            "where its folder is"
        )
    if missing is not None:
        console.err.print(f"the command {missing} was not found: the bot cannot run before it is")


new_bot_command.__doc__ = f"{new_bot_command.__doc__}\n{EXAMPLES}"
