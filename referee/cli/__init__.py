"""The `referee` command. Thin: each function parses, calls one thing of the API and prints."""

from __future__ import annotations

import typer

from referee.cli.console import run
from referee.cli.games import replay_command, verify_command
from referee.cli.match import match_command
from referee.cli.play import play_command
from referee.cli.variants import check_variant_command, variants_command
from referee.version import __version__

app = typer.Typer(
    name="referee",
    help="A referee for bot competitions: it starts bots in any language, deals them games, "
    "enforces clocks and legal moves, and keeps a record of every game.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 done; 1 what was checked does not hold; 2 bad input; 3 the system "
    "refused (disk, permission); 4 the variant failed in a game; "
    "10 and up with --strict, by blame code; 130 interrupted.",
)
app.command("match")(match_command)
app.command("play")(play_command)
app.command("replay")(replay_command)
app.command("verify")(verify_command)
app.command("variants")(variants_command)
app.command("check-variant")(check_variant_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"referee {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


def main() -> None:
    run(app)
