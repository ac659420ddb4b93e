"""The rules that an archive was played by: the source of every variant, and its hash."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from referee.mistake import Mistake
from referee.rules.registry import AnyVariant, BadVariant, find_variant, is_path
from referee.rules.variant import Variant
from referee.tournament.entries import variant_marks
from referee.tournament.spec import Spec

FOLDER = "variants"


class Source(Struct, frozen=True, kw_only=True):
    """The rules of a variant."""

    variant: str
    rules: int | None
    """The version that the script states; None where the script is gone."""
    files: dict[str, str]
    """Files of the archive, and the SHA-256 of each."""
    played: str
    """What the store noted of the rules when the tournament began."""
    trouble: str = ""
    """Why it is not here, or not what it was."""


def sources_of(
    spec: Spec, marks: Mapping[str, str], scripts: Sequence[str]
) -> tuple[list[Source], dict[str, bytes]]:
    """The source of each variant of a spec, and the files, by their place in the archive.

    `marks` is what the store noted when it began. A script that is gone or has changed since is
    no reason to keep nothing: it is said in its place. A database is data, often somebody else's:
    of the scripts that it names those alone are read and run that are in `scripts` as well.
    """
    found: list[Source] = []
    files: dict[str, bytes] = {}
    own_scripts = {Path(script).name: script for script in scripts}
    for text in spec.variants:
        played = marks.get(text, "")
        try:
            here = own_scripts.get(Path(text).name) if is_path(text) else text
            if here is None:
                raise BadVariant("the path of a script is yours to give, by --variant")
            variant = find_variant(here)
            own = {f"{FOLDER}/{path.name}": path.read_bytes() for path in _files(variant)}
        except (Mistake, OSError) as error:
            name = Path(text).stem if is_path(text) else text
            trouble = f"its source cannot be read: {_plain(error, text)}"
            found.append(Source(variant=name, rules=None, files={}, played=played, trouble=trouble))
            continue
        files |= own
        found.append(
            Source(
                variant=variant.name,
                rules=variant.rules,
                files={name: hashlib.sha256(data).hexdigest() for name, data in own.items()},
                played=played,
                trouble="" if played in ("", _mark(spec, here)) else "it has changed since",
            )
        )
    return found, files


def shown_spec(spec: Spec, *, finished: bool) -> Spec:
    """As the archive tells it: scripts by where they are in the archive, no folder of the machine,
    and neither seed nor salt while they would tell the chance of games to come."""
    told = {text: _told(text) for text in spec.variants}
    return replace(
        spec,
        variants=tuple(told.values()),
        options={told.get(text, text): options for text, options in spec.options.items()},
        bots=tuple(text.partition("=")[0].rpartition("/")[2] for text in spec.bots),
        seed=spec.seed if finished else None,
        salt=spec.salt if finished else None,
        expose=(),
        jobs=None,
    )


def _told(text: str) -> str:
    return f"{FOLDER}/{Path(text).name}" if is_path(text) else text


def _mark(spec: Spec, text: str) -> str:
    """What tells these rules from others, now."""
    return variant_marks(replace(spec, variants=(text,)))[text]


def _files(variant: AnyVariant) -> list[Path]:
    """The file of the variant, and those of whatever it inherits from but the base of them all."""
    bases = [each for each in variant.__mro__ if issubclass(each, Variant) and each is not Variant]
    return list(dict.fromkeys(Path(inspect.getfile(each)) for each in bases))


def _plain(error: Exception, text: str) -> str:
    told = error.strerror if isinstance(error, OSError) else str(error)
    return str(told).replace(text, Path(text).name)
