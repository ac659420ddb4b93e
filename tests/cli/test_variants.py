"""`referee variants` and `referee check-variant`: the games, and whether a script is one."""

from __future__ import annotations

import json
from pathlib import Path

from referee.rules.registry import BUNDLED, all_variants
from referee.testing.conformance import Report
from tests.arena.playing import ROOT
from tests.cli.running import each, refuses

GOOFSPIEL = ROOT / "docs/examples/goofspiel.py"
CHEAT = """
from referee.rules.underdog import Underdog

class Cheat(Underdog):
    name = "cheat"

    def longest(self):
        return 2
"""
BROKEN = """
from referee.rules.underdog import Underdog

class Broken(Underdog):
    name = "broken"
    rules = 1 / 0
"""
FAILING = """
from referee.rules.underdog import Underdog

class Failing(Underdog):
    name = "failing"

    def settle(self):
        self.goal = self.setings["points"]
"""


def test_the_list_and_each_variant(tmp_path: Path) -> None:
    listed, as_json, script, one_as_json, *books = each(
        tmp_path,
        [
            ["variants"],
            ["variants", "--json"],
            ["variants", GOOFSPIEL],
            ["variants", "duel", "--json"],
            *(["variants", name] for name in BUNDLED),
        ],
    )
    assert all((done.status, done.err) == (0, "") for done in (listed, as_json, script, *books))
    rows = listed.out.splitlines()[: len(BUNDLED)]
    assert [row.split()[0] for row in rows] == list(BUNDLED)
    assert all(variant.summary in listed.out for variant in all_variants().values())
    facts = json.loads(as_json.out)
    assert [variant["name"] for variant in facts] == list(BUNDLED)
    assert set(facts[0]) == {
        *("name", "rules", "summary", "options", "moves", "scores", "reasons", "hidden_chance")
    }
    duel = json.loads(one_as_json.out)
    assert duel["book"] == all_variants()["duel"].book()
    assert {"name": "life", "default": 20}.items() <= duel["options"][2].items()
    assert script.out.startswith("Goofspiel")
    for done, variant in zip(books, all_variants().values(), strict=True):
        assert done.out.startswith(variant.book())
        for option in variant.options:
            assert f"\n- {option.name}: {option.help}; " in done.out
        for reason, meaning in variant.reasons.items():
            assert f"\n- {reason}: {meaning}\n" in done.out


def test_scripts_are_checked(tmp_path: Path) -> None:
    (tmp_path / "cheat.py").write_text(CHEAT)
    games = ("--games", 20)
    good, named, bad, as_json = each(
        tmp_path,
        [
            ["check-variant", GOOFSPIEL, *games],
            ["check-variant", "underdog", "--option", "size=5", *games],
            ["check-variant", "cheat.py", *games],
            ["check-variant", "cheat.py", "--json", *games],
        ],
    )
    *steps, last = good.out.splitlines()
    assert (good.status, last) == (0, "goofspiel: 20 games, all steps passed")
    assert steps
    assert all(step.startswith("pass  ") for step in steps)
    assert named.out.endswith("underdog: 20 games, all steps passed\n")
    assert (bad.status, bad.err) == (1, "")
    assert any(line.startswith("FAIL  ") for line in bad.out.splitlines())
    assert bad.out.splitlines()[-1].endswith(" steps not passed")
    assert as_json.status == 1
    report = json.loads(as_json.out)
    assert tuple(report) == Report.__struct_fields__
    assert not all(step["passed"] for step in report["steps"])


def test_what_is_refused(tmp_path: Path) -> None:
    scripts = {
        "broken.py": BROKEN,
        "failing.py": FAILING,
        "syntax.py": "class X(:\n",
        "none.py": "x = 1\n",
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
    tell = {
        "broken.py": r"broken\.py, line 6: ZeroDivisionError: division by zero, while the file .*",
        "failing.py": r"failing\.py, line 8: AttributeError: .*'setings'.*, in __init__",
        "syntax.py": r"syntax\.py, line 1: syntax error: invalid syntax",
        "none.py": r"none\.py: .* subclass of Variant",
        "missing.py": r"missing\.py: .*no such file",
        "dul": r"there is no variant 'dul' \(did you mean duel\?\): .*",
    }
    refuses(
        tmp_path,
        {
            **{name: (["check-variant", name], told) for name, told in tell.items()},
            "shown": (["variants", "broken.py"], tell["broken.py"]),
            "option": (
                ["check-variant", "duel", "--option", "life=0"],
                r"option life of duel .* 1 to 10000, not '0'",
            ),
            "games": (["check-variant", "duel", "-n", "0"], r"invalid value for '--games' .*"),
        },
    )
