"""Where variants come from: the bundled five, entry points of other packages, and script files.

The first two come in by the same door, a name and "module:Class". A script comes by its path, and
is the one `Variant` subclass in that file. Whatever is wrong with any of them is a `BadVariant`:
one sentence for the person who wrote it, with the file, the line where there is one, and what is
missing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from referee.mistake import Mistake
from referee.rules.options import BadOption, Option
from referee.rules.packages import Claim, claims
from referee.rules.variant import Variant

AnyVariant = type[Variant[Any, Any]]

BUNDLED = {
    "difference": "referee.rules.difference:Difference",
    "underdog": "referee.rules.underdog:Underdog",
    "duel": "referee.rules.duel:Duel",
    "target": "referee.rules.target:Target",
    "deck": "referee.rules.deck:Deck",
}
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class BadVariant(Mistake):
    """A variant that cannot be used; the message says where it is and what is wrong with it."""


def find_variant(name_or_path: str) -> AnyVariant:
    """The variant of this name, or the one in the script at this path."""
    if is_path(name_or_path):
        return _load_script(Path(name_or_path))
    table = _registered()
    if name_or_path not in table:
        near = get_close_matches(name_or_path, table, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise BadVariant(
            f"there is no variant {name_or_path!r}{hint}: the variants are {', '.join(table)}; "
            "a script is given by its path, for example ./my_game.py"
        )
    return _load_claimed(name_or_path, table[name_or_path])


def all_variants() -> dict[str, AnyVariant]:
    """Every variant that has a name: the bundled ones, then those of other packages, sorted."""
    return {name: _load_claimed(name, claimed) for name, claimed in _registered().items()}


def build_variant(name_or_path: str, options: Mapping[str, object]) -> Variant[Any, Any]:
    """The variant with its options settled. A `BadOption` is the user's and passes through."""
    variant = find_variant(name_or_path)
    try:
        return variant(**options)
    except BadOption:
        raise
    except Exception as error:
        raise BadVariant(f"{blame_script(error, variant)}, in __init__") from error


def is_path(name_or_path: str) -> bool:
    separators = [os.sep, os.altsep] if os.altsep else [os.sep]
    return name_or_path.endswith(".py") or any(each in name_or_path for each in separators)


def blame_script(error: BaseException, variant: AnyVariant) -> str:
    """The innermost line of the variant's own code that an exception came through, and the
    exception; the line of the class where it came from calling the variant wrongly."""
    bases = [each for each in variant.__mro__ if issubclass(each, Variant) and each is not Variant]
    return _blame(error, {_file_of(each) for each in bases}) or (
        f"{_file_of(variant)}, line {_line_of(variant)}: {_told(error)}"
    )


def _blame(error: BaseException, files: Collection[str]) -> str:
    frames = traceback.walk_tb(error.__traceback__)
    lines = [(frame.f_code.co_filename, line) for frame, line in frames]
    inside = [(file, line) for file, line in lines if file in files]
    return f"{inside[-1][0]}, line {inside[-1][1]}: {_told(error)}" if inside else ""


def _told(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# Names.


def known_names() -> list[str]:
    """Every name that somebody claims: the bundled ones, then those of other packages, sorted."""
    return list(_registered())


def _registered() -> dict[str, list[Claim]]:
    """What claims each name; more than one claim is an error once that name is asked for."""
    table = {name: [_bundled(value)] for name, value in BUNDLED.items()}
    for name, claim in claims():
        table.setdefault(name, []).append(claim)
    return table


def _bundled(value: str) -> Claim:
    module, _, name = value.partition(":")
    return Claim(f"the bundled variant {value}", module, partial(_class_in, module, name))


def _class_in(module: str, name: str) -> object:
    return getattr(import_module(module), name)


def _load_claimed(name: str, claimed: list[Claim]) -> AnyVariant:
    if len(claimed) > 1:
        origins = " and ".join(claim.origin for claim in claimed)
        raise BadVariant(f"the name {name} is taken twice, by {origins}: remove one of them")
    origin, module, load = claimed[0]
    try:
        found = load()
    except Exception as error:
        told = _blame(error, {_file_of_module(module)}) or _told(error)
        raise BadVariant(f"{origin} cannot be loaded: {told}") from error
    if not (isinstance(found, type) and issubclass(found, Variant)):
        raise BadVariant(f"{origin} is {found!r}, which is no subclass of Variant")
    _check_class(found, _file_of(found))
    if found.name != name:
        raise BadVariant(f"{origin} is registered as {name} and calls itself {found.name}")
    return found


# Scripts.


def _load_script(path: Path) -> AnyVariant:
    module = _run_script(path)
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    own = [each for each in classes if each.__module__ == module.__name__]
    found = list(dict.fromkeys(each for each in own if issubclass(each, Variant)))
    public = [each for each in found if not each.__name__.startswith("_")] or found
    if not public:
        raise BadVariant(f"{path}: no class in this file is a subclass of Variant")
    if len(public) > 1:
        each = ", ".join(f"{each.__name__} (line {_line_of(each)})" for each in public)
        raise BadVariant(
            f"{path}: one class is to be the variant, and here are {len(public)}: {each}; "
            "begin the names of the others with an underscore"
        )
    _check_class(public[0], str(path))
    _check_name_is_free(public[0], path)
    return public[0]


def _run_script(path: Path) -> ModuleType:
    try:
        if path.is_dir():
            raise BadVariant(f"{path} is a directory, not a script")
        source = path.read_bytes()
    except FileNotFoundError:
        raise BadVariant(f"{path}: there is no such file") from None
    except OSError as error:
        raise BadVariant(f"{path} cannot be read: {error.strerror}") from None
    # The same text at the same place is the same module, so that its positions compare equal; an
    # edited script is another. No .pyc is written, nor trusted where the edit was a second ago.
    digest = hashlib.sha256(os.fsencode(path.resolve()) + b"\0" + source).hexdigest()[:16]
    name = f"referee_script_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    try:
        code = compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise BadVariant(f"{path}{line}: syntax error: {error.msg}") from error
    except ValueError as error:
        raise BadVariant(f"{path}: syntax error: {error}") from error
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        exec(code, vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise BadVariant(f"{_blame(error, {str(path)})}, while the file was loaded") from error
    return module


def _check_name_is_free(variant: AnyVariant, path: Path) -> None:
    # A record keeps the name only, so a script under a taken name would be judged by other rules.
    for claim in _registered().get(variant.name, []):
        if path.resolve() != Path(_file_of_module(claim.module)).resolve():
            raise BadVariant(
                f"{path}, line {_line_of(variant)}: the name {variant.name} is taken "
                f"by {claim.origin}: choose another"
            )


# What every class must have.


def _check_class(variant: AnyVariant, file: str) -> None:
    if told := _trouble(variant):
        raise BadVariant(f"{file}, line {_line_of(variant)}: {variant.__name__} {told}")


def _trouble(variant: Any) -> str:
    """What the class lacks or has wrong; empty where nothing is."""
    lacking = sorted(getattr(variant, "__abstractmethods__", ()))
    if lacking:
        return f"lacks the method{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}"
    unset = [each for each in ("name", "summary", "reasons") if not getattr(variant, each, None)]
    if unset:
        return f"does not set {', '.join(unset)}"
    if not isinstance(variant.name, str) or not NAME.fullmatch(variant.name):
        allowed = "lower case letters and digits, with hyphens between them"
        return f"has the name {variant.name!r}; a name is {allowed}"
    if not isinstance(variant.summary, str):
        return f"has the summary {variant.summary!r}, which is not a text"
    if not isinstance(variant.reasons, Mapping) or not all(
        isinstance(text, str) for pair in variant.reasons.items() for text in pair
    ):
        return "has reasons that are not a text for each reason"
    if not isinstance(variant.options, tuple) or not all(
        isinstance(option, Option) for option in variant.options
    ):
        return "has options that are not a tuple of Option(…)"
    if type(variant.rules) is not int or variant.rules < 1:
        return f"has rules {variant.rules!r}, which must be a version, 1 or more"
    if variant.move_type not in (int, str):
        return f"has the move_type {variant.move_type!r}, which must be int or str"
    return ""


def _file_of(variant: type) -> str:
    module = sys.modules.get(variant.__module__)
    return getattr(module, "__file__", None) or variant.__module__


def _file_of_module(name: str) -> str:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    return spec.origin if spec and spec.origin else name


def _line_of(variant: type) -> int | str:
    try:
        return inspect.getsourcelines(variant)[1]
    except (OSError, TypeError):
        return "?"
