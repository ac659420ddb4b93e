"""`referee keys`: how bots that connect prove who they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import console
from referee.cli.house import opened, opened_or_made, person, team_of
from referee.cli.options import DATA, AsJson, Create, Data

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a bot.")]
Team = Annotated[
    str | None, typer.Option(help="Whose bot it is, where it is new; the organisers' if left out.")
]


def keys_new_command(
    name: Name,
    team: Team = None,
    token: Annotated[
        bool, typer.Option("--token", help="A token instead of a key, for bots on this machine.")
    ] = False,
    out: Annotated[Path, typer.Option(help="The folder for NAME.key; made if need be.")] = Path(),
    data: Data = DATA,
    create: Create = False,
) -> None:
    """Make the key pair of a bot that connects, and let it in.

    NAME.key holds the secret: whoever has it is the bot. The public key is registered with the
    daemon, which knows it at once if it runs. A bot that has a key already gets this one instead; a
    file that is there is left as it is, so move the old one away, or give --out another folder.

    **Examples**

        referee keys new rocky --team Reds

        referee keys new rocky --token
    """
    from referee.links.keys import read_keys, write_keys  # zmq: not before it is needed
    from referee.store.house.names import must_be_bot_name

    must_be_bot_name(name)
    with opened_or_made(data, create=create) as house:
        number = team_of(house, team)
        if token:
            console.out.print(house.bots.new_token(name, number, by=person()))
            return
        made = not out.exists()
        path = write_keys(out, name)
        try:
            public = read_keys(path).public
            house.bots.trust(name, public, number, by=person())
        except BaseException:
            path.unlink(missing_ok=True)
            if made:
                out.rmdir()
            raise
    console.out.print(f"{path}: keep it secret, and give it to the bot's authors")
    console.out.print(f"public key: {public}")


def keys_trust_command(
    name: Name,
    public: Annotated[
        str, typer.Argument(metavar="PUBLIC", help="Its public key, 40 characters of Z85.")
    ],
    team: Team = None,
    data: Data = DATA,
    create: Create = False,
) -> None:
    """Let a bot in whose authors have made their own key pair.

    **Example**

        referee keys trust rocky 'rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7'
    """
    with opened_or_made(data, create=create) as house:
        bot = house.bots.trust(name, public.strip(), team_of(house, team), by=person())
    console.out.print(f"{bot.name} is let in with this key alone")


def keys_list_command(data: Data = DATA, json: AsJson = False) -> None:
    """Show the bots that may connect.

    **Example**

        referee keys list
    """
    with opened(data) as house:
        bots = [bot for bot in house.bots.all() if bot.public_key is not None or bot.has_token]
    if json:
        console.print_json(bots)
        return
    console.out.columns(
        ["bot", "team", "token", "public key"],
        [
            [bot.name, bot.team_name or "", "yes" if bot.has_token else "", bot.public_key or ""]
            for bot in bots
        ],
    )


def keys_remove_command(name: Name, data: Data = DATA) -> None:
    """Let a bot in no more: neither its key nor its token is taken.

    **Example**

        referee keys remove rocky
    """
    with opened(data) as house:
        bot = house.bots.forget_keys(name, by=person())
    console.out.print(f"{bot.name} is not let in any more")
