"""Every way in for a variant, and every way to fail, with the sentence that the author reads."""

from __future__ import annotations

import re
import shutil
import sys
from importlib import import_module
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from typing import Any

import pytest

from referee.rules.options import BadOption
from referee.rules.registry import (
    BUNDLED,
    BadVariant,
    all_variants,
    build_variant,
    find_variant,
    is_path,
    known_names,
)
from tests.facts import Naming

GOOD = '''"""A game over at once."""
from referee.rules.variant import Outcome, Variant


class Nothing(Variant[None, int]):
    name = "nothing"
    summary = "a game over at once"
    reasons = {"over": "it is over"}

    def setup(self, chance): return None
    def actors(self, position): return ()
    def legal(self, position, seat): return [1]
    def apply(self, position, plays, chance): return None
    def view(self, position, seat): return {}
    def outcome(self, position): return Outcome(None, "over")
    def scores(self, position): return (0, 0)
    def longest(self): return 1
'''


def script(folder: Path, text: str, name: str = "game.py") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def trouble(name_or_path: str) -> str:
    """The message, which has to be one line and no traceback."""
    with pytest.raises(BadVariant) as caught:
        find_variant(name_or_path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


# Names.


def test_bundled_variants_come_in_their_order_and_under_their_own_names() -> None:
    variants = all_variants()
    assert list(variants)[:5] == ["difference", "underdog", "duel", "target", "deck"]
    assert list(BUNDLED) == list(variants)[:5]
    for name, variant in variants.items():
        assert variant.name == name
        assert find_variant(name) is variant


@pytest.mark.parametrize("path", ["game.py", "./game", "games/game", "/tmp/game.py"])
def test_a_path_ends_in_py_or_has_a_separator(path: str) -> None:
    assert is_path(path)
    assert not is_path("underdog")


def test_an_unknown_name_gets_the_nearest_one_and_the_list() -> None:
    message = trouble("underdgo")
    assert "no variant 'underdgo'" in message
    assert "did you mean underdog?" in message
    assert "difference, underdog, duel, target, deck" in message
    assert "did you mean" not in trouble("zzzzzz")


# Entry points of other packages.


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package `extra` whose module `extra_games` is the good script."""
    script(tmp_path, GOOD, "extra_games.py")
    info = tmp_path / "extra-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extra\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "extra_games", raising=False)
    return tmp_path


def register(package: Path, *lines: str) -> None:
    text = "\n".join(["[referee.variants]", *lines, ""])
    (package / "extra-1.0.dist-info" / "entry_points.txt").write_text(text)


def test_an_entry_point_is_a_variant_like_the_bundled_ones(package: Path) -> None:
    register(package, "nothing = extra_games:Nothing")
    assert find_variant("nothing").summary == "a game over at once"
    assert list(all_variants())[5:] == ["nothing"]
    assert build_variant("nothing", {}).book() == "A game over at once."


def test_an_entry_point_without_its_module(package: Path) -> None:
    register(package, "nothing = no_such_module:Nothing")
    message = trouble("nothing")
    assert "the entry point no_such_module:Nothing of package extra cannot be loaded" in message
    assert "No module named 'no_such_module'" in message
    with pytest.raises(BadVariant):
        all_variants()
    assert find_variant("underdog").name == "underdog"


def test_an_entry_point_without_its_class(package: Path) -> None:
    register(package, "nothing = extra_games:Something")
    assert "has no attribute 'Something'" in trouble("nothing")


def test_an_entry_point_whose_module_fails(package: Path) -> None:
    path = script(package, GOOD + "\n1 / 0\n", "extra_games.py")
    register(package, "nothing = extra_games:Nothing")
    line = line_of(GOOD + "\n1 / 0\n", "1 / 0")
    assert f"{path}, line {line}: ZeroDivisionError: division by zero" in trouble("nothing")


def test_an_entry_point_that_is_no_variant(package: Path) -> None:
    register(package, "nothing = extra_games:Outcome")
    assert "which is no subclass of Variant" in trouble("nothing")


def test_an_entry_point_under_another_name(package: Path) -> None:
    register(package, "something = extra_games:Nothing")
    assert "is registered as something and calls itself nothing" in trouble("something")


def test_an_entry_point_with_the_name_of_a_bundled_variant(package: Path) -> None:
    register(package, "duel = extra_games:Nothing")
    message = trouble("duel")
    assert "the name duel is taken twice" in message
    assert "the bundled variant referee.rules.duel:Duel" in message
    assert "the entry point extra_games:Nothing of package extra" in message
    with pytest.raises(BadVariant, match="taken twice"):
        all_variants()


def test_the_script_of_an_entry_point_can_be_given_by_path(package: Path) -> None:
    register(package, "nothing = extra_games:Nothing")
    assert find_variant(str(package / "extra_games.py")).name == "nothing"
    copy = script(package, GOOD, "copy.py")
    assert "the name nothing is taken by the entry point" in trouble(copy)


def test_a_package_in_an_archive(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(package, "nothing = extra_games:Nothing")
    archive = shutil.make_archive(str(package / "packed"), "zip", package)
    monkeypatch.setattr(sys, "path", [archive, *(set(sys.path) - {str(package)})])
    assert find_variant("nothing").name == "nothing"


def test_a_package_that_lies_in_no_folder_of_the_path(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(package, "nothing = extra_games:Nothing")
    import_module("extra_games")
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(package)])
    assert "nothing" not in known_names()

    class Elsewhere(DistributionFinder):
        def find_distributions(self, context: Any = None) -> list[Distribution]:
            return [Distribution.at(package / "extra-1.0.dist-info")]

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Elsewhere()])
    assert find_variant("nothing").name == "nothing"


# Scripts.


def test_a_script_is_loaded_with_its_book(tmp_path: Path) -> None:
    path = script(tmp_path, GOOD)
    variant = build_variant(path, {})
    assert variant.book() == "A game over at once."
    assert type(variant) is find_variant(path)
    assert not (tmp_path / "__pycache__").exists()


def test_an_edited_script_is_loaded_anew(tmp_path: Path) -> None:
    path = script(tmp_path, GOOD)
    find_variant(path)
    script(tmp_path, GOOD.replace('name = "nothing"', 'name = "other-1"'))
    assert find_variant(path).name == "other-1"


def test_a_private_base_class_and_an_alias_do_no_harm(tmp_path: Path) -> None:
    text = GOOD.replace("class Nothing(Variant[None, int]):", "class _Base(Variant[None, int]):")
    text += "\n\nclass Leaf(_Base):\n    pass\n\n\nAlias = Leaf\n"
    assert find_variant(script(tmp_path, text)).__name__ == "Leaf"


def test_no_such_file(tmp_path: Path) -> None:
    path = str(tmp_path / "absent.py")
    assert trouble(path) == Naming(f"{path}: there", "is no such file")


def test_a_directory(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    path = str(tmp_path / "folder.py")
    assert trouble(path) == f"{path} is a directory, not a script"


def test_a_path_through_a_file(tmp_path: Path) -> None:
    path = script(tmp_path, GOOD) + "/game.py"
    assert trouble(path) == f"{path} cannot be read: Not a directory"


def test_a_syntax_error(tmp_path: Path) -> None:
    path = script(tmp_path, GOOD + "\ndef broken(:\n")
    line = line_of(GOOD + "\ndef broken(:\n", "def broken")
    assert trouble(path) == f"{path}, line {line}: syntax error: invalid syntax"
    assert trouble(script(tmp_path, "x = '\0'\n")).startswith(f"{path}")


def test_an_exception_while_it_is_loaded(tmp_path: Path) -> None:
    text = "import json\n\n\ndef inner():\n    json.loads('[')\n\n\ninner()\n"
    path = script(tmp_path, text)
    before = set(sys.modules)
    message = trouble(path)
    assert message.startswith(f"{path}, line 5: JSONDecodeError: ")
    assert message.endswith(", while the file was loaded")
    assert not {name for name in set(sys.modules) - before if name.startswith("referee_script")}
    assert f"{path}, line 1: SystemExit" in trouble(script(tmp_path, "raise SystemExit(3)\n"))


def test_no_variant_in_it(tmp_path: Path) -> None:
    for text in ("", "from referee.rules.underdog import Underdog\n"):
        path = script(tmp_path, text)
        assert trouble(path) == f"{path}: no class in this file is a subclass of Variant"


def test_several_variants_in_it(tmp_path: Path) -> None:
    text = GOOD + '\n\nclass More(Nothing):\n    name = "more"\n'
    message = trouble(script(tmp_path, text))
    assert f"Nothing (line {line_of(text, 'class Nothing')})" in message
    assert f"More (line {line_of(text, 'class More')})" in message


def test_missing_methods_are_all_named(tmp_path: Path) -> None:
    kept = [line for line in GOOD.split("\n") if not re.search("def (apply|view|longest)", line)]
    text = "\n".join(kept)
    path = script(tmp_path, text)
    line = line_of(text, "class Nothing")
    expected = f"{path}, line {line}: Nothing lacks the methods apply, longest, view"
    assert trouble(path) == expected


@pytest.mark.parametrize("attribute", ["name", "summary", "reasons"])
def test_a_missing_attribute(tmp_path: Path, attribute: str) -> None:
    text = re.sub(rf"    {attribute} = .*\n", "", GOOD)
    path = script(tmp_path, text)
    line = line_of(text, "class Nothing")
    assert trouble(path) == f"{path}, line {line}: Nothing does not set {attribute}"


@pytest.mark.parametrize("name", ["Nothing", "no_thing", "-nothing", "not--hing", "no thing", "é"])
def test_a_bad_name(tmp_path: Path, name: str) -> None:
    message = trouble(script(tmp_path, GOOD.replace('"nothing"', f'"{name}"')))
    assert f"line 5: Nothing has the name {name!r}" in message
    assert "lower case letters and digits, with hyphens between them" in message


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("summary = 3", "has the summary 3, which is not a text"),
        ("reasons = {'over': 3}", "has reasons that are not a text for each reason"),
        ("options = ['size']", "has options that are not a tuple of Option(…)"),
        ("rules = 0", "has rules 0, which must be a version, 1 or more"),
        ("move_type = float", "has the move_type <class 'float'>, which must be int or str"),
    ],
)
def test_a_wrong_attribute(tmp_path: Path, more: str, expected: str) -> None:
    message = trouble(script(tmp_path, f"{GOOD}\n    {more}\n"))
    assert message.endswith(f"game.py, line 5: Nothing {expected}")


def test_a_script_with_the_name_of_a_bundled_variant(tmp_path: Path) -> None:
    message = trouble(script(tmp_path, GOOD.replace('"nothing"', '"deck"')))
    assert "line 5: the name deck is taken by the bundled variant" in message
    import referee.rules.underdog

    assert find_variant(str(referee.rules.underdog.__file__)).name == "underdog"


# Options.


def test_options_are_settled_and_a_bad_one_is_the_users_fault(tmp_path: Path) -> None:
    assert build_variant("underdog", {"size": "5"}).settings["size"] == 5
    with pytest.raises(BadOption, match="size of underdog must be a whole number"):
        build_variant("underdog", {"size": "many"})
    with pytest.raises(BadOption, match="has no option"):
        build_variant(script(tmp_path, GOOD), {"size": 3})


def test_an_exception_in_init_is_the_scripts_fault(tmp_path: Path) -> None:
    text = GOOD + "\n    def settle(self):\n        self.number('size')\n"
    path = script(tmp_path, text)
    with pytest.raises(BadVariant) as caught:
        build_variant(path, {})
    line = line_of(text, "self.number('size')")
    assert str(caught.value) == f"{path}, line {line}: KeyError: 'size', in __init__"
    script(tmp_path, GOOD + "\n    def __init__(self):\n        pass\n")
    with pytest.raises(BadVariant, match=r"line 5: TypeError: .*unexpected keyword argument"):
        build_variant(path, {"size": 3})
