"""A new bot from a template: a folder that works at once.

A template is a folder of `referee/templates`: the bot with its function `choose`, the protocol in a
second file, and a `bot.toml`. Words such as `@NAME@` in its files are filled in.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from referee.bots.manifest import MANIFEST, BadBot, check_name
from referee.rules.chance import Seeded
from referee.rules.registry import build_variant

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
ALIASES = {"c++": "cpp", "javascript": "node", "js": "node", "sh": "bash", "py": "python"}


class NewBot(Struct, frozen=True, kw_only=True):
    """A bot that was just written."""

    name: str
    language: str
    folder: str
    variant: str
    edit: str
    """The file whose `choose` is the author's to write."""


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
        language=words["LANGUAGE"],
        folder=str(folder),
        variant=words["VARIANT"],
        edit=str(folder / words["BOT"]),
    )


def find_language(text: str) -> str:
    """The template that is meant. Raises BadBot."""
    word = ALIASES.get(text.lower(), text.lower())
    if word in LANGUAGES:
        return word
    near = get_close_matches(word, LANGUAGES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(LANGUAGES)}"
    raise BadBot(f"no template for {text!r}; {hint}")


def _files(template: Path) -> list[Path]:
    return sorted(path for path in template.iterdir() if path.is_file())


def _words(name: str, template: Path, variant: str, *, only: bool) -> Mapping[str, str]:
    """What the words in the files stand for."""
    rules = build_variant(variant, {})
    sources = {path.stem.lower(): path.name for path in _files(template) if path.name != MANIFEST}
    position = rules.setup(Seeded("an example"))
    seat = rules.actors(position)[0]
    return {
        "NAME": name,
        "FOLDER": f'"{name}"' if " " in name else name,
        "LANGUAGE": LANGUAGES[template.name],
        "VARIANT": variant,
        "VARIANTS": f'variants = ["{rules.name}"]' if only else "",
        "BOT": sources["bot"],
        "PROTOCOL": sources["protocol"],
        "VIEW": json.dumps(rules.view(position, seat)),
        "LEGAL": json.dumps(rules.legal(position, seat)),
    }


def _filled(text: str, words: Mapping[str, str]) -> str:
    text = text.replace("@VARIANTS@\n", words["VARIANTS"] and words["VARIANTS"] + "\n")
    for word, meaning in words.items():
        text = text.replace(f"@{word}@", meaning)
    return text
