"""`referee connect`: a bot that runs here plays for a referee elsewhere."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import Annotated

import typer

from referee.bots.building import built
from referee.bots.manifest import check_name, find_bot
from referee.cli import console
from referee.cli.confining import confinement
from referee.cli.logs import last_line
from referee.cli.options import Expose, Limit, Sandbox
from referee.connecting.envoy import Envoy
from referee.connecting.local import LocalBot, WillNotStart
from referee.connecting.news import (
    Blamed,
    BrokeDown,
    Connected,
    GameBegan,
    GameOver,
    Left,
    Lost,
    News,
    Running,
)
from referee.connecting.remote import BadDestination, Destination
from referee.links.keys import read_keys
from referee.match import check_logs
from referee.rules.numbers import amount

EXAMPLES = """
**Examples**

    referee connect ./my_bot --to tcp://127.0.0.1:7781 --token 3f9c…

    referee connect ./my_bot --to tcp://contest.example.org:7781 --key my_bot.key --server-key …

    referee connect "mine=python3 my_bot.py" --to tcp://127.0.0.1:7781 --name ann --json

A BOT is a folder with `bot.toml`, the name of a sample bot, or `"name=command line"`.
"""


def connect_command(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="The bot.", show_default=False)],
    to: Annotated[
        str,
        typer.Option(help="Where the referee listens: tcp://HOST:PORT.", show_default=False),
    ],
    name: Annotated[
        str | None,
        typer.Option(help="The name that the bot has there; its own if not given."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="The file of the bot's key, as `referee keys new` writes it."),
    ] = None,
    server_key: Annotated[
        str | None,
        typer.Option(help="The referee's public key, 40 characters; goes with --key."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="REFEREE_TOKEN",
            show_envvar=True,
            help="The bot's token, where the referee takes tokens.",
        ),
    ] = None,
    sandbox: Sandbox = None,
    limit: Limit = None,
    expose: Expose = None,
    logs: Annotated[Path, typer.Option(help="Folder for what the bot writes to stderr.")] = Path(
        "referee-logs"
    ),
    json: Annotated[
        bool, typer.Option("--json", help="Tell what happens as JSON, one object a line.")
    ] = False,
) -> None:
    """Connect a bot to a referee that runs elsewhere as a daemon (`referee serve`).

    The bot runs here, and its lines travel. When the referee is not there, or goes away, its
    return is waited for; when the bot breaks down, it is started anew. Ctrl-C ends it.
    """
    found = find_bot(bot)
    named = found.name if name is None else name
    check_name("--name", named)
    if key is not None and token is not None:
        raise BadDestination("a bot proves who it is by --key or by --token, not by both")
    destination = Destination(
        to=to,
        name=named,
        token=token,
        keys=None if key is None else read_keys(key),
        server_key=server_key,
    )
    destination.check()
    confined = confinement(sandbox, limit, expose, bots=[found])
    ready = built(found, confined, on_build=console.tell_build, compiler_cache=True)
    log = check_logs(logs) / f"{named}.stderr.txt"
    log.unlink(missing_ok=True)
    local = LocalBot(ready, confined, log=log.resolve())
    try:
        Envoy(local, destination, console.print_json if json else _tell).run()
    except WillNotStart as problem:
        said = last_line(log)
        told = f"its stderr ends: {said} (all of it is in {log})" if said else f"see {log}"
        raise WillNotStart(f"{problem}; {told}") from None


connect_command.__doc__ = f"{cleandoc(connect_command.__doc__ or '')}\n{EXAMPLES}"


def _tell(news: News) -> None:
    line = _line(news)
    if line:
        print(console.printable(line), flush=True)


def _line(news: News) -> str:
    match news:
        case Running(bot=bot, pid=pid):
            return f"{bot} runs here as process {pid}"
        case Connected(bot=bot, to=to, referee=version):
            return f"{bot} is connected to {to} (referee {version})"
        case Lost(to=to, why=why):
            return f"no referee at {to}: {why}; waiting for it"
        case GameBegan(game=game, variant=variant, players=(first, second), seat=seat):
            return f"game {game} of {variant}: {first} against {second}, seat {seat}"
        case GameOver(game=game, result=result, ending=ending, scores=(first, second)):
            how = "" if ending == "rules" else f" by {ending}"
            return f"game {game}: {result}{how}, {first} to {second}"
        case Blamed(code=code, detail=detail, game=game):
            return f"{code}{'' if game is None else f' in game {game}'}: {detail}"
        case BrokeDown(bot=bot, why=why):
            return f"{bot} is started anew: {why}"
        case Left(bot=bot, games=games):
            return f"{bot} has left after {amount(games, 'game')}"
