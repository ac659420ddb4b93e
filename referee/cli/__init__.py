"""The `referee` command. Thin: each function parses, calls one thing of the API and prints.

Only the module of the command that was typed is imported: nobody who asks for the standings should
wait for the arena.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import partial
from importlib import import_module

import typer

from referee.cli.console import run
from referee.version import __version__

COMMANDS = {
    "tournament": "tournament",
    "match": "match",
    "play": "play",
    "watch": "watch",
    "new-bot": "new_bot",
    "check": "check",
    "standings": "standings",
    "report": "report",
    "export": "standings",
    "rate": "rate",
    "replay": "games",
    "verify": "games",
    "repro": "repro",
    "doctor": "doctor",
    "variants": "variants",
    "check-variant": "variants",
}
"""Commands and their modules. The function of `check-variant` is `check_variant_command`."""


def build_app(wanted: Collection[str] = COMMANDS.keys()) -> typer.Typer:
    """The command with these subcommands, or with all of them."""
    app = typer.Typer(
        name="referee",
        help="A referee for bot competitions: it starts bots in any language, deals them games, "
        "enforces clocks and legal moves, keeps a record of every game, runs tournaments and "
        "rates the bots.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit status: 0 done; 1 what was checked does not hold; 2 bad input; 3 the system "
        "refused (disk, permission); 4 the variant failed in a game; "
        "10 and up with --strict, by blame code; 130 interrupted.",
    )
    app.callback()(_options)
    for name, module in COMMANDS.items():
        if name in wanted:
            function = f"{name.replace('-', '_')}_command"
            app.command(name)(getattr(import_module(f"referee.cli.{module}"), function))
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"referee {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


def main() -> None:
    words = sys.argv[1:]
    named = words[:1] if words and words[0] in COMMANDS else COMMANDS
    if named == ["match"]:
        from referee.cli.match import gather_sprt

        words = gather_sprt(words)
    run(partial(build_app, named), words)
