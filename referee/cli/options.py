"""Options that several commands have.

They are declared apart from what carries them out, so that the help of a command imports none of
it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from referee.bots.confinement.limits import BadLimit


def path(text: str) -> Path:
    """Before it is one: the empty path is the current folder. Raises BadLimit. Its name is what the
    help shows in the place of a value."""
    if not text.strip():
        from referee.bots.confinement.exposing import EMPTY  # OpenSSL: not for the help

        raise BadLimit(EMPTY)
    return Path(text)


Sandbox = Annotated[
    Literal["full", "standard", "none"] | None,
    typer.Option(help="How bots are confined; the best that `referee doctor` finds here."),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(help="What a bot may use: memory=512M, cpu=60 … Can be repeated."),
]
Freeze = Annotated[
    bool | None,
    typer.Option("--freeze/--no-freeze", help="A bot stands still while the other is to move."),
]
FreezeStrangers = Annotated[
    bool | None,
    typer.Option(
        "--freeze/--no-freeze",
        show_default=False,
        help="A bot stands still while the other is to move; the default with bots of strangers.",
    ),
]
Expose = Annotated[
    list[Path] | None,
    typer.Option(
        parser=path,
        help="A folder that confined bots may read. Can be repeated.",
    ),
]

DATA = Path("referee-data")
Data = Annotated[Path, typer.Option("--data", help="The data folder of the daemon.")]
Create = Annotated[
    bool,
    typer.Option("--create", help="Make the data folder, before the daemon first starts."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Token = Annotated[
    str,
    typer.Option(
        "--token",
        envvar="REFEREE_TOKEN",
        show_envvar=False,
        help="Your team's token; REFEREE_TOKEN in the environment if not given.",
        show_default=False,
    ),
]
