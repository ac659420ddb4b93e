"""The bots in a folder, as strangers have handed them in: one that is no good stops nobody else."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct

from referee.bots.contents import LYING_ABOUT
from referee.bots.look_alikes import look
from referee.bots.manifest import BadBot, read_bot
from referee.bots.manifest_text import MANIFEST
from referee.tournament.mistakes import BadSpec, Key

KEY: Key = ("bots_dir",)


class Submissions(Struct, frozen=True):
    """What a folder of bots holds."""

    bots: tuple[str, ...]
    """Whole paths, by name."""
    left_out: dict[str, str]
    """Sub-folders that have no bot that can be read, and why not."""


def bots_in(folder: str | Path) -> Submissions:
    """Every sub-folder with a bot in it. Raises BadSpec where there is none."""
    folder = Path(folder)
    try:
        if not folder.is_dir():
            raise BadSpec(f"{folder}: there is no such folder", KEY)
        there = sorted(filter(_is_meant, folder.iterdir()), key=_as_counted)
    except OSError as error:
        raise BadSpec(f"{folder} cannot be read: {error.strerror}", KEY) from None
    except ValueError as error:
        raise BadSpec(f"{folder} cannot be read: {error}", KEY) from None
    by_look: dict[str, tuple[str, Path]] = {}
    left_out: dict[str, str] = {}
    for each in there:
        try:
            name = _name_of(each)
            if look(name) in by_look:
                other, path = by_look[look(name)]
                told = "too" if other == name else f"which looks like {name}"
                raise BadBot(f"{path.name} is called {other}, {told}")
            by_look[look(name)] = name, each
        except BadBot as bad:
            left_out[f"{folder.resolve().name}/{each.name}"] = str(bad)
    if not by_look:
        raise BadSpec(f"{folder}: no folder in it has a {MANIFEST}{_first(left_out)}", KEY)
    return Submissions(tuple(str(each.resolve()) for _, each in by_look.values()), left_out)


def _as_counted(path: Path) -> list[tuple[int, str]]:
    """What sorts `team2` before `team10`: seeds follow this order."""
    parts = re.split(r"([0-9]+)", path.name)
    return [(int(part), part) if part.isdecimal() else (-1, part) for part in parts]


def _is_meant(path: Path) -> bool:
    """Whether somebody may have meant this to be a bot: a folder, or a link to what was one."""
    if path.name in LYING_ABOUT or path.name.startswith("."):
        return False
    return path.is_dir() or (path.is_symlink() and not path.exists())


def _name_of(folder: Path) -> str:
    """Raises BadBot with a reason that says nothing of where the folder is."""
    manifest = folder / MANIFEST
    try:
        if manifest.is_file():
            return read_bot(folder).name
        if os.path.lexists(manifest):
            raise BadBot(f"its {MANIFEST} is no file")
        names = os.listdir(folder)  # noqa: PTH208
    except BadBot as bad:
        told = str(bad).removeprefix(f"{folder}: ").removeprefix(f"{folder}/")
        raise BadBot(told) from None
    except OSError as error:
        raise BadBot(f"it cannot be read: {error.strerror}") from None
    near = [name for name in names if name.lower() == MANIFEST]
    raise BadBot(f"no {MANIFEST} in it" + (f", but {near[0]}" if near else ""))


def _first(left_out: dict[str, str]) -> str:
    """Where every one of them is no good, one of the reasons."""
    for name, why in left_out.items():
        if not why.startswith(f"no {MANIFEST}"):
            return f" that can be read; {name}: {why}"
    return ""
