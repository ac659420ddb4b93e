"""Imports point down only. The layers are those of the design; a new module has to be put in one.

Every file is read, not run: an import counts wherever it stands, in a function too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = {
    "__main__": 6,
    "cli": 6,
    "daemon": 6,
    "web": 6,
    "reports": 5,
    "cluster": 5,
    "tournament": 4,
    "ladder": 4,
    "connecting": 4,
    "match": 4,
    "deciding": 4,
    "sparring": 4,
    "workshop": 4,
    "arena": 3,
    "links": 2,
    "bots": 2,
    "store": 2,
    "table": 1,
    "record": 1,
    "results": 1,
    "replaying": 1,
    "verifying": 1,
    "dialogue": 1,
    "rules": 0,
    "protocol": 0,
    "clock": 0,
    "verdict": 0,
    "schedule": 0,
    "ratings": 0,
    "mistake": 0,
    "version": 0,
}
STRANGERS = {"rules", "protocol"}
"""Of one layer, and yet they do not know each other."""
KIT = "testing"
KIT_USERS = {("referee.cli.variants", "referee.testing.conformance")}
"""The one way from the product into the test kit: `referee check-variant`."""
CLI_REFERENCE = "referee.testing.commands"
"""Describes the commands, so it has to look at them; nothing of the product imports it."""
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}
NO_ASYNCIO = {"arena", "links", "protocol", "table"}

NAMES = ("referee", "tests", "sample_bots", "benchmarks", "docs", "fuzz", "soak")
FOLDERS = [ROOT / name for name in NAMES]
TEMPLATES = ROOT / "referee" / "templates"
"""What `referee new-bot` copies: bots, which know nothing of the package."""
PACKAGE = sorted(path for path in (ROOT / "referee").rglob("*.py") if TEMPLATES not in path.parents)
EVERYTHING = sorted(path for folder in FOLDERS for path in folder.rglob("*.py"))


def module_name(path: Path) -> str:
    """`referee/rules/deck.py` is `referee.rules.deck`, `referee/__init__.py` is `referee`."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, module: str, *, package: bool = False) -> set[str]:
    """Every module that a source names in an import; `from a import b` is `a.b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                around = module.split(".")
                around = around[: len(around) - node.level + package]
                base = ".".join([*around, base] if base else around)
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def imports_of(path: Path) -> set[str]:
    return imports(path.read_text("utf-8"), module_name(path), package=path.stem == "__init__")


def part(module: str) -> str:
    """The part of the package that a module belongs to; empty for the package itself."""
    return module.split(".")[1] if "." in module else ""


def trouble(module: str, target: str) -> str | None:
    """What is wrong with this import, if anything is."""
    if not target.startswith("referee."):
        return None
    source, lower = part(module), part(target)
    if lower == KIT:
        allowed = source == KIT or any(
            module == user and target.startswith(kit) for user, kit in KIT_USERS
        )
        return None if allowed else f"{module} imports the test kit: {target}"
    if source in ("", KIT):
        allowed = source == "" or lower != "cli" or module == CLI_REFERENCE
        return None if allowed else f"{module} imports {target}"
    if source not in LAYERS or lower not in LAYERS:
        return f"{module} imports {target}, and one of them is in no layer"
    if {source, lower} == STRANGERS:
        return f"{module} imports {target}: rules and protocol do not know each other"
    if LAYERS[lower] > LAYERS[source]:
        return f"{module} (layer {LAYERS[source]}) imports {target} (layer {LAYERS[lower]})"
    return None


def troubles(path: Path) -> Iterator[str]:
    module = module_name(path)
    for target in sorted(imports_of(path)):
        told = trouble(module, target)
        if told is not None:
            yield told


def names_in(path: Path) -> set[str]:
    """Every name that is used or imported in a file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.add(node.name)
    return found


def test_every_module_is_in_a_layer() -> None:
    found = {part(module_name(path)) for path in PACKAGE} - {"", KIT, "sample_bots"}
    assert found <= set(LAYERS), f"in no layer: {sorted(found - set(LAYERS))}"


@pytest.mark.parametrize("path", PACKAGE, ids=module_name)
def test_imports_point_down(path: Path) -> None:
    assert list(troubles(path)) == []


def test_sample_bots_know_nothing_of_the_referee() -> None:
    for path in (ROOT / "sample_bots").rglob("*.py"):
        known = {target for target in imports_of(path) if target.split(".")[0] == "referee"}
        assert not known, f"{path} imports {sorted(known)}"


def test_nothing_is_imported_for_types_alone() -> None:
    # The bots of the tests have no cycle to hide: they save the time that `typing` takes to load.
    looked_at = [path for path in EVERYTHING if path.parent != ROOT / "tests" / "bots"]
    users = [str(path) for path in looked_at if "TYPE_CHECKING" in names_in(path)]
    assert users == [], "a cycle of imports is mended, not hidden"


def test_every_module_has_a_name_that_says_something() -> None:
    vague = [path for path in EVERYTHING if VAGUE & {path.stem, path.parent.name}]
    assert vague == []


def test_no_asyncio_between_the_referee_and_a_bot() -> None:
    for path in PACKAGE:
        if part(module_name(path)) in NO_ASYNCIO:
            roots = {target.split(".")[0] for target in imports_of(path)}
            assert "asyncio" not in roots, path


# The test's own eyes.


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import referee.arena.slot", {"referee.arena.slot"}),
        ("import asyncio.events as x, os", {"asyncio.events", "os"}),
        ("from referee import match", {"referee.match"}),
        ("from referee.match import play_match", {"referee.match.play_match"}),
        ("from . import chance", {"referee.rules.chance"}),
        ("from .chance import Seeded", {"referee.rules.chance.Seeded"}),
        ("from ..arena import slot", {"referee.arena.slot"}),
        ("def f():\n    from referee.cli import main", {"referee.cli.main"}),
        ("if True:\n    import referee.table", {"referee.table"}),
        ("text = 'import referee.cli'", set()),
    ],
)
def test_an_import_is_seen(source: str, found: set[str]) -> None:
    assert imports(source, "referee.rules.deck") == found


def test_an_import_within_a_package_is_seen() -> None:
    assert imports("from . import deck", "referee.rules", package=True) == {"referee.rules.deck"}
    assert imports("from .. import cli", "referee.rules", package=True) == {"referee.cli"}


@pytest.mark.parametrize(
    ("module", "target", "good"),
    [
        ("referee.cli.match", "referee.match.play_match", True),
        ("referee.match", "referee.arena.slot.Slot", True),
        ("referee.arena.slot", "referee.arena.player.Player", True),
        ("referee.arena.slot", "referee.match.play_match", False),
        ("referee.bots.manifest", "referee.links.pipe", True),
        ("referee.links.pipe", "referee.arena.slot", False),
        ("referee.table", "referee.rules.variant.Variant", True),
        ("referee.rules.variant", "referee.table.Table", False),
        ("referee.rules.variant", "referee.protocol.codec", False),
        ("referee.protocol.codec", "referee.rules.variant", False),
        ("referee.protocol.codec", "referee.verdict.Ending", True),
        ("referee.clock", "referee.record.Record", False),
        ("referee.cli.variants", "referee.testing.conformance.check_variant", True),
        ("referee.cli.match", "referee.testing.conformance.check_variant", False),
        ("referee.match", "referee.testing.playthrough", False),
        ("referee.testing.describe", "referee.match", True),
        ("referee.testing.describe", "referee.cli", False),
        ("referee", "referee.match.play_match", True),
        ("referee", "referee.testing.playthrough", False),
        ("referee.arena.player", "referee.version.__version__", True),
        ("referee.arena.player", "referee.__version__", False),
        ("referee.arena.player", "msgspec.Struct", True),
        ("referee.match", "referee.nowhere", False),
        ("referee.nowhere", "referee.clock", False),
    ],
)
def test_trouble_is_seen(module: str, target: str, good: bool) -> None:
    assert (trouble(module, target) is None) is good
