"""The TOML file of a tournament.

What must hold: it is a spec or a `BadSpec`, whose sentence is one line and names the file and a
line that it has; a spec that was read is in its plain form, is no change of itself, and reads the
same again.
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from pathlib import Path

from fuzz.packages import looked_up_once
from referee.bots.manifest_text import MANIFEST
from referee.rules.registry import is_path
from referee.tournament.changing import changes
from referee.tournament.lines import find_lines
from referee.tournament.mistakes import BadSpec
from referee.tournament.reading import override, read_spec
from referee.tournament.spec import check

SCRIPT = "mine.py"
BOTS = "bots"
_LINE = re.compile(r", line (\d+): ")


def try_it(data: bytes) -> None:
    if _harmless(data):
        with looked_up_once():
            _try_spec(data)


def _try_spec(data: bytes) -> None:
    path = _folder / "spec.toml"
    path.write_bytes(data)
    try:
        spec = read_spec(path)
    except BadSpec as bad:
        _check_sentence(str(bad), path, data)
        return
    assert check(spec) == spec, "a spec is not in its plain form"
    assert override(spec) == spec
    assert changes(spec, spec) == []
    assert read_spec(path) == spec
    spec.clock()
    lines = find_lines(data.decode("utf-8-sig"))
    assert all(1 <= line <= data.count(b"\n") + 1 for line in lines.values())


def _check_sentence(told: str, path: Path, data: bytes) -> None:
    assert told.startswith(str(path))
    told = told.removeprefix(str(path))
    assert "\n" not in told, "a sentence of several lines"
    line = _LINE.match(told)
    assert line is None or 1 <= int(line[1]) <= data.count(b"\n") + 1, "no such line"


def _harmless(data: bytes) -> bool:
    """Whether no script is named but our own: a spec's variant is run when it is read."""
    try:
        raw = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return True
    variants = raw.get("variants")
    named = [raw.get("variant"), *(variants if isinstance(variants, list) else [])]
    texts = [text for text in named if isinstance(text, str) and is_path(text)]
    return all(text in (SCRIPT, f"./{SCRIPT}") for text in texts)


def _furnish(folder: Path) -> Path:
    """A place for specs, with a script and two bots in it."""
    script = "from referee.rules.target import Target as _Target\n\n\n"
    (folder / SCRIPT).write_text(f'{script}class Mine(_Target):\n    name = "my-game"\n')
    for name in ("one", "two"):
        (folder / BOTS / name).mkdir(parents=True)
        (folder / BOTS / name / MANIFEST).write_text(f'name = "{name}"\ncommand = ["true"]\n')
    return folder


_place = tempfile.TemporaryDirectory(prefix="fuzz-spec-")
_folder = _furnish(Path(_place.name))
