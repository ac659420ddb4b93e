"""The spec as a value: what is refused, and which changes make it another tournament."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.tournament.changing import FREE, changes
from referee.tournament.spec import (
    DEFAULTS,
    ONLY_IN,
    RANGES,
    BadSpec,
    Spec,
    build_variants,
    check,
    check_players,
)
from tests.facts import Naming
from tests.tournament.playing import SALT

SPEC = Spec(name="five", variants=("underdog", "target"), options={"target": {"target": 40}})

SCRIPT = '''
from referee.rules.target import Target as _Target

class Mine(_Target):
    """Mine."""
    name = "mine"
    {more}
'''


def script(tmp_path: Path, more: str = "") -> str:
    path = tmp_path / "mine.py"
    path.write_text(SCRIPT.format(more=more))
    return str(path)


def test_a_good_spec_is_what_it_was() -> None:
    assert check(SPEC) == SPEC
    assert msgspec.json.decode(msgspec.json.encode(SPEC), type=Spec) == SPEC
    assert SPEC.clock().move_ms == 1_000 and SPEC.clock().grace_ms == 50


def test_options_become_what_the_variant_makes_of_them() -> None:
    given = replace(SPEC, options={"target": {"target": "40"}, "underdog": {}})
    assert check(given) == SPEC
    assert build_variants(given)["target"].settings["target"] == 40


@pytest.mark.parametrize(
    ("given", "key", "told"),
    [
        ({"name": ""}, ("name",), 'the name "" is empty'),
        ({"name": "a/b"}, ("name",), "no slash"),
        ({"name": ".."}, ("name",), "no slash, and no dot"),
        ({"name": "-x"}, ("name",), "hyphen"),
        ({"name": " x"}, ("name",), "without spaces at its ends"),
        ({"name": "a\nb"}, ("name",), 'the name "a\\nb" must be printable'),
        ({"name": "é" * 51}, ("name",), "too long"),
        ({"seed": ""}, ("seed",), "printable text"),
        ({"seed": "a\tb"}, ("seed",), 'not "a\\tb"'),
        ({"salt": "5a" * 15}, ("salt",), "32 hexadecimal digits"),
        ({"salt": "5A" * 16}, ("salt",), f'not "{"5A" * 16}"'),
        ({"format": "swis"}, ("format",), 'format cannot be "swis"; did you mean swiss?'),
        ({"format": "?"}, ("format",), "it is one of round-robin, gauntlet, swiss, knockout"),
        ({"think": "in turn"}, ("think",), "did you mean in-turn?"),
        ({"rank_by": "score"}, ("rank_by",), "it is one of elo, points"),
        ({"time": "1"}, ("time",), "time: '1' "),
        ({"grace": "-1ms"}, ("grace",), "grace: '-1ms' "),
        ({"warm_up": ""}, ("warm_up",), "warm_up: "),
        ({"startup": "0s"}, ("startup",), "a bot needs some time to start"),
        ({"variants": ()}, ("variants",), "no variant"),
        ({"variants": ("underdgo",)}, ("variants", 0), "did you mean underdog?"),
        ({"variants": ("chess",)}, ("variants", 0), "the variants are difference, underdog, duel"),
        ({"variants": ("target", "target")}, ("variants", 1), "the variant target is there twice"),
        ({"variants": ("target", "./no.py")}, ("variants", 1), "no.py: … no such file"),
        ({"options": {"duel": {}}}, ("options", "duel"), "which is not one of the variants"),
        ({"options": {"tagret": {}}}, ("options", "tagret"), "did you mean target?"),
        (
            {"options": {"target": {"tagret": 4}}},
            ("options", "target", "tagret"),
            'target has no option "tagret"; did you mean target?',
        ),
        (
            {"options": {"target": {"size": 1}}},
            ("options", "target", "size"),
            "option size of target … 2 to 100, not 1",
        ),
        ({"bots": ("random", "random")}, ("bots", 1), 'bots has "random" twice'),
        ({"anchors": {"random": float("nan")}}, ("anchors", "random"), 'anchor of "random" must'),
        ({"rounds": 5}, ("rounds",), "rounds is for a swiss tournament, and this one is round"),
        ({"best_of": 3}, ("best_of",), "best_of is for a knockout tournament"),
        ({"challengers": ("a",), "format": "swiss"}, ("challengers",), "for a gauntlet tournament"),
        ({"games": "100"}, (), "Expected `int`, got `str` - at `$.games`"),
        ({"bots": (1,)}, (), "Expected `str`, got `int`"),
    ],
)
def test_what_is_refused(given: dict[str, Any], key: tuple[str | int, ...], told: str) -> None:
    base = Spec(name="five", variants=("underdog", "target"))
    with pytest.raises(BadSpec) as caught:
        check(replace(base, **given))
    assert str(caught.value) == Naming.of(told)
    assert caught.value.key == key
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", RANGES)
def test_numbers_have_their_range(key: str) -> None:
    low, high = RANGES[key]
    base = Spec(name="x", variants=("duel",), format=ONLY_IN.get(key, "round-robin"))
    for value in (low, high):
        assert getattr(check(replace(base, **{key: value})), key) == value
    for value in (low - 1, high + 1):
        with pytest.raises(BadSpec, match=f"{key} must be {low} to {high}, not {value}"):
            check(replace(base, **{key: value}))


def test_options_that_do_not_go_together() -> None:
    spec = Spec(name="x", variants=("difference",), options={"difference": {"rounds": 9}})
    with pytest.raises(BadSpec, match="option rounds of difference must be at most size") as caught:
        check(spec)
    assert caught.value.key == ("options", "difference")


def test_scripts(tmp_path: Path) -> None:
    path = script(tmp_path)
    spec = Spec(name="x", variants=(path,), options={path: {"target": 30}})
    assert build_variants(check(spec))[path].name == "mine"
    with pytest.raises(BadSpec, match=r"the variant mine is there twice, as .* and "):
        check(replace(spec, variants=(path, str(tmp_path / ".." / tmp_path.name / "mine.py"))))


def test_a_script_that_fails_when_asked_for_the_longest_game(tmp_path: Path) -> None:
    path = script(tmp_path, "def longest(self): return 1 // 0")
    with pytest.raises(BadSpec, match=r"mine\.py, line 7: ZeroDivisionError: .*, in longest"):
        check(Spec(name="x", variants=(path,)))


# With the bots.

TWO = {"underdog": ["a", "b"], "target": ["a", "b"]}


@pytest.mark.parametrize(
    ("given", "players", "told"),
    [
        ({}, {**TWO, "duel": ["a"]}, "needs two bots or more; duel is played by a"),
        ({}, {**TWO, "duel": []}, "duel is played by nobody"),
        (
            {"anchors": {"c": 0.0}},
            TWO,
            'anchors names "c", which is no bot here; the bots are a, b',
        ),
        ({"anchors": {"randm": 0.0}}, {"underdog": ["random", "b"]}, "did you mean random?"),
        ({"format": "gauntlet", "challengers": ("c",)}, TWO, 'challengers names "c"'),
        ({"format": "gauntlet", "challengers": ("a", "b")}, TWO, "by challengers alone"),
        (
            {"format": "gauntlet"},
            {**TWO, "duel": ["b", "c"]},
            "duel is played by no challenger, so nobody meets",
        ),
        (
            {"format": "swiss"},
            {**TWO, "duel": ["a", "c"]},
            "c does not play underdog, and in a swiss",
        ),
        (
            {"format": "knockout"},
            {"underdog": ["a", "b"], "duel": ["a", "b", "c"]},
            "c does not play",
        ),
    ],
)
def test_players_that_make_no_tournament(
    given: dict[str, Any], players: dict[str, list[str]], told: str
) -> None:
    with pytest.raises(BadSpec) as caught:
        check_players(replace(SPEC, **given), players)
    assert told in str(caught.value)


@pytest.mark.parametrize("form", ["round-robin", "gauntlet", "swiss", "knockout"])
def test_players_that_do(form: Any) -> None:
    check_players(replace(SPEC, format=form, anchors={"b": 1500}), TWO)


def test_in_a_round_robin_not_everybody_plays_everything() -> None:
    check_players(SPEC, {"underdog": ["a", "b"], "target": ["c", "b"]})


# Changes.

OTHER: dict[str, Any] = {
    "name": "six",
    "variants": ("underdog", "duel"),
    "bots": ("random", "highest"),
    "left_out": {"subs/typo": "no bot.toml in it"},
    "format": "swiss",
    "games": 99,
    "options": {"target": {"target": 41}},
    "time": "100ms",
    "grace": "60ms",
    "warm_up": "2s",
    "startup": "5s",
    "build_time": "5s",
    "think": "parallel",
    "at_once": 1,
    "restart": "game",
    "block": 100,
    "seed": "other",
    "salt": "0" * 32,
    "jobs": 7,
    "rounds": 3,
    "challengers": ("random",),
    "best_of": 3,
    "replays": 1,
    "teams": {"reds": ("random", "highest")},
    "rank_by": "points",
    "advantage": True,
    "prior": True,
    "anchors": {"random": 1.0},
    "sandbox": "standard",
    "limits": {"memory": "512M"},
    "freeze": True,
    "expose": ("/usr",),
}


@pytest.mark.parametrize("key", Spec.__struct_fields__)
def test_every_key_is_free_or_noticed(key: str) -> None:
    assert changes(SPEC, SPEC) == []
    told = changes(SPEC, replace(SPEC, **{key: OTHER[key]}))
    assert bool(told) == (key not in FREE)
    assert all(key.removesuffix("s") in each for each in told)


EXTENDED = (
    "games was 100 and is 101; a {} tournament was drawn by its results and cannot be extended"
)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({}, {"time": "100ms"}, ["time was 1s and is 100ms"]),
        ({}, {"time": "1000ms", "grace": "0.05s", "startup": "10000ms"}, []),
        ({}, {"time": "1s+0s"}, ["time was 1s and is 1s+0s"]),
        ({}, {"games": 101}, []),
        ({}, {"games": 99}, ["games was 100 and is 99"]),
        ({}, {"limits": {"memory": "1024M"}}, []),
        ({}, {"limits": {"memory": "32M"}}, ["the limit memory was 1G and is 32M"]),
        ({"limits": {"cpu": 5}}, {"limits": {}}, ["the limit cpu was 5 and is 3600"]),
        ({"freeze": False}, {"freeze": True}, ["freeze was off and is on"]),
        ({}, {"expose": ("/usr",)}, ["expose was nothing and is /usr"]),
        (
            {"format": "swiss"},
            {"games": 101},
            [EXTENDED.format("swiss")],
        ),
        (
            {"format": "knockout"},
            {"games": 101},
            [EXTENDED.format("knockout")],
        ),
        ({"format": "swiss", "rounds": 3}, {"rounds": 4}, []),
        ({"format": "swiss", "rounds": 3}, {"rounds": 2}, ["rounds was 3 and is 2"]),
        ({"format": "swiss"}, {"rounds": 2}, ["rounds was not given and is 2"]),
        ({"seed": "a"}, {"seed": "b"}, ["seed was a and is b"]),
        ({"seed": "a"}, {"seed": None}, []),
        ({"salt": SALT}, {"salt": "0" * 32}, [f"salt was {SALT} and is {'0' * 32}"]),
        ({"salt": SALT}, {"salt": None}, []),
        ({}, {"options": {"target": {"target": 40, "size": 9}}}, []),
        (
            {},
            {"options": {"target": {"size": 8}}},
            ["option target of target was 40 and is 50", "option size of target was 9 and is 8"],
        ),
        ({}, {"bots": ("a", "b")}, ["bots was all sample bots and is a, b"]),
        ({"bots": ("a", "b")}, {"bots": ("b", "a")}, ["the order of the bots is another"]),
        (
            {"bots": ("a", "b")},
            {"bots": ("a", "c")},
            ["the bot b is missing", "the bot c is new"],
        ),
        ({}, {"variants": ("underdog",), "options": {}}, ["the variant target is missing"]),
    ],
)
def test_a_sentence_for_each_change(
    old: dict[str, Any], new: dict[str, Any], told: list[str]
) -> None:
    before = replace(SPEC, **old)
    assert changes(before, replace(before, **new)) == told


def test_the_defaults_are_those_of_the_spec() -> None:
    assert DEFAULTS["games"] == 100 and DEFAULTS["grace"] == "50ms" and DEFAULTS["startup"] == "10s"
