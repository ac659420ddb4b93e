"""A spec from a TOML file, and what the command line has to say about it.

The keys are those of `Spec`, and for short

    variant = "underdog"        # for variants = ["underdog"]
    bots_dir = "my_bots"        # every folder in it that has a bot.toml
    options = { target = 40 }   # with a single variant; else [options.target]

Paths are relative to the folder of the file. A mistake is a `BadSpec` with file, line, key and the
nearest right name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from referee.bots.manifest import BadBot, find_bot, usual_bots
from referee.bots.manifest_text import MANIFEST
from referee.rules.registry import find_variant, is_path
from referee.tournament.lines import find_lines
from referee.tournament.mistakes import BadSpec, Key, did_you_mean, quoted
from referee.tournament.spec import (
    DEFAULTS,
    ONLY_IN,
    Spec,
    check,
    check_limits,
    check_named,
    check_teams,
    variant_name,
)
from referee.tournament.submissions import bots_in

LARGEST_FILE = 1_000_000
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
QUOTE = "'"
_ASSIGNED = re.compile(r"\s*([^\s=#\[]+)\s*=")


def read_spec(path: str | Path, *, elsewhere: bool = False) -> Spec:
    """The spec in a file, checked as a whole; its bots are found, and nothing is started.

    For a tournament elsewhere, bots are what they are called there, and are not looked for here.
    """
    path = Path(path)
    text = _read(path)
    raw = _parse(path, text)
    try:
        _check_lengths(raw, ())
        if elsewhere and "bots_dir" in raw:
            raise BadSpec(
                "bots_dir is a folder here: name bots of the ladder in bots", ("bots_dir",)
            )
        spec = check(_spec(raw, path.absolute().parent, path.stem))
        if elsewhere:
            return replace(spec, bots=tuple(raw.get("bots", ())))
        found = [_bot_name(bot, ("bots", place)) for place, bot in enumerate(spec.bots)]
        check_named(spec, found or usual_bots())
        check_teams(spec, found or usual_bots())
    except BadSpec as bad:
        line = _line(bad.key, find_lines(text), raw)
        where = f"{path}, line {line}" if line is not None else str(path)
        raise BadSpec(f"{where}: {bad}", bad.key) from bad
    return spec


def _read(path: Path) -> str:
    try:
        if path.is_dir():
            raise BadSpec(f"{path}: a folder, where the file of a spec is due")
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise BadSpec(f"{path}: there is no such file") from None
    except OSError as error:
        raise BadSpec(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # a name that no file can have
        raise BadSpec(f"{path} cannot be read: {error}") from None
    if len(data) > LARGEST_FILE:
        raise BadSpec(f"{path}: larger than {LARGEST_FILE} bytes, so no spec")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadSpec(f"{path}, line {line}: not UTF-8 text") from None


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        # A last line without an end would have no number in the parser's complaint.
        return tomllib.loads(text + "\n")
    except RecursionError:
        raise BadSpec(f"{path}: lists within lists, too deep to read") from None
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        told = str(error)[: found.start()] if found else str(error)
        if found is None or found[1] is None:
            line = text.rstrip().count("\n") + 1
            raise BadSpec(f"{path}, line {line}: the file ends too early: {told}") from None
        number = int(found[1])
        raise BadSpec(f"{path}, line {number}: {_syntax(told, text, number)}") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise BadSpec(f"{path}: {str(error).split(';')[0]}") from None


def _syntax(told: str, text: str, line: int) -> str:
    """The parser's complaint in words that help."""
    if told == "Cannot overwrite a value":
        key = _ASSIGNED.match(text.split("\n")[line - 1])
        return f"the key {key[1]} is there twice" if key else "a key is there twice"
    twice = re.fullmatch(r"Cannot declare \((.*?),?\) twice", told)
    if twice:
        return f"the table [{twice[1].replace(QUOTE, '').replace(', ', '.')}] is there twice"
    return f"no TOML: {told[:1].lower()}{told[1:]}"


def _check_lengths(value: object, key: Key) -> None:
    """That every number can be shown: one in hexadecimal is read, however long it is."""
    if isinstance(value, dict | list):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            _check_lengths(item, (*key, name))
    elif isinstance(value, int):
        try:
            str(value)
        except ValueError as error:
            raise BadSpec(str(error).split(";")[0], key) from None


def _line(key: Key, lines: Mapping[Key, int], raw: Mapping[str, Any]) -> int | None:
    """Of a key of the spec; where a short form stands for it in the file, of that."""
    if key[:1] == ("variants",) and "variants" not in raw:
        key = ("variant",)
    elif key[:1] == ("bots",) and key not in lines:
        key = ("bots_dir",)
    elif key[:1] == ("options",) and key not in lines:
        # The file calls the variant otherwise, or not at all.
        tables = [each for each, value in raw.get("options", {}).items() if isinstance(value, dict)]
        ways: list[Key] = [*(("options", each, *key[2:]) for each in tables), ("options", *key[2:])]
        key = next((way for way in ways if way in lines), ("options",))
    while key and key not in lines:
        key = key[:-1]
    return lines.get(key)


# Types.


class _Kind:
    """What a key can hold, and how to say so."""

    def __init__(self, told: str, fits: Callable[[Any], bool]) -> None:
        self.told = told
        self.fits = fits


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TEXT = _Kind("text in quotes", lambda value: isinstance(value, str))
_WHOLE = _Kind("a whole number", lambda value: type(value) is int)
_NUMBER = _Kind("a number", _is_number)
_SWITCH = _Kind("true or false", lambda value: isinstance(value, bool))
_SEED = _Kind("text in quotes or a number", lambda value: type(value) in (str, int))
_LIST = _Kind("a list of texts", lambda value: isinstance(value, list))
_TABLE = _Kind("a table", lambda value: isinstance(value, dict))
_SETTING = _Kind(
    "a whole number, text in quotes, true or false",
    lambda value: isinstance(value, int | str),
)
KINDS = {
    "name": _TEXT,
    "variant": _TEXT,
    "variants": _LIST,
    "bots": _LIST,
    "bots_dir": _TEXT,
    "format": _TEXT,
    "games": _WHOLE,
    "options": _TABLE,
    "time": _TEXT,
    "grace": _TEXT,
    "warm_up": _TEXT,
    "startup": _TEXT,
    "build_time": _TEXT,
    "think": _TEXT,
    "at_once": _WHOLE,
    "restart": _TEXT,
    "block": _WHOLE,
    "seed": _SEED,
    "salt": _TEXT,
    "jobs": _WHOLE,
    "rounds": _WHOLE,
    "challengers": _LIST,
    "best_of": _WHOLE,
    "replays": _WHOLE,
    "teams": _TABLE,
    "rank_by": _TEXT,
    "advantage": _SWITCH,
    "prior": _SWITCH,
    "anchors": _TABLE,
    "sandbox": _TEXT,
    "limits": _TABLE,
    "freeze": _SWITCH,
    "expose": _LIST,
}
"""Every key of a spec's file."""


def _must_fit(value: object, kind: _Kind, key: Key, called: str) -> None:
    if not kind.fits(value):
        raise BadSpec(f"{called} must be {kind.told}, not {_shown(value)}", key)


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a table"
    return quoted(value)


# From the file's keys to the spec's.


def _spec(raw: dict[str, Any], folder: Path, stem: str) -> Spec:
    for key, value in raw.items():
        if key not in KINDS:
            hint = did_you_mean(key, KINDS) or f"; the keys are {', '.join(KINDS)}"
            raise BadSpec(f"unknown key {quoted(key)}{hint}", (key,))
        if key == "variants" and isinstance(value, str):
            told = f"variants must be a list of texts; for one, write variant = {quoted(value)}"
            raise BadSpec(told, (key,))
        _must_fit(value, KINDS[key], (key,), key)
        if KINDS[key] is _LIST:
            for place, item in enumerate(value):
                _must_fit(item, _TEXT, (key, place), f"every item of {key}")
    for name, elo in raw.get("anchors", {}).items():
        _must_fit(elo, _NUMBER, ("anchors", name), f"the anchor of {name}")
    for team, names in raw.get("teams", {}).items():
        _must_fit(names, _LIST, ("teams", team), f"the team {team}")
        for place, item in enumerate(names):
            _must_fit(item, _TEXT, ("teams", team, place), f"every bot of the team {team}")
    check_limits(raw.get("limits", {}))
    given = {"name": stem, **raw}
    written = _written_variants(given)
    given["variants"] = tuple(_script(folder, text) for text in written)
    given["options"] = _options(given.get("options", {}), written, given["variants"])
    if "bots" in given or "bots_dir" in given:
        given |= _bots(folder, given.get("bots", []), given.pop("bots_dir", None))
    given["teams"] = {team: tuple(names) for team, names in given.get("teams", {}).items()}
    given["challengers"] = tuple(given.get("challengers", ()))
    given["expose"] = tuple(_exposed(folder, text) for text in given.get("expose", ()))
    if "seed" in given:
        given["seed"] = str(given["seed"])
    return Spec(**given)


def _written_variants(given: dict[str, Any]) -> list[str]:
    """As they are in the file."""
    if "variant" in given and "variants" in given:
        raise BadSpec("variant is short for variants: leave one of them out", ("variant",))
    if "variant" in given:
        return [given.pop("variant")]
    if not given.get("variants"):
        raise BadSpec('variants is missing; write variants = ["underdog"]', ("variants",))
    return list(given["variants"])


def _script(folder: Path, text: str) -> str:
    """A variant's script, wherever the spec is read from; a name stays one."""
    return str(_beside(folder, text)) if is_path(text) else text


def _exposed(folder: Path, text: str) -> str:
    """An empty path stays one, to be refused: it is not the spec's own folder."""
    return str(_beside(folder, text)) if text.strip() else ""


def _beside(folder: Path, text: str) -> Path:
    """One path for one place, so that the same spec read from elsewhere is the same spec."""
    try:
        return (folder / Path(text).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):  # ~somebody unknown, a name that no file can have
        return folder / text


def _options(
    given: Mapping[str, Any], written: Sequence[str], variants: Sequence[str]
) -> dict[str, dict[str, int | str]]:
    """By variant. A table is a variant's, by what the file calls it or by its name."""
    called = {text: variants[place] for place, text in enumerate(written)}
    for place, text in enumerate(variants):
        called.setdefault(variant_name(text, ("variants", place)), text)
    found: dict[str, dict[str, int | str]] = {}
    for name, value in given.items():
        if isinstance(value, dict):
            if name not in called:
                hint = did_you_mean(name, called) or f"; they are {', '.join(called)}"
                told = f"options for {quoted(name)}, which is not one of the variants{hint}"
                raise BadSpec(told, ("options", name))
            settings, owner = value, called[name]
            key: Key = ("options", name)
        elif len(variants) == 1:
            settings, owner = {name: value}, variants[0]
            key = ("options",)
        else:
            owners = [text for text, path in called.items() if name in _option_names(path)]
            told = (
                f"with several variants, each has its own: write [options.{[*owners, *written][0]}]"
            )
            raise BadSpec(f"option {quoted(name)}: {told}", ("options", name))
        for option, setting in settings.items():
            _must_fit(setting, _SETTING, (*key, option), f"option {option}")
            if option in found.setdefault(owner, {}):
                raise BadSpec(f"option {option} is there twice", (*key, option))
            found[owner][option] = _word(setting)
    return found


def _option_names(variant: str) -> list[str]:
    return [option.name for option in find_variant(variant).options]


def _word(setting: int | str) -> int | str:
    """A switch of a variant is one of the words yes and no."""
    return ("yes" if setting else "no") if isinstance(setting, bool) else setting


# Bots.


def _bots(folder: Path, named: Sequence[str], bots_dir: str | None) -> dict[str, Any]:
    """Keys of the spec: those that play, and those in the folder that cannot."""
    bots = [_bot(folder, text) for text in named]
    if bots_dir is None:
        if not bots:
            raise BadSpec("bots is empty; leave it out for all sample bots that play", ("bots",))
        return {"bots": tuple(bots)}
    found = bots_in(_beside(folder, bots_dir))
    bots += [bot for bot in found.bots if bot not in bots]
    return {"bots": tuple(bots), "left_out": found.left_out}


def _bot(folder: Path, text: str) -> str:
    """A folder, wherever the spec is read from; the name of a sample bot and a command stay."""
    name, equals, _ = text.partition("=")
    if equals and "/" not in name:
        return text
    beside = _beside(folder, text)
    try:
        is_folder = (beside / MANIFEST).is_file() or "/" in text
    except (OSError, ValueError):  # a name that no file can have
        is_folder = False
    return str(beside) if is_folder else text


def _bot_name(text: str, key: Key) -> str:
    try:
        return find_bot(text).name
    except BadBot as bad:
        raise BadSpec(str(bad), key) from None


# The command line.


def override(
    spec: Spec,
    *,
    option: Sequence[str] = (),
    bots_dir: str | Path | None = None,
    **given: Any,
) -> Spec:
    """The spec as the command line changes it, checked; None is what was not given.

    `bots_dir` is a folder of bots, in addition to `bots`. `option` are texts such as `target=40`,
    for every variant that has the option, or `duel.life=30`. Where the format or the variants are
    other ones, what the spec says for the old ones goes with them.
    """
    given = {key: value for key, value in given.items() if value is not None}
    if "bots" in given:
        given = {"left_out": {}, **given}
    if bots_dir is not None:
        found = bots_in(bots_dir)
        given["bots"] = (*given.get("bots", ()), *found.bots)
        given["left_out"] = found.left_out
    if "format" in given and given["format"] != spec.format:
        own = {key: DEFAULTS[key] for key, form in ONLY_IN.items() if form != given["format"]}
        if given["format"] == "knockout":
            own["teams"] = {}
        given = {**own, **given}
    spec = replace(spec, **given)
    kept = {text: each for text, each in spec.options.items() if text in spec.variants}
    spec = check(replace(spec, options=kept))
    return check(replace(spec, options=_with_options(spec, option))) if option else spec


def _with_options(spec: Spec, given: Sequence[str]) -> dict[str, dict[str, int | str]]:
    """The options of a spec and those of the command line, to be judged all together."""
    called = {variant_name(each): each for each in spec.variants}
    options = {each: {**spec.options.get(each, {})} for each in spec.variants}
    seen: set[str] = set()
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise BadSpec(f"an option is name=value, for example target=40, not {quoted(text)}")
        if name in seen:
            raise BadSpec(f"option {name} is given twice")
        seen.add(name)
        option, owners = _owners(name, called)
        for owner in owners:
            options[owner][option] = value
    return options


def _owners(name: str, called: Mapping[str, str]) -> tuple[str, list[str]]:
    """An option's own name, and the variants that have it: of `target` all, of `duel.life` one."""
    variant, dot, option = name.rpartition(".")
    if dot and variant not in called:
        hint = did_you_mean(variant, called) or f"; they are {', '.join(called)}"
        raise BadSpec(f"option {name}: {quoted(variant)} is not one of the variants{hint}")
    wanted = [called[variant]] if dot else list(called.values())
    known = {each: _option_names(each) for each in wanted}
    owners = [each for each in wanted if option in known[each]]
    if not owners:
        every = dict.fromkeys(each for names in known.values() for each in names)
        who = variant if dot else " or ".join(called)
        hint = did_you_mean(option, every) or f"; known are {', '.join(every) or 'none'}"
        raise BadSpec(f"{who} has no option {quoted(option)}{hint}")
    return option, owners
