"""docs/commands.md, made from the commands themselves.

    python -m referee.testing.commands docs/commands.md

Everything comes from the docstrings and options that `--help` shows too, so the page cannot fall
behind; a test compares the two. Nothing here depends on a terminal or on how typer draws its help.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from referee.cli import console
from referee.cli.app import build_app
from referee.mistake import BAD_INPUT, FAILED, REFUSED
from referee.protocol.describe import table
from referee.verdict import MEANINGS, PRECEDENCE, exit_status

HEAD = """\
# Commands

What `referee COMMAND --help` shows, on one page. Written by
`python -m referee.testing.commands docs/commands.md`; do not edit it by hand.
"""

STATUSES = {
    0: "done",
    console.DOES_NOT_HOLD: "what was checked does not hold (`verify`, `check`, `check-variant`, "
    "`repro`, `doctor`), or was rejected (`submit`)",
    BAD_INPUT: "bad input: an argument, a bot, a variant, an option, a file",
    REFUSED: "the system refused: no space, no permission, no database server",
    FAILED: "the variant's script, or the referee itself, failed in a game; nobody lost by it",
    **{exit_status([code]): f"with `--strict`, `{code}`: {MEANINGS[code]}" for code in PRECEDENCE},
    console.INTERRUPTED: "interrupted by Ctrl-C",
    console.PIPE_CLOSED: "whoever read the output closed the pipe",
    console.TERMINATED: "ended by SIGTERM, or its terminal was closed; `serve` ends well by "
    "both and by Ctrl-C, with 0",
}
"""Every exit status. With --strict the gravest fault counts, which is the lowest number."""

VALUES: dict[object, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    Path: "path",
    bool: "",
}


def commands(of: typer.Typer) -> dict[str, Any]:
    """The commands of an app by name, as typer has settled them. Hidden ones are left out."""
    return _within(typer.main.get_command(of))


def _within(group: Any) -> dict[str, Any]:
    """Those of a group, and those of the groups in it by all their words."""
    found: dict[str, Any] = {}
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            found |= {f"{name} {word}": command for word, command in _within(each).items()}
        elif not each.hidden:
            found[name] = each
    return found


def page(of: typer.Typer | None = None) -> str:
    """The whole of docs/commands.md."""
    of = of or build_app()
    group: Any = typer.main.get_command(of)
    parts = [HEAD, f"{group.help}\n", *_tables(group)]
    found = commands(of)
    parts.append(
        "".join(f"- [`referee {name}`](#referee-{name.replace(' ', '-')})\n" for name in found)
    )
    for name, command in found.items():
        parts.append(f"## referee {name}\n")
        parts.append(_usage(name, command))
        parts.append(_prose(command.help))
        parts += _tables(command)
    rows = [[f"{status}", meaning] for status, meaning in STATUSES.items()]
    parts.append("## Exit status\n")
    parts.append("The same for every command. Results go to stdout, all else to stderr.\n")
    parts.append(table(["status", "meaning"], rows) + "\n")
    return "\n".join(parts)


def undocumented(of: typer.Typer | None = None) -> list[str]:
    """What a reader of the page would miss: a summary, an example, a word on a parameter."""
    missing = []
    for name, command in commands(of or build_app()).items():
        text = command.help or ""
        if not text.partition("\n\n")[0].strip():
            missing.append(f"{name}: summary")
        if not any(line.startswith(f"    referee {name}") for line in text.splitlines()):
            missing.append(f"{name}: example")
        for parameter in _parameters(command):
            if not parameter.help:
                missing.append(f"{name}: help of {_names(parameter)}")
    return missing


def _parameters(command: Any) -> list[Any]:
    return [parameter for parameter in command.params if not parameter.hidden]


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _usage(name: str, command: Any) -> str:
    words = ["referee", name]
    parameters = _parameters(command)
    if not all(_is_argument(parameter) for parameter in parameters):
        words.append("[OPTIONS]")
    for parameter in filter(_is_argument, parameters):
        words.append(_names(parameter) if parameter.required else f"[{_names(parameter)}]")
    return _fenced([" ".join(words)])


def _prose(text: str) -> str:
    """A docstring as Markdown; what is indented in it are lines to type."""
    blocks: list[str] = []
    typed: list[str] = []
    for block in [*text.strip().split("\n\n"), ""]:
        if block.startswith("    "):
            typed += [line.strip() for line in block.splitlines()]
            continue
        if typed:
            blocks.append(_fenced(typed))
            typed = []
        if block:
            blocks.append(block + "\n")
    return "\n".join(blocks)


def _fenced(lines: list[str]) -> str:
    return "\n".join(["```sh", *lines, "```", ""])


def _tables(command: Any) -> Iterator[str]:
    hints = get_type_hints(command.callback, include_extras=True)
    arguments, options = [], []
    for parameter in _parameters(command):
        about = [parameter.help or ""]
        if _is_argument(parameter):
            arguments.append([f"`{_names(parameter)}`", *about])
        else:
            value = _value(hints[parameter.name], parameter.metavar)
            options.append([f"`{_names(parameter)}`", value, _default(parameter), *about])
    if arguments:
        yield table(["argument", "meaning"], arguments) + "\n"
    if options:
        yield table(["option", "value", "default", "meaning"], options) + "\n"


def _names(parameter: Any) -> str:
    if _is_argument(parameter):
        return str(parameter.metavar or parameter.name.upper())
    return ", ".join(sorted(parameter.opts, key=len, reverse=True) + parameter.secondary_opts)


def _value(hint: Any, metavar: str | None) -> str:
    """What an option takes, from the type and the limits of its parameter."""
    info: Any = None
    if get_origin(hint) is Annotated:
        hint, info = get_args(hint)[:2]
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    if get_origin(hint) is list:
        return _value(get_args(hint)[0], metavar) + ", repeatable"
    if get_origin(hint) is Literal:
        return " or ".join(f"`{each}`" for each in get_args(hint))
    if metavar:
        return metavar
    low, high = getattr(info, "min", None), getattr(info, "max", None)
    if low is not None:
        return f"{low} or more" if high is None else f"{low} to {high}"
    return VALUES[hint]


def _default(parameter: Any) -> str:
    default = parameter.default
    if parameter.secondary_opts and parameter.show_default:
        return f"`{parameter.opts[0] if default else parameter.secondary_opts[0]}`"
    return "" if default is None or default is False else f"`{default}`"


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit("usage: python -m referee.testing.commands docs/commands.md")
    Path(arguments[0]).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
