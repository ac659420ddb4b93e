"""What the command line changes in a spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.tournament.reading import override
from referee.tournament.spec import BadSpec, Spec
from tests.facts import Naming

BASE = Spec(
    name="base",
    variants=("target", "duel"),
    bots=("random", "highest"),
    format="swiss",
    rounds=3,
    games=10,
    options={"target": {"target": 30}, "duel": {"life": 9}},
)


def test_what_is_not_given_stays() -> None:
    assert override(BASE, games=None, seed=None, bots=None) == BASE
    assert override(BASE, games=3, seed="x", bots=["lowest"]) == Spec(
        name="base",
        variants=("target", "duel"),
        bots=("lowest",),
        format="swiss",
        rounds=3,
        games=3,
        seed="x",
        options=BASE.options,
    )


def test_another_format_takes_what_was_for_the_old_one_with_it() -> None:
    assert override(BASE, format="knockout").rounds is None
    assert override(BASE, format="swiss").rounds == 3
    assert override(BASE, format="knockout", best_of=3).best_of == 3
    with pytest.raises(BadSpec, match="rounds is for a swiss tournament"):
        override(BASE, format="knockout", rounds=4)


def test_other_variants_take_their_options_with_them() -> None:
    assert override(BASE, variants=("duel", "deck")).options == {"duel": {"life": 9}}


@pytest.mark.parametrize(
    ("option", "options"),
    [
        (["target=40"], {"target": {"target": 40}, "duel": {"life": 9}}),
        (["size=8"], {"target": {"target": 30, "size": 8}, "duel": {"life": 9, "size": 8}}),
        (["duel.size=8"], {"target": {"target": 30}, "duel": {"life": 9, "size": 8}}),
        (
            ["size=8", "duel.size=7"],
            {"target": {"target": 30, "size": 8}, "duel": {"life": 9, "size": 7}},
        ),
    ],
)
def test_options_go_to_the_variants_that_have_them(
    option: list[str], options: dict[str, Any]
) -> None:
    assert override(BASE, option=option).options == options


def test_options_are_judged_together() -> None:
    spec = override(Spec(name="x", variants=("difference",)), option=["rounds=9", "size=10"])
    assert spec.options == {"difference": {"rounds": 9, "size": 10}}


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (["target"], 'an option is name=value, for example target=40, not "target"'),
        (["=4"], 'not "=4"'),
        (["tagret=4"], 'target or duel has no option "tagret"; did you mean target?'),
        (["duel.target=4"], 'duel has no option "target"; known are size, uses, life'),
        (["deck.hp=4"], '"deck" is not one'),
        (["deul.life=4"], '"deul" … did you mean duel?'),
        (["life=0"], "option life of duel … 1 to 10000, not '0'"),
        (["life=4", "life=5"], "option life is given twice"),
    ],
)
def test_options_that_nobody_has(option: list[str], told: str) -> None:
    with pytest.raises(BadSpec) as caught:
        override(BASE, option=option)
    assert str(caught.value) == Naming.of(told)


def test_a_folder_of_bots(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.toml").write_text('name = "mine"\ncommand = ["true"]\n')
    found = (str(tmp_path / "mine"),)
    assert override(BASE, bots_dir=tmp_path).bots == found
    assert override(BASE, bots=("random",), bots_dir=tmp_path).bots == ("random", *found)
    with pytest.raises(BadSpec, match=r"no: .*no such folder"):
        override(BASE, bots_dir=tmp_path / "no")
