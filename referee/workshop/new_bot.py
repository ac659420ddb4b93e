"""A new bot from a template: a folder that works at once.

A template is a folder of `referee/templates`: the bot with its function `choose`, the protocol in a
second file, and a `bot.toml`. Words such as `@NAME@` in its files are filled in.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from msgspec import Struct

from referee.bots.manifest import BadBot, check_name
from referee.bots.manifest_text import MANIFEST
from referee.rules.chance import Seeded
from referee.rules.registry import BadVariant, blame_script, build_variant, is_path
from referee.rules.variant import Variant

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
README = "README.md"
DEFAULT_VARIANT = "underdog"
LANGUAGES = {
    "bash": "Bash",
    "c": "C",
    "cpp": "C++",
    "go": "Go",
    "java": "Java",
    "node": "JavaScript (Node)",
    "perl": "Perl",
    "python": "Python",
    "ruby": "Ruby",
    "rust": "Rust",
    "tcl": "Tcl",
}
"""The templates, and what people call their languages."""
ALIASES = {
    **{"c++": "cpp", "golang": "go", "javascript": "node", "js": "node"},
    **{"nodejs": "node", "py": "python", "sh": "bash"},
}


class NewBot(Struct, frozen=True, kw_only=True):
    """A bot that was just written."""

    name: str
    language: str
    folder: str
    variant: str | None
    """The one that it plays; None is all of them."""
    edit: str
    """The file whose `choose` is the author's to write."""
    commands: list[str]
    """What to type next, where the folder of the bot's folder is the current one."""


def new_bot(
    name: str, language: str, *, parent: str | Path = ".", variant: str | None = None
) -> NewBot:
    """Write the folder `parent`/`name`. Raises BadBot; what is there already is left alone."""
    folder = Path(parent) / name
    if name != Path(name).name:
        raise BadBot(f"{name}: a bot's name is no path; --out says where its folder goes")
    check_name(name, name)
    template = TEMPLATES / find_language(language)
    words = _words(name, template, variant or DEFAULT_VARIANT, only=variant is not None)
    if folder.exists():
        raise BadBot(f"{folder} is there already; nothing was written")
    try:
        folder.mkdir(parents=True)
        for source in (*_files(template), TEMPLATES / README):
            target = folder / source.name
            target.write_text(_filled(source.read_text("utf-8"), words), "utf-8")
            shutil.copymode(source, target)
    except OSError as error:
        raise BadBot(f"{folder}: {error.strerror}") from None
    return NewBot(
        name=name,
        language=template.name,
        folder=str(folder),
        variant=variant,
        edit=str(folder / words["BOT"]),
        commands=_next(shlex.quote(_path(folder)), words),
    )


def find_language(text: str) -> str:
    """The template that is meant. Raises BadBot."""
    word = ALIASES.get(text.lower(), text.lower())
    if word in LANGUAGES:
        return word
    near = get_close_matches(word, LANGUAGES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(LANGUAGES)}"
    raise BadBot(f"no template for {text!r}; {hint}")


def _path(folder: Path) -> str:
    """As a bot is named on the command line: a bare name would be that of a sample bot."""
    return str(folder) if folder.is_absolute() else f"./{folder}"


def _next(bot: str, words: Mapping[str, str]) -> list[str]:
    return [
        f"referee check {bot}{words['CHECK']}",
        f"referee watch {bot} highest --variant {words['GAME']}",
        f"referee match {bot} highest --variant {words['GAME']} --games 200",
    ]


def _files(template: Path) -> list[Path]:
    return sorted(path for path in template.iterdir() if path.is_file())


def _words(name: str, template: Path, variant: str, *, only: bool) -> Mapping[str, str]:
    """What the words in the files stand for."""
    rules = build_variant(variant, {})
    sources = {path.stem.lower(): path.name for path in _files(template) if path.name != MANIFEST}
    view, legal = _example(rules)
    words = {
        "NAME": name,
        "HERE": shlex.quote(f"./{name}"),
        "LANGUAGE": LANGUAGES[template.name],
        "VARIANT": rules.name,
        "GAME": shlex.quote(variant),
        "CHECK": f" --variant {shlex.quote(variant)}" if is_path(variant) else "",
        "VARIANTS": f'variants = ["{rules.name}"]' if only else "",
        "BOT": sources["bot"],
        "PROTOCOL": sources["protocol"],
        "VIEW": view,
        "LEGAL": legal,
    }
    commands = "\n".join(f"    {command}" for command in _next(words["HERE"], words))
    return {**words, "COMMANDS": commands}


def _example(rules: Variant[Any, Any]) -> tuple[str, str]:
    """The first view of a game and its legal moves, as a bot gets them."""
    try:
        position = rules.setup(Seeded("an example"))
        seat = rules.actors(position)[0]
        return json.dumps(rules.view(position, seat)), json.dumps(rules.legal(position, seat))
    except Exception as error:
        raise BadVariant(blame_script(error, type(rules))) from error


def _filled(text: str, words: Mapping[str, str]) -> str:
    text = text.replace("@VARIANTS@\n", words["VARIANTS"] and words["VARIANTS"] + "\n")
    for word, meaning in words.items():
        text = text.replace(f"@{word}@", meaning)
    return text
